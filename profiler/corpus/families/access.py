"""In which order memory is touched: strides, indices out of a buffer, scattered results."""

from __future__ import annotations

from collections.abc import Callable

from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression, statements
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.arrays import Array, Elements, Value, Values, Words, line_draft
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.literals import literal, split_type
from profiler.corpus.writing.walk import walk

TYPES = {"float": 5.0, "double": 1.5, "int": 2.0, "uint": 1.0, "uchar": 0.6, "short": 0.6, "float4": 1.2, "float2": 0.7}


def finished(draw: Draw, value: str, type: str) -> str:
    """Return what is stored: the value as it is, or something made of it."""
    return value if draw.chance(0.4) else expression(draw, [value], type, draw.integer(1, 2))


def kept_alive(value: str, type: str) -> str:
    """Nowhere near zero however often it is fed back: what shrinks for ever ends among the denormals."""
    base = split_type(type)[0]
    return f"{literal(base, 0.25)} * {value} + {literal(base, 1.5)}" if base in ("float", "double") else value


def any_locality(draw: Draw, length: int, target: int) -> Words:
    """Return indices below `target`: all over it, near each other, ascending, or mostly the same few."""
    kinds = {"randint": 3.0, "clustered": 2.0, "sorted": 1.0, "skewed": 1.0}
    kind = draw.weighted(kinds)
    if kind == "clustered":
        return ("clustered", 0, target, draw.choose((1, 4, 32, 1000)))
    return (kind, 0, target)


@family("strided_access", group="access")
def strided_access(draw: Draw) -> Draft:
    """Every so-many-th element is read or written, the stride a literal, a macro or an argument."""
    habits = hand(draw)
    type_ = draw.weighted(TYPES, "type")
    form = draw.choose(("literal", "macro", "argument"), "stride_form")
    fixed = draw.choose((2, 3, 4, 5, 7, 8, 16, 17, 32, 33, 64, 100))
    stride = {"literal": str(fixed), "macro": "STRIDE", "argument": "stride"}[form]
    before = f"#define STRIDE {fixed}\n" if form == "macro" else ""
    values = [Value("stride", habits.count, lambda d: d.log_integer(1, 64))] if form == "argument" else []
    phase = draw.weighted({"0": 3.0, "1": 1.0, "offset": 1.0}, "phase")
    if phase == "offset":
        values.append(Value("offset", habits.count, lambda d: d.log_integer(1, 500)))
    place = f"i * {stride}" + ("" if phase == "0" else f" + {phase}")
    place = draw.choose((place, f"{phase} + {stride} * i" if phase != "0" else f"{stride} * i"))
    side = draw.choose(("read", "write", "both", "several_reads", "in_place"), "side")
    taps = draw.integer(2, 4) if side == "several_reads" else 1

    def long(shape: tuple[int, ...], given: Values) -> int:
        step = int(given.get("stride", fixed))
        return shape[0] * step + int(given.get("offset", 1)) + taps * step

    far, near = Array("src", type_, length=long), Array("src", type_)
    lines = []
    match side:
        case "read":
            arrays = [far, Array("dst", type_, True)]
            lines.append(f"dst[i] = {finished(draw, f'src[{place}]', type_)};")
        case "write":
            arrays = [near, Array("dst", type_, True, length=long)]
            lines.append(f"dst[{place}] = {finished(draw, 'src[i]', type_)};")
        case "both":
            arrays = [far, Array("dst", type_, True, length=long)]
            lines.append(f"{habits.index} p = {place};\ndst[p] = {finished(draw, 'src[p]', type_)};")
        case "in_place":
            arrays = [Array("dst", type_, True, length=long)]
            lines.append(
                f"{type_} v = dst[{place}];\ndst[{place}] = {kept_alive(expression(draw, ['v'], type_, 2), type_)};"
            )
        case _:
            arrays = [far, Array("dst", type_, True)]
            lines.append(f"{habits.index} p = {place};")
            lines += [f"{type_} v{k} = src[p + {k} * {stride}];" for k in range(taps)]
            lines.append(f"dst[i] = {expression(draw, [f'v{k}' for k in range(taps)], type_, taps)};")
    # What is read and left out counts for memory as well: the budget is that of the longest stride.
    most = 64 if form == "argument" else fixed
    arrays = [Array(a.name, a.type, a.is_written, most if a.length else 1, a.length) for a in arrays]
    return line_draft(draw, habits, Elements(f"strided_{side}", arrays, "\n".join(lines), values, before=before))


