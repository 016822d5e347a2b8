"""Reductions by single items: over rows, columns, segments and shares of an array, with one or several results."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.draw import Draw
from profiler.corpus.expressions import condition
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out, literal
from profiler.corpus.writing.ndrange import affordable, line, matrix, sized, slack
from profiler.corpus.writing.operators import Operator, operator
from profiler.corpus.writing.types import bytes_of, is_real

KINDS = {"float": 5.0, "double": 1.2, "int": 1.5, "uint": 0.6, "float4": 0.8, "float2": 0.5, "long": 0.4, "int4": 0.4}
NARROW = {"uchar": 0.5, "short": 0.4}


def fills_for(op: Operator, names: tuple[str, ...], kind: str) -> dict[str, Fill]:
    """Return what keeps a product near one."""
    return dict.fromkeys(names, Fill("uniform", (0.9999, 1.0001))) if op.name == "product" and is_real(kind) else {}


@family("reduce_sequential", group="reductions")
def reduce_sequential(draw: Draw) -> Draft:
    """Generate an item reduces a share of an array: a block of it, or every so many-th element."""
    hand = Hand(draw)
    kind = draw.weighted(KINDS, "type")
    op = operator(hand, kind)
    walk = draw.choose(("block", "strided", "block of its own size", "chunks"), "walk")
    several = draw.choose((1, 1, 2, 4), "accumulators") if walk != "chunks" else 1
    length = draw.choose((4, 8, 16, 32), "chunk")

    def take(at: str, total: str = "total") -> str:
        return op.add(total, f"x[{at}]")

    start, stop, step = {
        "block": ("first", "last", "1"),
        "strided": ("g", "n", "items"),
        "block of its own size": ("g * per", "min(g * per + per, n)", "1"),
        "chunks": (f"g * {length}", "n", f"items * {length}"),
    }[walk]
    if walk == "chunks":
        inner = f"for (int c = 0; c < {length}; ++c) {{\nif (k + c < n) {{\n{take('k + c')}\n}}\n}}"
        loop = f"for ({hand.index} k = {start}; k < {stop}; k += {step}) {{\n{inner}\n}}"
    elif several > 1:
        jump = step if step != "1" else ""
        wide = f"{several} * {jump}" if jump else str(several)
        at = [f"k + {e}{f' * {jump}' if jump else ''}" if e else "k" for e in range(several)]
        adds = "\n".join(take(place, f"total{e}" if e else "total") for e, place in enumerate(at))
        loop = f"{hand.index} k = {start};\nfor (; {at[-1]} < {stop}; k += {wide}) {{\n{adds}\n}}\n"
        loop += f"for (; k < {stop}; k += {step}) {{\n{take('k')}\n}}\n"
        loop += "\n".join(op.join("total", f"total{e}") for e in range(1, several))
    else:
        loop = hand.loop("k", start, stop, take, step)
    before = ""
    if walk == "block":
        before = f"const {hand.index} share = (n + items - 1) / items;\nconst {hand.index} first = min(g * share, n);\n"
        before += f"const {hand.index} last = min(first + share, n);"
    totals = "\n".join(op.start(f"total{e}" if e else "total") for e in range(several))
    own = ["per"] if walk == "block of its own size" else []
    parameters = [hand.reads(kind, "x"), hand.writes(op.total, "out")]
    count = {"int": "int", "uint": "uint", "size_t": "ulong"}[hand.index]
    parameters += [f"{count} {name}" for name in ("n", *own)]
    source = f"""{op.declarations}
{hand.signature("reduce", parameters)}
{{
    const {hand.index} g = get_global_id(0);
    const {hand.index} items = get_global_size(0);
    {before}
    {totals}
    {loop}
    out[g] = {op.end("total")};
}}"""

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = line(wish, 8 * bytes_of(op.total))
        n = affordable(wish.data, each * 1.3)
        scalars = {"n": n}
        done = n
        if own:
            # Shares are drawn too: together they may reach less than the whole array, or past its end.
            scalars["per"] = draw.log_integer(1, max(1, 4 * n // size.items))
            done = min(n, size.items * scalars["per"])
        lengths = {"x": slack(draw, n), "out": size.items}
        operations = done * (2 + op.cost) * each / 4 + size.items * 8
        return sized(size, operations, lengths, scalars, fills_for(op, ("x",), kind))

    return Draft(lay_out(source), "reduce", launch)


@family("reduce_rows", group="reductions")
def reduce_rows(draw: Draw) -> Draft:
    """Each row or column of a matrix, or each middle index of three, by one item."""
    hand = Hand(draw)
    kind = draw.weighted({**KINDS, **NARROW}, "type")
    op = operator(hand, kind)
    along = draw.choose(("row", "column", "middle"), "along")
    second = draw.weighted({"none": 3, "weights": 1, "mask": 1, "stride": 1}, "fused")
    use = {"row": "{i} * length + {k}", "column": "({k}) * count + {i}", "middle": ""}[along]
    use = use or "({i} / inner * length + {k}) * inner + {i} % inner"

    def term(k: str) -> str:
        at = use.format(i="i", k=k)
        if second == "weights":
            return op.add("total", f"x[{at}] * w[{k}]")
        add = op.add("total", f"x[{at}]")
        return f"if (w[{k}] > {literal(op.scalar, 1)}) {{\n{add}\n}}" if second == "mask" else add

    step = "stride" if second == "stride" else "1"
    loop = hand.loop("k", "0", "length", term, step)
    cover = hand.cover("i", "count", lambda _: f"{op.start('total')}\n{loop}\nout[i] = {op.end('total')};")
    has_weights = second in ("weights", "mask")
    parameters = [hand.reads(kind, "x"), *([hand.reads(op.scalar, "w")] * has_weights), hand.writes(op.total, "out")]
    extra = ["inner"] * (along == "middle") + ["stride"] * (second == "stride")
    head = hand.signature("reduce_lines", [*parameters, *hand.counts("count", "length", *extra)])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = line(wish, 2 * bytes_of(op.total) + each)
        count, length = matrix(draw, wish.data, each * 1.5, (1, 8192))
        (count,) = cover.fit(size, count)
        length = max(1, min(length, affordable(1 << 25, each * count, 100_000_000)))
        inner = draw.log_integer(1, count) if along == "middle" else 1
        if along == "middle" and not cover.is_exact:
            count = max(1, count // inner) * inner
        rows = -(-count // inner) * inner
        stride = draw.log_integer(1, 16)
        scalars = {"count": count, "length": length}
        scalars |= {"inner": inner} if along == "middle" else {}
        scalars |= {"stride": stride} if second == "stride" else {}
        lengths = {"x": rows * length, "out": count} | ({"w": length} if has_weights else {})
        steps = length / stride if second == "stride" else length
        operations = cover.done(size, (count,)) * (steps * (3 + op.cost) * max(1, each / 4) + 8) + size.items
        return sized(size, operations, lengths, scalars, fills_for(op, ("x", *(["w"] * has_weights)), kind))

    return Draft(lay_out(f"{op.declarations}\n{head}\n{{\n{cover.text}\n}}"), "reduce_lines", launch)


@family("reduce_segments", group="reductions")
def reduce_segments(draw: Draw) -> Draft:
    """Segments between offsets, of uneven length; by keys in a sorted array; or by a fixed stencil of neighbours."""
    hand = Hand(draw)
    kind = draw.weighted(KINDS, "type")
    op = operator(hand, kind)
    form = draw.choose(("offsets", "offsets and lengths", "gathered"), "segments")
    mean = draw.chance(0.3, "mean") and op.name == "sum" and is_real(kind) and op.total == kind
    skips_empty = draw.chance(0.3, "skips empty")
    bound = {"offsets": "start[s + 1]", "gathered": "start[s + 1]"}.get(form, "start[s] + length[s]")
    at = "x[order[{k}]]" if form == "gathered" else "x[{k}]"
    loop = hand.loop("k", "from", "to", lambda k: op.add("total", at.format(k=k)), form=None)
    end = op.end("total")
    scalar = kind.rstrip("0123456789")
    end = f"to > from ? {end} / ({scalar})(to - from) : {literal(kind, 0)}" if mean else end
    ends = f"const {hand.index} from = start[s];\nconst {hand.index} to = {bound};"
    body = f"{op.start('total')}\n{loop}\nout[s] = {end};"
    body = f"if (from < to) {{\n{body}\n}} else {{\nout[s] = {literal(op.total, 0)};\n}}" if skips_empty else body
    cover = hand.cover("s", "segments", lambda _: f"{ends}\n{body}", may_be_exact=False)
    pointer = draw.choose(("int", "uint"), "pointers")
    parameters = [hand.reads(kind, "x"), hand.reads(pointer, "start"), hand.writes(op.total, "out")]
    parameters += [hand.reads("uchar", "length")] * (form == "offsets and lengths")
    parameters += [hand.reads("int", "order")] * (form == "gathered")
    head = hand.signature("reduce_segments", [*parameters, *hand.counts("segments")])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind) + 4 * (form == "gathered")
        size = line(wish, 8)
        n = affordable(wish.data, each * 1.6)
        longest = 200
        segments = draw.log_integer(max(1, n // 100_000), max(1, n // 2))
        fills = fills_for(op, ("x",), kind)
        lengths = {"x": n, "start": segments + 1, "out": segments}
        if form == "offsets and lengths":  # they may overlap
            n = max(n, longest + 1)
            lengths = {"x": n, "start": segments, "out": segments, "length": segments}
            fills |= {"start": Fill("randint", (0, n - longest)), "length": Fill("randint", (0, longest))}
            touched = segments * longest / 2
        else:
            skew = draw.choose((0, 0, 1, 2))
            fills["start"] = Fill("csr_rows", (n, skew) if skew else (n,))
            touched = n
        if form == "gathered":
            lengths["order"] = n
            wild = (
                Fill("clustered", (0, n, max(2, min(64, n))))
                if draw.chance(0.4) and n > 64
                else Fill("randint", (0, n))
            )
            fills["order"] = wild
        share = cover.done(size, (segments,)) / segments
        operations = share * (touched * (3 + op.cost) * each / 4 + segments * 10) + size.items
        return sized(size, operations, lengths, {"segments": segments}, fills)

    return Draft(lay_out(f"{op.declarations}\n{head}\n{{\n{cover.text}\n}}"), "reduce_segments", launch)


@family("count_if", group="reductions")
def count_if(draw: Draw) -> Draft:
    """Return how many elements meet a predicate, whether any or all do, or what those add up to: per item or row."""
    hand = Hand(draw)
    kind = draw.weighted({"float": 4, "int": 3, "uchar": 1, "double": 1, "uint": 1}, "type")
    wants = draw.choose(("count", "any", "all", "first", "sum", "two counts", "runs"), "wants")
    leaves = draw.chance(0.6, "leaves early") and wants in ("any", "all", "first")
    by_scalar = draw.chance(0.5, "limit is an argument")
    simple = kind == "uchar" or by_scalar
    test = f"v {draw.choose(('>', '<', '>=', '!='))} limit" if simple else condition(draw, ["v"], kind)
    limit = literal(kind, draw.choose((1, 1.25, 8)) if is_real(kind) else draw.integer(1, 14))
    spelled = draw.choose(("if", "add", "select"), "spelled")
    hit = {"if": f"if ({test}) {{\n++hits;\n}}", "add": f"hits += ({test});", "select": f"hits += ({test}) ? 1 : 0;"}
    stop = "\nbreak;" * leaves
    step, start, end = {
        "count": (hit[spelled], "int hits = 0;", "hits"),
        "any": (f"if ({test}) {{\nfound = 1;{stop}\n}}", "int found = 0;", "found"),
        "all": (f"if (!({test})) {{\nfound = 0;{stop}\n}}", "int found = 1;", "found"),
        "first": (f"if (found < 0 && {test}) {{\nfound = k;{stop}\n}}", "int found = -1;", "found"),
        "sum": (f"if ({test}) {{\ntotal += v;\n}}", f"{kind} total = 0;", "(int)total"),
        "two counts": (
            f"if ({test}) {{\n++hits;\n}} else {{\n++misses;\n}}",
            "int hits = 0, misses = 0;",
            "hits - misses",
        ),
        "runs": (
            f"const int now = {test};\nruns += now && !before;\nbefore = now;",
            "int runs = 0, before = 0;",
            "runs",
        ),
    }[wants]
    rows = draw.choose(("row", "share", "strided"), "over")
    at = {"row": "i * length + k", "share": "i * length + k", "strided": "k * count + i"}[rows]
    loop = f"for ({hand.index} k = 0; k < length; ++k) {{\nconst {kind} v = x[{at}];\n{step}\n}}"
    if simple and not by_scalar:
        start = f"const {kind} limit = {limit};\n{start}"
    text = f"{start}\n{loop}\n"
    atomic = draw.chance(0.25, "atomic finish") and wants in ("count", "runs", "two counts")
    text += f"atomic_add(out, {end});" if atomic else f"out[i] = {end};"
    cover = hand.cover("i", "count", lambda _: text)
    parameters = [hand.reads(kind, "x"), hand.writes("int", "out"), *hand.counts("count", "length")]
    head = hand.signature("count_if", [*parameters, *([f"{kind} limit"] * by_scalar)])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = line(wish, 8 + each)
        count, length = matrix(draw, wish.data, each + 1, (1, 16384))
        (count,) = cover.fit(size, count)
        length = max(1, min(length, affordable(1 << 25, each * count, 100_000_000)))
        # How soon a search ends is a matter of the limit and of the contents.
        high = draw.choose((2, 20, 200))
        fill = Fill("uniform", (0.5, high)) if is_real(kind) else Fill("randint", (0, high))
        skewed = draw.choose((fill, fill, Fill("random")))
        scalars: dict[str, int | float] = {"count": count, "length": length}
        if by_scalar:
            scalars["limit"] = draw.real(0.5, high) if is_real(kind) else draw.integer(0, high)
        early = 0.2 if leaves else 1
        operations = cover.done(size, (count,)) * (length * 5 * early + 6) + size.items
        lengths = {"x": count * length, "out": 1 if atomic else count}
        return sized(size, operations, lengths, scalars, {"x": skewed})

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "count_if", launch)
