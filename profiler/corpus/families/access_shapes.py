"""Access in more than one dimension and in parts of words: rows, columns, windows, bytes, local tables."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression
from profiler.corpus.families.access import finished
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.arrays import Array, Elements, Value, Values, line_draft, plane_draft, type_bytes
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.literals import literal
from profiler.corpus.writing.sizes import draft, fitting_local, sized, within_memory
from profiler.corpus.writing.walk import walk

TYPES = {"float": 5.0, "double": 1.5, "int": 2.0, "uint": 1.0, "short": 0.6, "float4": 1.2, "float2": 0.7}


@family("rows_and_columns", group="access")
def rows_and_columns(draw: Draw) -> Draft:
    """Each item goes along a row, a column or a diagonal of a matrix and keeps something of what it meets."""
    habits = hand(draw)
    type_ = draw.weighted(TYPES, "type")
    order = draw.choose(("row", "column", "diagonal", "blocked", "backwards", "skipping"), "order")
    is_real = type_[0] in "fd"
    one = literal(type_, 1)
    jump = draw.choose((2, 3, 4, 8))
    places = {
        "row": "i * length + k",
        "column": "k * n + i",
        "diagonal": "k * n + (i + k) % n",
        "blocked": "(i / 16 * length + k) * 16 + i % 16",
        "backwards": "i * length + (length - 1 - k)",
        "skipping": f"i * length + (k * {jump}) % length",
    }
    keep = draw.choose(("sum", "last", "largest", "scaled", "each", "difference"), "keeps")
    at = places[order]
    lines, arrays = [f"{type_} s = {literal(type_, 0)};"], []
    half = literal(type_, 0.5) if is_real else "(" + one + ")"

    def long(shape: tuple[int, ...], given: Values) -> int:
        return -(-shape[0] // 16) * 16 * int(given["length"])

    out = Array("out", type_, True)
    kinds = {
        "sum": f"s += m[{at}];" if not is_real else f"s = {half} * s + m[{at}];",
        "last": f"s = m[{at}] + {one};",
        "largest": f"s = {'fmax' if is_real else 'max'}(s, m[{at}]);",
        "scaled": f"s += m[{at}] * v[k];",
        "each": f"to[{at}] = {finished(draw, f'm[{at}]', type_)};",
        "difference": f"{type_} c = m[{at}];\ns = c - s;",
    }
    step = kinds[keep]
    if draw.chance(0.3, "second_matrix") and keep != "each":
        # The operators of narrow types give an int.
        step = step.replace(f"m[{at}]", f"({type_})(m[{at}] - {half} * w[{at}])")
        arrays.append(Array("w", type_, length=long, per=300))
    pragma = draw.choose(("", "", "#pragma unroll 4\n"))
    header = draw.choose(("for (int k = 0; k < length; k++)", "for (int k = 0; k < length; ++k)"))
    lines.append(f"{pragma}{header} {{\n{step}\n}}")
    arrays.append(Array("m", type_, length=long, per=300))
    if keep == "scaled":
        arrays.append(Array("v", type_, length=lambda s, g: int(g["length"]), space=draw.choose((habits.fixed, ""))))
    if keep == "each":
        arrays.append(Array("to", type_, True, length=long, per=300))
        lines = lines[1:]
    else:
        lines.append(f"out[i] = {finished(draw, 's', type_)};")
        arrays.append(out)
    values = [Value("length", "int", lambda d: d.log_integer(1, 300))]
    way = walk(draw, habits, exact=False)

    def operations(given: Values) -> float:
        return 5.0 * float(given["length"])

    return line_draft(draw, habits, Elements(f"{order}_order", arrays, "\n".join(lines), values, operations), way)


@family("sub_word_access", group="access")
def sub_word_access(draw: Draw) -> Draft:
    """Single bytes and shorts of longer words: read, written, swapped, through casts, shifts or vectors."""
    habits = hand(draw)
    whole, part, count = draw.choose(
        (("uint", "uchar", 4), ("uint", "ushort", 2), ("ulong", "uchar", 8), ("int", "char", 4), ("ulong", "uint", 2),
         ("uint4", "uchar", 16), ("uint2", "ushort", 4)), "types"
    )  # fmt: skip
    way = draw.choose(("cast", "bytes_to_word", "word_to_bytes", "one_byte", "neighbours", "nibbles", "bit"), "way")
    const = "const " if habits.const else ""
    lines: list[str] = []
    words, parts = Array("words", whole), Array("parts", part, per=count)
    picked = draw.integer(0, count - 1)
    match way:
        case "cast":
            lines.append(f"{habits.space} {const}{part} *p = ({habits.space} {const}{part} *)(words + i);")
            cells = draw.sample([f"p[{k}]" for k in range(count)], draw.integer(1, 4))
            lines.append(f"out[i] = {' + '.join(cells)};")
            arrays = [words, Array("out", draw.choose(("int", "uint", "ushort")), True)]
        case "bytes_to_word":
            lines.append(f"{part} r = 0;")
            lines.append(
                f"for (int k = 0; k < {count}; k++) r {draw.choose(('+=', '^=', '|='))} parts[i * {count} + k];"
            )
            lines.append("out[i] = r;")
            arrays = [parts, Array("out", part, True)]
        case "word_to_bytes":
            step = draw.choose((f"({part})words[i * {count} + k]", f"({part})(words[i * {count} + k] >> k)"))
            if whole[-1].isdigit() and whole != "uint":
                step = f"({part})words[i * {count} + k].x"
            lines.append(f"for (int k = 0; k < {count}; k++) bytes[i * {count} + k] = {step};")
            arrays = [Array("words", whole, per=count), Array("bytes", part, True, per=count)]
        case "one_byte":
            lines.append(
                f"bytes[i * {count} + {picked}] = {finished(draw, f'parts[i * {count} + {count - 1 - picked}]', part)};"
            )
            arrays = [parts, Array("bytes", part, True, per=count)]
        case "neighbours":
            lines.append(f"const int at = i * {count};\n{part} a = parts[at], b = parts[at + {picked}];")
            lines.append(f"bytes[i] = {expression(draw, ['a', 'b'], part, 3)};")
            arrays = [parts, Array("bytes", part, True)]
        case "nibbles":
            lines.append("uchar b = packed[i];\nhalf_low[i] = b & 15;\nhalf_high[i] = b >> 4;")
            if draw.chance(0.5):
                end = draw.choose((" ^ 0x55", "", " + 1"))
                lines = [f"packed[i] = (uchar)((half_low[i] & 15) | (half_high[i] << 4)){end};"]
            is_split = lines[0].startswith("uchar")
            arrays = [Array("packed", "uchar", not is_split)]
            arrays += [Array(n, "uchar", is_split) for n in ("half_low", "half_high")]
        case _:
            bits = draw.choose((8, 32))
            element = "uchar" if bits == 8 else "uint"
            lines.append(f"const {element} w = flags[i / {bits}];\nconst int set = (w >> (i % {bits})) & 1;")
            kind = draw.choose(("float", "int", "uchar"))
            lines.append(f"out[i] = {draw.choose(('set', 'set ? x[i] : 0', 'set * 3', 'x[i] * set'))};")
            arrays = [Array("flags", element), Array("x", kind), Array("out", kind, True)]
    text = "\n".join(lines)
    arrays = [a for a in arrays if f"{a.name}[" in text or f"{a.name} " in text or f"({a.name}" in text]
    return line_draft(draw, habits, Elements(f"parts_{way}", arrays, text))


@family("window_reads", group="access")
def window_reads(draw: Draw) -> Draft:
    """Overlapping windows over a line or a plane, moved by offsets that arguments or a small array give."""
    habits = hand(draw)
    type_ = draw.weighted(TYPES, "type")
    taps = draw.choose((2, 3, 4, 6, 9), "taps")
    offsets = draw.choose(("array", "arguments", "clustered"), "offsets")
    joined = draw.choose(("sum", "extreme", "expression", "spread"), "joined")
    far = 500
    lines, values, arrays = [], [], [Array("src", type_, length=lambda s, g: s[0] * s[1] + far * taps + 4)]
    lines.append("const int at = y * width + x;")
    if offsets == "arguments":
        taps = min(taps, 4)
        values = [Value(f"o{k}", "int", lambda d: d.integer(0, far)) for k in range(taps)]
        places = [f"at + o{k}" for k in range(taps)]
    else:
        fill = ("randint", 0, far) if offsets == "array" else ("clustered", 0, far, 4)
        space = draw.choose((habits.fixed, ""), "offsets_space")
        arrays.append(Array("offset", "int", length=lambda s, g: taps, fill=fill, space=space))
        places = [f"at + offset[{k}]" for k in range(taps)]
    cells = [f"src[{p}]" for p in places]
    is_real = type_[0] in "fd"
    word = {True: "fmax", False: "max"}[is_real]
    match joined:
        case "sum":
            lines.append(f"dst[at] = {' + '.join(cells)};")
        case "extreme":
            lines.append(f"{type_} m = {cells[0]};")
            lines += [f"m = {word}(m, {c});" for c in cells[1:]]
            lines.append("dst[at] = m;")
        case "spread":
            lines.append(f"{type_} low = {cells[0]}, high = low;")
            for c in cells[1:]:
                lines.append(
                    f"{{\n{type_} v = {c};\nlow = {word.replace('max', 'min')}(low, v);\nhigh = {word}(high, v);\n}}"
                )
            lines.append("dst[at] = high - low;")
        case _:
            lines.append(f"dst[at] = {expression(draw, cells, type_, 4)};")
    if offsets != "arguments" and joined == "sum" and draw.chance(0.6):
        lines[-1:] = [
            f"{type_} s = src[at];",
            f"for (int k = 0; k < {taps}; k++) s += src[at + offset[k]];",
            "dst[at] = s;",
        ]
    arrays.append(Array("dst", type_, True))
    return plane_draft(draw, habits, Elements("windows", arrays, "\n".join(lines), values))


@family("group_tables", group="access")
def group_tables(draw: Draw) -> Draft:
    """Generate a table that the whole group copies to local memory, then every item looks up in it."""
    habits = hand(draw)
    type_ = draw.weighted({"float": 4.0, "int": 2.0, "uint": 1.0, "float2": 0.7, "uchar": 1.0, "double": 0.7}, "type")
    size = draw.choose((16, 32, 64, 256, 256, 1024), "entries")
    key = draw.choose(("uchar", "int", "uint", "ushort"), "key")
    looks = draw.weighted({1: 3.0, 2: 1.5, 4: 1.0, 8: 0.7}, "look_ups")
    made = draw.choose(("copied", "copied", "computed", "async"), "table")
    several = draw.chance(0.5, "grid_stride")
    lines = [f"{habits.near} {type_} near[{size}];", "const int l = get_local_id(0);"]
    base = type_.rstrip("248")
    if made == "async":
        lines.append(f"event_t e = async_work_group_copy(near, table, {size}, 0);\nwait_group_events(1, &e);")
    else:
        value = "table[k]"
        if made == "computed":
            value = f"({type_})(({base})(k & 63) * {literal(base, 0.03) if base in ('float', 'double') else '3'})"
        lines.append(f"for (int k = l; k < {size}; k += get_local_size(0)) near[k] = {value};")
        lines.append("barrier(CLK_LOCAL_MEM_FENCE);")
    steps = [f"int p = (int)(keys[i] & {size - 1});", f"{type_} v = near[p];"]
    for k in range(1, looks):
        steps.append(f"p = (p * {draw.choose((3, 5, 17))} + {k}) & {size - 1};")
        steps.append(f"v = {expression(draw, ['v', 'near[p]'], type_, 1)};")
    steps.append(f"out[i] = {finished(draw, 'v', type_)};")
    inner = "\n".join(steps)
    if several:
        lines.append(f"for (int i = get_global_id(0); i < n; i += get_global_size(0)) {{\n{inner}\n}}")
    else:
        lines.append(f"const int i = get_global_id(0);\nif (i < n) {{\n{inner}\n}}")
    parameters = [habits.takes(key, "keys"), habits.takes(type_, "table"), habits.gives(type_, "out"), "const int n"]
    bytes_ = type_bytes(type_) + type_bytes(key)

    def launch(draw: Draw, wish: Wish) -> Sized:
        local = fitting_local(wish, least=1)
        groups = max(1, wish.items // local)
        count = within_memory(wish.data, bytes_)
        done = count if several else min(count, groups * local)
        operations = (6.0 * looks + 3) * done + groups * (3.0 * size + local)
        limit = 256 if key == "uchar" else 5000
        kinds = (("randint", 0, limit), ("skewed", 0, limit), ("clustered", 0, limit, 3))
        fills = {"keys": draw.choose(kinds)}
        return sized(
            groups * local, local, operations, {"keys": count, "table": size, "out": count}, {"n": count}, fills
        )

    return draft(habits, "look_up_near", parameters, "\n".join(lines), launch)
