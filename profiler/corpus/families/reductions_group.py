"""Reductions by groups: trees in local memory, with or without several elements first, and atomic finishes."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out, literal
from profiler.corpus.writing.ndrange import affordable, line, sized, slack
from profiler.corpus.writing.operators import Operator, operator
from profiler.corpus.writing.trees import scratch, tree
from profiler.corpus.writing.types import bytes_of, is_real

KINDS = {"float": 5.0, "double": 1.2, "int": 1.5, "uint": 0.6, "float4": 0.8, "float2": 0.4, "long": 0.4, "int4": 0.3}


def _fills(op: Operator, kind: str) -> dict[str, Fill]:
    """Return what keeps a product near one."""
    return {"x": Fill("uniform", (0.9999, 1.0001))} if op.name == "product" and is_real(kind) else {}


@family("reduce_tree", group="reductions")
def reduce_tree(draw: Draw) -> Draft:
    """One element an item, or a pair, into local memory, and a tree; a partial result a group."""
    hand = Hand(draw)
    kind = draw.weighted(KINDS, "type")
    op = operator(hand, kind)
    local = scratch(hand, {"part": op.total})
    pairs = draw.chance(0.35, "pairs")
    guard = draw.choose(("select", "if", "none"), "guard")
    n_type = hand.count_type
    at = "get_group_id(0) * 2 * size + l" if pairs else "g"

    def load(place: str) -> str:
        value = op.mapped(f"x[{place}]")
        if guard == "none":
            return value
        return f"({place} < n ? {value} : {op.identity})"

    first = f"part[l] = {load('i')};"
    if guard == "if":
        first = f"part[l] = {op.identity};\nif (i < n) {{\npart[l] = {op.mapped('x[i]')};\n}}"
    if pairs:
        more = op.join("part[l]", load("(i + size)") if guard != "if" else op.mapped("x[i + size]"))
        first += f"\nif (i + size < n) {{\n{more}\n}}" if guard == "if" else f"\n{more}"
    reduce = tree(hand, lambda a, b: op.join(f"part[{a}]", f"part[{b}]"), size="size", fixed=local.fixed)
    writer = draw.choose(("l == 0", "l == 0", "l == size - 1"), "writer")
    end = f"if ({writer}) {{\nout[get_group_id(0)] = {op.end('part[0]')};\n}}"
    parameters = [hand.reads(kind, "x"), hand.writes(op.total, "out"), *local.parameters, f"const {n_type} n"]
    source = f"""{op.declarations}
{hand.signature("reduce_tree", parameters, local.required)}
{{
    {local.declarations}
    const {hand.index} g = get_global_id(0);
    const {hand.index} l = get_local_id(0);
    const {hand.index} size = get_local_size(0);
    const {hand.index} i = {at};
    {first}
    {reduce}
    {end}
}}"""

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = local.range(wish, 2 * each)
        n = affordable(wish.data, each)
        reach = size.items * (2 if pairs else 1)
        if guard == "none":
            n = reach  # tied: each item reads its own element
        operations = size.items * (14 + op.cost * (3 if pairs else 2))
        return sized(
            size, operations, {"x": slack(draw, n), "out": size.groups}, {"n": n}, _fills(op, kind), local.bytes(size)
        )

    return Draft(lay_out(source), "reduce_tree", launch)


@family("reduce_several_first", group="reductions")
def reduce_several_first(draw: Draw) -> Draft:
    """Each item adds up many elements on its own before the group's tree; partial results or an atomic finish."""
    hand = Hand(draw)
    kind = draw.weighted({**KINDS, "uchar": 0.5, "short": 0.4}, "type")
    op = operator(hand, kind)
    local = scratch(hand, {"part": op.total})
    walk = draw.choose(("grid stride", "group's block", "fixed count", "double step"), "walk")
    atomics = {"sum": "add", "min": "min", "max": "max", "or": "or", "and": "and", "xor": "xor"}
    finish = "partial"
    if op.total in ("int", "uint") and draw.chance(0.6):
        finish = "atomic"
    draw.choices["finish"] = finish
    count = draw.choose((2, 4, 8, 16), "elements an item")
    take = op.add("total", "x[{k}]")
    index = hand.index
    if walk == "grid stride":
        loop = hand.loop("k", "get_global_id(0)", "n", lambda k: take.replace("{k}", k), "get_global_size(0)")
    elif walk == "double step":
        second = f"if (k + size < n) {{\n{take.replace('{k}', 'k + size')}\n}}"
        step = f"{take.replace('{k}', 'k')}\n{second}\nk += 2 * size * groups;"
        loop = f"{index} k = get_group_id(0) * size * 2 + l;\nwhile (k < n) {{\n{step}\n}}"
    elif walk == "fixed count":
        step = f"const {index} k = get_group_id(0) * size * {count} + c * size + l;\n"
        step += f"if (k < n) {{\n{take.replace('{k}', 'k')}\n}}"
        loop = hand.repeat(count, lambda c: step.replace("c * size", f"{c} * size"), "c")
    else:
        ends = f"const {index} share = (n + groups - 1) / groups;\nconst {index} first = get_group_id(0) * share;\n"
        ends += f"const {index} last = min(({index})(first + share), ({index})n);\n"
        loop = ends + hand.loop("k", "first + l", "last", lambda k: take.replace("{k}", k), "size", "for")
    reduce = tree(hand, lambda a, b: op.join(f"part[{a}]", f"part[{b}]"), size="size", fixed=local.fixed)
    end = "out[get_group_id(0)] = part[0];" if finish == "partial" else f"atomic_{atomics[op.name]}(out, part[0]);"
    parameters = [hand.reads(kind, "x"), hand.writes(op.total, "out"), *local.parameters, f"const {hand.count_type} n"]
    source = f"""{op.declarations}
{hand.signature("reduce_many", parameters, local.required)}
{{
    {local.declarations}
    const {index} l = get_local_id(0);
    const {index} size = get_local_size(0);
    const {index} groups = get_num_groups(0);
    {op.start("total")}
    {loop}
    part[l] = total;
    {reduce}
    if (l == 0) {{
        {end}
    }}
}}"""

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = local.range(wish, 8)
        n = affordable(wish.data, each)
        done = min(n, size.items * count) if walk == "fixed count" else n
        operations = done * (3 + op.cost) * max(1, each / 4) + size.items * 20
        lengths = {"x": slack(draw, n), "out": size.groups if finish == "partial" else 1}
        return sized(size, operations, lengths, {"n": n}, _fills(op, kind), local.bytes(size))

    return Draft(lay_out(source), "reduce_many", launch)


