"""Stencils with decisions: transport up the wind, cells that live and die, automata in the bits of words."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.stencils_fields import REALS, Neighbours, rate
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.arrays import Array, Elements, Value, Values, line_draft, plane_draft
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.literals import literal


@family("upwind_transport", group="stencils")
def upwind_transport(draw: Draw) -> Draft:
    """Generate a substance carried by a wind: which neighbour counts depends on the wind's direction."""
    habits = hand(draw)
    type_ = draw.weighted(REALS, "type")
    at, values = Neighbours(draw), list[Value]()
    dt = rate(draw, "dt", values, type_, 0.05, 0.4)
    form = draw.choose(("branches", "ternary", "split", "traced", "limited"), "form")
    wind = draw.choose(("fields", "numbers", "vectors"), "wind")
    half, zero, one = literal(type_, 0.5), literal(type_, 0), literal(type_, 1)
    arrays = [Array("q", type_)]
    if wind == "fields":
        arrays += [Array(n, type_, fill=("uniform", -1.0, 1.0)) for n in ("wx", "wy")]
        lines = [f"const {type_} a = {at.cell('wx')}, b = {at.cell('wy')};"]
    elif wind == "vectors":
        arrays.append(Array("wind", f"{type_}2", fill=("uniform", -1.0, 1.0)))
        lines = [f"const {type_} a = {at.cell('wind')}.x, b = {at.cell('wind')}.y;"]
    else:
        values += [Value(n, type_, lambda d: round(d.real(-1, 1), 3)) for n in ("a", "b")]
        lines = []
    c = at.cell("q")
    west, east, north, south = (at.cell("q", *d) for d in ((-1, 0), (1, 0), (0, -1), (0, 1)))
    lines.append(f"const {type_} c = {c};")
    match form:
        case "branches":
            lines.append(f"{type_} dx, dy;\nif (a > {zero})\n    dx = c - {west};\nelse\n    dx = {east} - c;")
            lines.append(f"if (b > {zero}) {{\n    dy = c - {north};\n}} else {{\n    dy = {south} - c;\n}}")
            value = f"c - {dt} * (a * dx + b * dy)"
        case "ternary":
            lines.append(f"const {type_} dx = a > {zero} ? c - {west} : {east} - c;")
            lines.append(f"const {type_} dy = b > {zero} ? c - {north} : {south} - c;")
            value = f"c - {dt} * (a * dx + b * dy)"
        case "split":
            lines.append(
                f"const {type_} ap = fmax(a, {zero}), am = fmin(a, {zero}), bp = fmax(b, {zero}), bm = fmin(b, {zero});"
            )
            value = f"c - {dt} * (ap * (c - {west}) + am * ({east} - c) + bp * (c - {north}) + bm * ({south} - c))"
        case "traced":
            # Back along the wind, then between the four elements found there.
            lines.append(f"{type_} fx = clamp(cx - {dt} * a, {zero}, w - {literal(type_, 1.001)});")
            lines.append(f"{type_} fy = clamp(cy - {dt} * b, {zero}, h - {literal(type_, 1.001)});")
            lines.append("int ix = clamp((int)fx, 0, w - 1), iy = clamp((int)fy, 0, h - 1);")
            lines.append("int jx = min(ix + 1, w - 1), jy = min(iy + 1, h - 1);\nfx -= ix;\nfy -= iy;")
            top = "mix(q[iy * w + ix], q[iy * w + jx], fx)"
            value = f"mix({top}, mix(q[jy * w + ix], q[jy * w + jx], fx), fy)"
        case _:
            lines.append(f"const {type_} p = c - {west}, r = {east} - c;")
            lines.append(f"const {type_} s = p * r > {zero} ? (fabs(p) < fabs(r) ? p : r) : {zero};")
            value = f"c - {dt} * a * s + {half} * {dt} * b * ({south} - {north})"
    if draw.chance(0.3, "diffusion"):
        value = f"{value} + {literal(type_, 0.02)} * ({west} + {east} + {north} + {south} - {literal(type_, 4)} * c)"
    if draw.chance(0.2, "decay"):
        value = f"({value}) * ({one} - {literal(type_, 0.01)})"
    arrays.append(Array("moved", type_, True))
    lines.append(f"{at.cell('moved')} = {value};")
    text = at.whole(lines, ["moved"], type_, draw)
    return plane_draft(draw, habits, Elements("transport", arrays, text, values, None, at.before))


