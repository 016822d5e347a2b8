"""Reductions of two values at once: an extreme and its place, mean and variance."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out, literal
from profiler.corpus.writing.ndrange import affordable, line, matrix, sized, slack
from profiler.corpus.writing.trees import FENCE, scratch, tree
from profiler.corpus.writing.types import bytes_of


@family("argmin_argmax", group="reductions")
def argmin_argmax(draw: Draw) -> Draft:
    """Generate the place of an extreme: a row's by one item, or a whole array's by groups."""
    hand = Hand(draw)
    kind = draw.weighted({"float": 5, "double": 1, "int": 2, "uint": 0.5}, "type")
    sign = draw.choose((">", "<", ">="), "sign")
    by_rows = draw.chance(0.45, "rows")
    keeps = draw.choose(("place", "both"), "keeps")
    mapped = hand.mapping(kind, 0.25)
    spelled = draw.choose(("if", "ternary", "select"), "spelled")

    def better(best: str, at: str, value: str, place: str) -> str:
        test = f"{value} {sign} {best}"
        if spelled == "ternary":
            return f"{at} = {test} ? {place} : {at};\n{best} = {test} ? {value} : {best};"
        if spelled == "select" and kind in ("int", "float", "uint"):
            return f"const int wins = {test};\n{at} = wins ? {place} : {at};\n{best} = wins ? {value} : {best};"
        return f"if ({test}) {{\n{best} = {value};\n{at} = {place};\n}}"

    def scan(first: str, stop: str, step: str, at: str, start: str) -> str:
        text = f"const {kind} v = {mapped(f'x[{at}]')};\n{better('best', 'place', 'v', 'k')}"
        loop = f"for (int k = {start}; k < {stop}; k += {step}) {{\n{text}\n}}"
        return f"{kind} best = {mapped(f'x[{first}]')};\nint place = {first if start != '1' else '0'};\n{loop}"

    store = "out[{i}] = {place};" + "\nbests[{i}] = {best};" * (keeps == "both")
    buffers = [hand.reads(kind, "x"), hand.writes("int", "out"), *([hand.writes(kind, "bests")] * (keeps == "both"))]
    if by_rows:
        turned = draw.chance(0.4, "columns")
        at, first = ("k * rows + i", "i") if turned else ("i * length + k", "i * length")
        text = scan(first, "length", "1", at, "1") + "\n" + store.format(i="i", place="place", best="best")
        cover = hand.cover("i", "rows", lambda _: text)
        head = hand.signature("arg_extreme", [*buffers, *hand.counts("rows", "length")])

        def launch_rows(draw: Draw, wish: Wish) -> Sized:
            each = bytes_of(kind)
            size = line(wish, 2 * each + 4)
            rows, length = matrix(draw, wish.data, each * 1.5)
            (rows,) = cover.fit(size, rows)
            length = max(1, min(length, affordable(1 << 25, each * rows, 100_000_000)))
            lengths = {"x": rows * length, "out": rows} | ({"bests": rows} if keeps == "both" else {})
            operations = cover.done(size, (rows,)) * (length * 6 + 8) + size.items
            return sized(size, operations, lengths, {"rows": rows, "length": length})

        return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "arg_extreme", launch_rows)
    local = scratch(hand, {"value": kind, "where": "int"})

    def join(a: str, b: str) -> str:
        return better(f"value[{a}]", f"where[{a}]", f"value[{b}]", f"where[{b}]")

    reduce = tree(hand, join, size="size", fixed=local.fixed)
    head = hand.signature("arg_extreme", [*buffers, *local.parameters, "const int n"], local.required)
    source = f"""{head}
{{
    {local.declarations}
    const int l = get_local_id(0);
    const int size = get_local_size(0);
    const int g = min((int)get_global_id(0), n - 1);
    {scan("g", "n", "get_global_size(0)", "k", "g")}
    value[l] = best;
    where[l] = place;
    {reduce}
    if (l == 0) {{
        {store.format(i="get_group_id(0)", place="where[0]", best="value[0]")}
    }}
}}"""

    def launch(draw: Draw, wish: Wish) -> Sized:
        size = local.range(wish, 12)
        n = affordable(wish.data, bytes_of(kind))
        lengths = {"x": slack(draw, n), "out": size.groups} | ({"bests": size.groups} if keeps == "both" else {})
        return sized(size, n * 6 + size.items * 24, lengths, {"n": n}, None, local.bytes(size))

    return Draft(lay_out(source), "arg_extreme", launch)


@family("mean_variance", group="reductions")
def mean_variance(draw: Draw) -> Draft:
    """Two values at once: by sums of squares, by Welford's update, or in two passes; a row an item or a group."""
    hand = Hand(draw)
    kind = draw.weighted({"float": 5, "double": 1.5}, "type")
    method = draw.choose(("squares", "welford", "two passes", "shifted"), "method")
    by_group = draw.chance(0.5, "group") and method != "welford"
    ending = draw.choose(("variance", "deviation", "inverse deviation"), "ending")
    as_pair = draw.chance(0.35, "pair")
    one, zero, small = literal(kind, 1), literal(kind, 0), literal(kind, 0.001)
    mapped = hand.mapping(kind, 0.2)
    spread = {
        "variance": "variance",
        "deviation": f"sqrt(fabs(variance) + {small})",
        "inverse deviation": draw.choose(
            (f"rsqrt(fabs(variance) + {small})", f"{one} / sqrt(fabs(variance) + {small})")
        ),
    }[ending]
    store = f"out[i] = ({kind}2)(mean, {spread});" if as_pair else f"means[i] = mean;\nout[i] = {spread};"
    buffers = [hand.reads(kind, "x"), hand.writes(kind + "2" * as_pair, "out")]
    buffers += [] if as_pair else [hand.writes(kind, "means")]
    start, step = ("l", "size") if by_group else ("0", "1")
    at = "i * length + {k}" if by_group or draw.chance(0.6, "rows") else "({k}) * count + i"
    form = "for" if by_group else None

    def over(body: str) -> str:
        return hand.loop("k", start, "length", lambda k: body.replace("X", mapped(f"x[{at.format(k=k)}]")), step, form)

    local = scratch(hand, {"first": kind, "second": kind})

    def total(*names: str) -> str:
        """Add up what the items of a group have found, and give each of them the sum."""
        if not by_group:
            return ""
        put = "\n".join(f"{array}[l] = {name};" for array, name in zip(("first", "second"), names, strict=False))
        join = lambda a, b: "\n".join(f"{array}[{a}] += {array}[{b}];" for array in ("first", "second")[: len(names)])  # noqa: E731
        got = "\n".join(f"{name} = {array}[0];" for array, name in zip(("first", "second"), names, strict=False))
        return f"{put}\n{tree(hand, join, size='size', fixed=local.fixed)}\n{got}\n{FENCE}"

    length = f"({kind})length"
    variance = f"const {kind} variance = squares / {length};"
    if method in ("squares", "shifted"):
        shift = "" if method == "squares" else f"const {kind} pivot = x[i * 1];\n"
        value = "X" if method == "squares" else "X - pivot"
        body = f"const {kind} v = {value};\nsum += v;\n{hand.add_product('squares', 'v', 'v', kind)}"
        text = f"{shift}{kind} sum = {zero}, squares = {zero};\n{over(body)}\n{total('sum', 'squares')}\n"
        text += f"{kind} mean = sum / {length};\nconst {kind} variance = squares / {length} - mean * mean;"
        text += "\nmean += pivot;" if shift else ""
    elif method == "welford":
        body = f"const {kind} v = X;\nconst {kind} d = v - mean;\nseen += {one};\nmean += d / seen;\n"
        body += "squares += d * (v - mean);"
        text = f"{kind} mean = {zero}, squares = {zero}, seen = {zero};\n{over(body)}\n{variance}"
    else:
        body = f"const {kind} d = X - mean;\n{hand.add_product('squares', 'd', 'd', kind)}"
        text = f"{kind} mean = {zero};\n{over('mean += X;')}\n{total('mean')}\nmean /= {length};\n"
        text += f"{kind} squares = {zero};\n{over(body)}\n{total('squares')}\n{variance}"
    cover = None
    if by_group:
        text = f"""{local.declarations}
        const {hand.index} i = get_group_id(0);
        const {hand.index} l = get_local_id(0);
        const {hand.index} size = get_local_size(0);
        {text}
        if (l == 0) {{
            {store}
        }}"""
        head = hand.signature("moments", [*buffers, *local.parameters, *hand.counts("count", "length")], local.required)
    else:
        cover = hand.cover("i", "count", lambda _: f"{text}\n{store}")
        head = hand.signature("moments", [*buffers, *hand.counts("count", "length")])
        text = cover.text

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = local.range(wish, 1) if by_group else line(wish, 4 * each)
        count, length = matrix(draw, wish.data, each * 1.5, (1, 32768))
        count = size.groups if by_group else count
        if cover:
            (count,) = cover.fit(size, count)
        length = min(length, affordable(1 << 25, each * count, 120_000_000))
        if by_group:
            length = max(1, min(affordable(1 << 25, each * count, 120_000_000), wish.data // count))
        done = count if by_group or not cover else cover.done(size, (count,))
        cost = {"two passes": 8, "welford": 20}.get(method, 6)
        lengths = {"x": count * length, "out": count} | ({} if as_pair else {"means": count})
        extra = local.bytes(size) if by_group else {}
        operations = done * (length * cost + 20) + size.items * (30 if by_group else 1)
        return sized(size, operations, lengths, {"count": count, "length": length}, None, extra)

    return Draft(lay_out(f"{head}\n{{\n{text}\n}}"), "moments", launch)