@family("dot_product", group="reductions")
def dot_product(draw: Draw) -> Draft:
    """Of two arrays, or three; strided, vectors, conjugated pairs; a result an item or a group."""
    hand = Hand(draw)
    kind = draw.weighted(
        {"float": 4, "double": 1, "int": 1, "float4": 2, "float2": 1, "float8": 0.6, "char": 0.5}, "type"
    )
    scalar = {"char": "int"}.get(kind, kind.rstrip("248"))
    form = draw.weighted({"plain": 3, "weighted": 1, "strided": 1, "difference": 1}, "form")
    by_group = draw.chance(0.6, "group")
    uses_dot = kind in ("float4", "float2") and draw.chance(0.6, "dot")
    total = scalar if uses_dot or kind in (scalar, "char") else kind
    pace = "{k} * step" if form == "strided" else "{k}"
    a, b = f"a[{pace}]", f"b[{pace}]"

    def term(k: str) -> str:
        left, right = a.format(k=k), b.format(k=k)
        if form == "difference":
            return f"const {kind} d = {left} - {right};\nsum += {'dot(d, d)' if uses_dot else 'd * d'};"
        if uses_dot:
            return f"sum += dot({left}, {right}){f' * w[{k}]' if form == 'weighted' else ''};"
        if form == "weighted":
            left = f"({left} * w[{k}])"
        return hand.add_product("sum", left, right, kind)

    start = f"{total} sum = {literal(total, 0)};"
    width = int(total[-1]) if total != scalar else 1
    whole = " + ".join(f"sum.s{e:x}" for e in range(width)) if width > 1 else "sum"
    local = scratch(hand, {"part": scalar})
    loop = hand.loop("k", "get_global_id(0)", "n", term, "get_global_size(0)")
    index = hand.index
    if by_group:
        reduce = tree(hand, lambda p, q: f"part[{p}] += part[{q}];", size="size", fixed=local.fixed)
        text = f"""{local.declarations}
        const {index} l = get_local_id(0);
        const {index} size = get_local_size(0);
        {start}
        {loop}
        part[l] = {whole};
        {reduce}
        if (l == 0) {{
        out[get_group_id(0)] = part[0];
        }}"""
    else:
        text = (
            f"{start}\n{loop}\nout[get_global_id(0)] = {hand.finished(whole if width == 1 else f'({whole})', scalar)};"
        )
    buffers = [hand.reads(kind, "a"), hand.reads(kind, "b"), *([hand.reads(scalar, "w")] * (form == "weighted"))]
    buffers += [hand.writes(scalar, "out"), *(local.parameters if by_group else [])]
    counts = hand.counts("n", *(["step"] if form == "strided" else []))
    head = hand.signature("dot_product", [*buffers, *counts], local.required if by_group else None)

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = local.range(wish, 1) if by_group else line(wish, 8)
        n = affordable(wish.data, 3 * each)
        step = draw.log_integer(1, 32)
        length = n if form != "strided" else min(n, affordable(n * step, 2 * each))
        n = n if form != "strided" else max(1, length // step)
        length = n * step if form == "strided" else n
        lengths = {"a": length, "b": slack(draw, length), "out": size.groups if by_group else size.items}
        lengths |= {"w": n} if form == "weighted" else {}
        scalars = {"n": n} | ({"step": step} if form == "strided" else {})
        operations = n * 5 * max(1, each / 4) + size.items * (16 if by_group else 5)
        return sized(size, operations, lengths, scalars, None, local.bytes(size) if by_group else {})

    return Draft(lay_out(f"{head}\n{{\n{text}\n}}"), "dot_product", launch)
