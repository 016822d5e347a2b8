"""Branches and trip counts that depend on data: nested ifs, switches, interpreters, loops of each item's own length."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.composing.coverage import draw_coverage
from profiler.corpus.composing.drafting import Buffer, Parameter, Parts, drafted, each, flat
from profiler.corpus.composing.hand import Hand
from profiler.corpus.composing.mixing import mixture
from profiler.corpus.draw import Draw
from profiler.corpus.expressions import condition, cost, expression
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.types import is_real

TYPES = ("float", "float", "int", "uint", "double")


@family("value_branches", group="divergence")
def value_branches(draw: Draw) -> Draft:
    """Ifs by what was loaded, few or many, flat or nested, with cheap and dear sides."""
    hand = Hand(draw)
    type_ = draw.choose(TYPES, "type")
    cover = draw_coverage(draw, hand)
    x, y, out, v, r, i = (hand.name(n) for n in ("input", "second input", "output", "value", "outcome", "index"))
    names = [v, hand.name("other value")]

    def side(depth: int) -> str:
        if depth == 0 or draw.chance(0.3):
            return f"{r} = {expression(draw, [*names, r], type_, draw.choose((1, 2, 3, 4)))};"
        lines = f"if ({condition(draw, names, type_)}) {{\n{side(depth - 1)}\n}}"
        if draw.chance(0.7):
            lines += f" else {{\n{side(depth - 1)}\n}}"
        return lines

    shape = draw.choose(("one", "chain", "nested", "sequence", "leave"), "shape")
    if shape == "one":
        branches = f"if ({condition(draw, names, type_)}) {{\n{side(0)}\n{side(0)}\n}} else {{\n{side(0)}\n}}"
    elif shape == "chain":
        tests = [f"if ({condition(draw, names, type_)}) {{\n{side(0)}\n}}" for _ in range(draw.integer(2, 7))]
        branches = " else ".join(tests) + f" else {{\n{side(0)}\n}}"
    elif shape == "nested":
        branches = f"if ({condition(draw, names, type_)}) {{\n{side(3)}\n}} else {{\n{side(3)}\n}}"
    else:
        branches = "\n".join(f"if ({condition(draw, names, type_)}) {side(0)}" for _ in range(draw.integer(2, 8)))
    early = f"if ({v} {draw.choose(('<', '>'))} {hand.literal(1, type_)}) {cover.leave}\n" if shape == "leave" else ""
    start = f"const {type_} {v} = {x}[{i}], {names[1]} = {y}[{i}];\n{early}{type_} {r} = {v};"
    contents = draw.choose(("random", "clustered_values", "few"), "contents")
    fill = None
    if contents == "few":
        fill = Fill("uniform", (0.9, 1.4)) if is_real(type_) else Fill("randint", (0, 3))
    elif contents == "clustered_values":
        fill = Fill("sorted", (0.5, 1.5)) if is_real(type_) else Fill("sorted", (0, 16))
    buffers = [Buffer(x, type_, each, fill), Buffer(y, type_, each), Buffer(out, type_, each, None, True)]
    body = f"{start}\n{branches}\n{out}[{i}] = {r};"
    work = flat(4 + cost(branches) / 2)
    return drafted(
        draw, hand, Parts(("branch", draw.choose(("by_value", "cases", "select"))), cover, buffers, body, work)
    )


@family("switch_table", group="divergence")
def switch_table(draw: Draw) -> Draft:
    """Generate a switch over an operation code, a class or the low bits of something, with two to sixteen cases."""
    hand = Hand(draw)
    type_ = draw.choose(TYPES, "type")
    cover = draw_coverage(draw, hand)
    codes, x, out, v, i = (hand.name(n) for n in ("codes", "input", "output", "value", "index"))
    count = draw.choose((2, 3, 4, 6, 8, 12, 16), "cases")
    selector = draw.choose(("buffer", "buffer", "position", "item_group", "value_bits"), "selector")
    parameters: list[Parameter] = [Buffer(x, type_, each), Buffer(out, type_, each, None, True)]
    if selector == "buffer":
        skew = draw.choose((Fill("randint", (0, count)), Fill("skewed", (0, count)), Fill("sorted", (0, count))))
        parameters.append(Buffer(codes, draw.choose(("int", "uchar", "uint")), each, skew))
        what = f"{codes}[{i}]"
    elif selector == "value_bits":
        what = f"(int)({v} * {hand.literal(8, type_)}) & {count - 1}"
    else:
        what = f"({i}{'' if selector == 'position' else ' >> 5'}) % {count}"
    depth = draw.choose((1, 2, 3), "depth")
    cases = [f"{mixture(draw, hand, [v], type_, depth)}" for _ in range(count)]
    form = draw.choose(("switch", "switch_return", "chain", "fall_through"), "form")
    last = draw.chance(0.7)
    helper = ""
    if form == "chain":
        chain = " else ".join(f"if (op == {k}) {v} = {case};" for k, case in enumerate(cases))
        act = f"const int op = {what};\n{chain}"
    elif form == "switch_return":
        arms = "\n".join(f"case {k}: return {case};" for k, case in enumerate(cases))
        helper = (
            f"{hand.inline}{type_} apply(const int op, {type_} {v})\n{{\nswitch (op) {{\n{arms}\n"
            f"default: return {v};\n}}\n}}"
        )
        act = f"{v} = apply({what}, {v});"
    else:
        stop = [";" if form == "fall_through" and draw.chance(0.3) else "; break;" for _ in cases]
        arms = "\n".join(f"case {k}: {v} = {case}{end}" for k, (case, end) in enumerate(zip(cases, stop, strict=True)))
        act = f"switch ({what}) {{\n{arms}\n{'default: break;' if last else f'default: {v} = {x}[{i}];'}\n}}"
    body = f"{type_} {v} = {x}[{i}];\n{act}\n{out}[{i}] = {v};"
    title = ("apply", draw.choose(("op", "code", "class", "rule")))
    return drafted(draw, hand, Parts(title, cover, parameters, body, flat(6 + 2 * cost(cases[0])), helpers=helper))


@family("own_trip_counts", group="divergence")
def own_trip_counts(draw: Draw) -> Draft:
    """Each element's loop is as long as its entry in a buffer, its position or its value says."""
    hand = Hand(draw)
    type_ = draw.choose(TYPES, "type")
    cover = draw_coverage(draw, hand)
    counts, x, out, acc, i, j = (hand.name(n) for n in ("trip counts", "input", "output", "sum", "index", "loop"))
    most = draw.choose((4, 16, 64, 256), "longest")
    source = draw.choose(("buffer", "buffer", "id_modulo", "id_bits", "value", "triangle"), "trips")
    parameters: list[Parameter] = [Buffer(x, type_, each), Buffer(out, type_, each, None, True)]
    if source == "buffer":
        kinds = {"random": "randint", "skewed": "skewed", "sorted": "sorted", "clustered": "clustered"}
        sort = draw.choose(tuple(kinds), "lengths")
        reach = (0, most + 1, 4) if sort == "clustered" else (0, most + 1)
        parameters.append(
            Buffer(
                counts, draw.choose(("int", "uint", "uchar" if most < 256 else "int")), each, Fill(kinds[sort], reach)
            )
        )
        trips = f"{counts}[{i}]"
    else:
        trips = {
            "id_modulo": f"{i} % {most}",
            "id_bits": f"({i} & {most - 1}) + 1",
            "value": f"(int)fmin({x}[{i}] * {most / 2}f, {most}.0f)"
            if is_real(type_)
            else f"(int)({x}[{i}] & {most - 1})",
            "triangle": f"min((int)get_global_id(0) / 4, {most})",
        }[source]
        if source == "value" and type_ == "double":
            trips = f"(int)({x}[{i}] * {most / 2})"
    v = hand.name("value")
    inside = {
        "expression": f"{acc} = {mixture(draw, hand, [acc], type_, draw.choose((1, 2, 3)), [v])};",
        "contract": f"{acc} = {acc} * {hand.literal(0.5, type_)} + {v};"
        if is_real(type_)
        else f"{acc} = ({acc} >> 1) + {v};",
        "walk": f"{acc} {'=' if is_real(type_) else '^='} {x}[({i} + {j}) & 0x3ff];",
        "two_steps": (
            f"{acc} = {mixture(draw, hand, [acc, v], type_, 1)};\n{v} = {mixture(draw, hand, [v], type_, 1, [acc])};"
        ),
    }
    kind = draw.choose(tuple(inside), "inside")
    if kind == "walk":
        parameters[0] = Buffer(x, type_, lambda s: max(s.bound, 1024) + 0)
    count = hand.name("own count")
    whiles = f"int {j} = {count};\nwhile ({j} > 0) {{\n{inside[kind]}\n{j}--;\n}}"
    loops = {
        "for": hand.loop(j, "0", count, inside[kind]),
        "while": whiles,
        "stop": f"for (int {j} = 0; {j} < {most}; {j}++) {{\nif ({j} >= {count}) break;\n{inside[kind]}\n}}",
        "pairs": f"for (int {j} = 0; {j} < {count}; {j} += 2) {{\n{inside[kind]}\n{inside[kind]}\n}}",
        "square": (
            f"for (int {j} = 0; {j} < {count}; {j}++)\nfor (int q2 = 0; q2 <= {j} / 4; q2++) {{\n{inside[kind]}\n}}"
        ),
    }
    form = draw.choose(tuple(loops), "loop")
    body = (
        f"const int {count} = {trips};\n{type_} {v} = {x}[{i}];\n"
        f"{type_} {acc} = {hand.literal(1, type_)};\n{loops[form]}\n{out}[{i}] = {acc};"
    )
    work = flat((most * most / 24 if form == "square" else most / 2) * (3 + cost(inside[kind])))
    return drafted(
        draw, hand, Parts(("repeat", draw.choose(("each", "ragged", "varying"))), cover, parameters, body, work)
    )