@family("gathered_access", group="access")
def gathered_access(draw: Draw) -> Draft:
    """Elements are fetched through one or several index buffers, or through neighbours of what an index says."""
    habits = hand(draw)
    type_ = draw.weighted(TYPES, "type")
    index_type = draw.weighted({"int": 4.0, "uint": 2.0, "ushort": 0.5, "long": 0.5}, "index_element")
    taps = draw.weighted({1: 3.0, 2: 1.5, 3: 1.0, 4: 1.0, 8: 0.5}, "taps")
    layout = draw.choose(("separate", "rows", "columns", "offsets", "two_tables"), "layout")
    table = draw.log_integer(16, 60000)  # elements in the table that is read
    # Indices are brought below the number of entries by their fill, or in the kernel: then it is an argument.
    bounded = draw.choose(("filled", "wrapped", "clamped"), "bounded")
    highest = table if bounded == "filled" else 60000 if index_type == "ushort" else 1 << 22

    def table_length(shape: tuple[int, ...], given: Values) -> int:
        return int(given.get("entries", table)) + 8

    def indices(draw: Draw, length: int) -> Words:
        return any_locality(draw, length, highest)

    def safe(text: str) -> str:
        if bounded == "filled":
            return text
        entries = f"({index_type})entries" if index_type != "ushort" else "entries"
        return f"{text} % {entries}" if bounded == "wrapped" else f"min({text}, ({index_type})({entries} - 1))"

    values = [] if bounded == "filled" else [Value("entries", "int", lambda d: d.log_integer(16, 60000))]
    tables = ["table"]
    lines, per = [], 1
    match layout:
        case "rows":
            per = taps
            places = [f"idx[i * {taps} + {k}]" for k in range(taps)]
        case "columns":
            per = taps
            places = [f"idx[i + {k} * n]" if k else "idx[i]" for k in range(taps)]
        case "offsets":
            places = ["idx[i]"]
        case _:
            places = [f"idx{k}[i]" for k in range(taps)]
    if layout == "two_tables":
        tables = ["table", "other"]
    for k, place in enumerate(places):
        lines.append(f"{draw.choose(('', 'const '))}{index_type} p{k} = {safe(place)};")
    picks = [f"{tables[k % len(tables)]}[p{k}]" for k in range(len(places))]
    if layout == "offsets":
        picks = [f"table[p0 + {k}]" if k else "table[p0]" for k in range(min(taps + 1, 8))]
    if draw.chance(0.3, "weighted") and type_ in ("float", "double"):
        picks.append("x[i]")
    joined = draw.choose(("sum", "expression", "separate"), "joined")
    if joined == "sum":
        value = " + ".join(picks)
    elif joined == "expression" or len(picks) == 1:
        value = expression(draw, picks, type_, draw.integer(1, 3))
    else:
        lines += [f"{type_} v{k} = {p};" for k, p in enumerate(picks)]
        value = expression(draw, [f"v{k}" for k in range(len(picks))], type_, draw.integer(1, 4))
    lines.append(f"out[i] = {value};")
    text = "\n".join(lines)
    arrays = [Array(t, type_, length=table_length) for t in tables if f"{t}[" in text]
    names = sorted({place.split("[")[0] for place in places})
    arrays += [Array(name, index_type, per=per, fill=indices, length=_times(per)) for name in names]
    arrays += [Array("out", type_, True), *([Array("x", type_)] if "x[i]" in picks else [])]
    # `columns` needs the number of elements, which not every walk has: those that have it are used.
    way = walk(draw, habits, exact=layout != "columns")
    return line_draft(draw, habits, Elements(f"gather_{layout}", arrays, text, values), way)


def _times(per: int) -> Callable[[tuple[int, ...], Values], int]:
    def length(shape: tuple[int, ...], given: Values) -> int:
        return shape[0] * per

    return length


@family("scattered_access", group="access")
def scattered_access(draw: Draw) -> Draft:
    """Results go where an index buffer says: every place once, or places that several work-items share."""
    habits = hand(draw)
    type_ = draw.weighted(TYPES, "type")
    index_type = draw.choose(("int", "uint", "int"), "index_element")
    kind = draw.choose(("permutation", "shared", "computed", "masked", "segments", "pairs"), "kind")
    inputs = [f"in{k}" for k in range(draw.integer(1, 3))]
    names = [f"{a}[i]" for a in inputs]
    lines, temporaries = statements(draw, names, type_, draw.integer(0, 2))
    value = expression(draw, [*temporaries, *names], type_, draw.integer(0, 2))
    arrays = [Array(a, type_) for a in inputs]
    values: list[Value] = []
    match kind:
        case "permutation":
            arrays += [Array("pos", index_type, fill=("perm",)), Array("out", type_, True)]
            lines.append(f"out[pos[i]] = {value};")
        case "shared":
            # Who comes last wins: what is written there differs from run to run, where does not.
            arrays += [Array("pos", index_type, fill=any_shared), Array("out", type_, True, length=lambda s, g: 4096)]
            lines.append(f"{index_type} p = pos[i] & 4095;\nout[p] = {value};")
        case "computed":
            odd = draw.choose((3, 5, 17, 101, 1021, 40503))
            bits = draw.integer(8, 20)
            arrays.append(Array("out", type_, True, length=lambda s, g: 1 << bits))
            lines.append(f"uint p = ((uint)i * {odd}u + {draw.integer(0, 9)}u) & {(1 << bits) - 1}u;")
            lines.append(f"out[p] = {value};")
        case "masked":
            arrays += [Array("pos", index_type, fill=("perm",)), Array("out", type_, True)]
            arrays.append(Array("keep", "uchar", fill=("randint", 0, draw.choose((2, 4, 9)))))
            lines.append(f"if (keep[i] != 0) {{\n    out[pos[i]] = {value};\n}}")
        case "segments":
            width = draw.choose((2, 3, 4, 8))
            arrays += [Array("pos", index_type, fill=("perm",)), Array("out", type_, True, per=width)]
            lines.append(f"{index_type} p = pos[i] * {width};")
            lines += [f"out[p + {k}] = {expression(draw, [value], type_, 1)};" for k in range(width)]
        case _:
            arrays += [Array("pos", index_type, fill=("perm",)), Array("out", type_, True), Array("rank", "int", True)]
            rank = draw.choose(("i", "(int)i", "p - i"))
            lines.append(f"{index_type} p = pos[i];\nout[p] = {value};\nrank[p] = {rank};")
    return line_draft(draw, habits, Elements(f"scatter_{kind}", arrays, "\n".join(lines), values))


def any_shared(draw: Draw, length: int) -> Words:
    return any_locality(draw, length, 1 << 20)