@family("living_cells", group="stencils")
def living_cells(draw: Draw) -> Draft:
    """Cells that live, die, age or take over their neighbours' state by counting them."""
    habits = hand(draw)
    type_ = draw.weighted({"uchar": 3.0, "int": 3.0, "char": 1.0, "uint": 1.0, "short": 0.5}, "type")
    at = Neighbours(draw)
    around = [(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1) if (x, y) != (0, 0)]
    if draw.chance(0.3, "four_neighbours"):
        around = [(x, y) for x, y in around if not x or not y]
    states = draw.choose((2, 2, 3, 4, 8), "states")
    alive = draw.choose(("", " != 0", " == 1")) if states > 2 else ""
    cells = [at.cell("cells", *d) for d in around]
    counted = [f"({c}{alive})" if alive else c for c in cells]
    form = draw.choose(("sum", "steps", "loop"), "count") if at.edge != "skip" or at.spelled == "indices" else "sum"
    lines = []
    if form == "steps":
        lines.append(f"int count = {counted[0]};")
        lines += [f"count += {c};" for c in counted[1:]]
    elif form == "loop" and len(around) == 8:
        near = {"wrap": "((cy + b + h) % h) * w + (cx + a + w) % w", "skip": "(cy + b) * w + cx + a"}
        place = near.get(at.edge, "clamp(cy + b, 0, h - 1) * w + clamp(cx + a, 0, w - 1)")
        lines.append("int count = 0;\nfor (int b = -1; b <= 1; b++)\n    for (int a = -1; a <= 1; a++)")
        lines.append(f"        if (a != 0 || b != 0) count += cells[{place}]{alive};")
    else:
        lines.append(f"const int count = {' + '.join(counted)};")
    lines.append(f"const int own = {at.cell('cells')};")
    born, low, high = draw.integer(2, 4), draw.integer(1, 3), draw.integer(3, 5)
    rule = draw.choose(("logic", "ternary", "switch", "table", "ages", "majority", "cyclic", "parity"), "rule")
    rules = {
        "logic": f"(count == {born}) | (own & (count == {low}))",
        "ternary": f"own ? (count >= {low} && count <= {high}) : (count == {born})",
        "switch": "next",
        "table": f"(own ? 0x{draw.integer(8, 60):x} : 0x{draw.integer(4, 40):x}) >> count & 1",
        "ages": f"own == 0 ? (count == {born}) : (own + 1) % {states}",
        "majority": f"count > {len(around) // 2} ? 1 : (count < {len(around) // 2} ? 0 : own)",
        "cyclic": f"count >= {born} ? (own + 1) % {states} : own",
        "parity": "(count ^ own) & 1",
    }
    if rule == "switch":
        lines.append(
            f"int next;\nswitch (count) {{\n    case {born}: next = 1; break;\n    case {born + 2}: next = own; break;"
        )
        lines.append("    default: next = 0;\n}")
    lines.append(f"{at.cell('out')} = {rules[rule]};")
    arrays = [Array("cells", type_, fill=("randint", 0, states)), Array("out", type_, True)]
    return plane_draft(
        draw, habits, Elements("live", arrays, at.whole(lines, ["out"], type_, draw), (), None, at.before)
    )


@family("line_automaton", group="stencils")
def line_automaton(draw: Draw) -> Draft:
    """Words of 32 cells each: every bit follows its neighbours' by a rule, for several generations."""
    habits = hand(draw)
    type_ = draw.choose(("uint", "ulong"), "type")
    bits = 32 if type_ == "uint" else 64
    rounds = draw.choose(("argument", "literal"), "rounds")
    fixed = draw.choose((1, 2, 4, 8, 16))
    rule = draw.choose(
        ("left ^ (c | right)", "left ^ right", "(left & c) | (c & right)", "left ^ c ^ right", "~(left | right) ^ c")
    )
    reach = draw.choose((1, 1, 2, 3), "reach")
    ends = draw.choose(("rotate", "neighbours", "cut"), "ends")
    lines = [f"{type_} c = row[i];"]
    if ends == "neighbours":
        lines.append("const int last = (int)n - 1;")
        lines.append(f"const {type_} before = row[max((int)i - 1, 0)], behind = row[min((int)i + 1, last)];")
        left = f"(c << {reach}) | (before >> {bits - reach})"
        right = f"(c >> {reach}) | (behind << {bits - reach})"
    elif ends == "rotate":
        left, right = f"rotate(c, ({type_}){reach})", f"rotate(c, ({type_}){bits - reach})"
    else:
        left, right = f"c << {reach}", f"c >> {reach}"
    end = "rounds" if rounds == "argument" else str(fixed)
    step = f"{type_} left = {left}, right = {right};\n    c = {rule};"
    if fixed == 1 and rounds == "literal":
        lines.append(step)
    else:
        lines.append(f"for (int r = 0; r < {end}; r++) {{\n    {step}\n}}")
    lines.append(f"next[i] = {draw.choose(('c', 'c', 'c ^ row[i]', 'popcount(c)'))};")
    values = [Value("rounds", "int", lambda d: d.log_integer(1, 200))] if rounds == "argument" else []

    def operations(given: Values) -> float:
        return 7.0 * float(given.get("rounds", fixed)) + 3

    arrays = [Array("row", type_), Array("next", type_, True)]
    return line_draft(draw, habits, Elements("automaton", arrays, "\n".join(lines), values, operations))
