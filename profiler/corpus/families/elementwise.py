"""One value of each array in, one out: chains of arithmetic, conversions, masks."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.expressions import condition, expression, statements
from profiler.corpus.families.access import kept_alive
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.arrays import Array, Elements, Value, Values, line_draft
from profiler.corpus.writing.hand import Hand, hand
from profiler.corpus.writing.literals import literal

TYPES = {"float": 6.0, "double": 2.0, "int": 2.0, "uint": 1.5, "long": 0.7, "short": 0.7, "uchar": 0.7, "ulong": 0.5}
VECTORS = {"float2": 1.0, "float4": 1.5, "float8": 0.5, "int4": 0.6, "double2": 0.4, "uint2": 0.4}


def loads(arrays: list[str], type: str, index: str = "i", locals_: str = "v") -> tuple[list[str], list[str]]:
    """Return declarations `T v0 = in0[i];` and the names declared."""
    names = [f"{locals_}{k}" for k in range(len(arrays))]
    return [f"{type} {name} = {array}[{index}];" for name, array in zip(names, arrays, strict=True)], names


def helper(draw: Draw, habits: Hand, name: str, type: str, parameters: list[str], depth: int) -> str:
    """Generate a function of the program that returns an expression of its parameters."""
    taken = ", ".join(f"{draw.choose(('', 'const '))}{type} {p}" for p in parameters)
    start = draw.choose(("static ", "inline ", "static inline ", ""))
    start = "static inline " if start == "inline " else start  # C99 gives a lone `inline` no definition to call
    lines, inner = statements(draw, parameters, type, draw.integer(0, 2), 2, "u")
    body = "\n".join(f"    {line}" for line in lines)
    result = expression(draw, [*parameters, *inner], type, depth)
    return f"{start}{type} {name}({taken})\n{{\n{body}\n    return {result};\n}}\n"


@family("fused_elementwise", group="elementwise")
def fused_elementwise(draw: Draw) -> Draft:
    """Several arrays in, a chain of temporaries, one or several arrays out."""
    habits = hand(draw)
    type_ = draw.weighted({**TYPES, **VECTORS}, "type")
    inputs = [f"in{k}" for k in range(draw.integer(1, 5))]
    outputs = [f"out{k}" for k in range(draw.weighted({1: 4.0, 2: 2.0, 3: 1.0}, "outputs"))]
    lines, names = loads(inputs, type_)
    if draw.chance(0.4, "inline_loads"):
        lines, names = [], [f"{name}[i]" for name in inputs]
    before, extra = "", []
    if draw.chance(0.3, "helper_function"):
        before = helper(draw, habits, "combine", type_, ["a", "b"], draw.integer(1, 3))
        lines.append(f"{type_} h = combine({draw.choose(names)}, {draw.choose(names)});")
        extra.append("h")
    values = []
    if draw.chance(0.5, "scalar_argument") and type_ in ("float", "double", "int"):
        values = [Value(f"alpha{k}", type_, lambda d: d.integer(1, 3)) for k in range(draw.integer(1, 3))]
    known = [*names, *extra, *(v.name for v in values)]
    more, temporaries = statements(
        draw, known, type_, draw.weighted({0: 2.0, 1: 2.0, 2: 2.0, 4: 1.0, 8: 0.6, 14: 0.3}), 3
    )
    lines += more
    last = temporaries[-2:] or known
    lines += [f"{o}[i] = {expression(draw, [*last, draw.choose(known)], type_, draw.integer(1, 3))};" for o in outputs]
    arrays = [*(Array(a, type_) for a in inputs), *(Array(o, type_, is_written=True) for o in outputs)]
    name = draw.choose(("fused", "combine_arrays", "evaluate", "elementwise", "apply_chain"))
    return line_draft(draw, habits, Elements(name, arrays, "\n".join(lines), values, before=before))


CONVERTIBLE = ("uchar", "char", "short", "ushort", "int", "uint", "float", "double", "long")


def _converted(draw: Draw, name: str, wanted: str) -> str:
    is_whole = wanted not in ("float", "double")
    form = draw.choose(("cast", "convert", "sat", "rounded"))
    if form == "cast":
        return f"({wanted}){name}"
    mode = "_rte" if form == "rounded" else ""
    return f"convert_{wanted}{'_sat' if form == 'sat' and is_whole else ''}{mode}({name})"


@family("mixed_type_elementwise", group="elementwise")
def mixed_type_elementwise(draw: Draw) -> Draft:
    """Arrays of different types meet in one formula; what comes out is converted, rounded, saturated."""
    habits = hand(draw)
    middle = draw.weighted({"float": 5.0, "double": 1.0, "int": 2.0, "long": 0.6, "uint": 1.0}, "type")
    kinds = [draw.choose(CONVERTIBLE) for _ in range(draw.integer(1, 4))]
    results = [draw.choose(CONVERTIBLE) for _ in range(draw.weighted({1: 3.0, 2: 1.0}))]
    vector = draw.weighted({"": 5.0, "2": 1.0, "4": 2.0, "8": 0.7}, "width")
    whole = f"{middle}{vector}"
    lines = []
    for k, kind in enumerate(kinds):
        source = f"in{k}[i]"
        converted = f"convert_{whole}({source})" if vector or draw.chance(0.3) else f"({middle}){source}"
        if middle in ("float", "double") and kind not in ("float", "double"):
            converted += f" * {literal(middle, draw.choose((0.1, 0.2, 0.0625)))}"
        lines.append(f"{draw.choose(('', 'const '))}{whole} v{k} = {converted};")
    names = [f"v{k}" for k in range(len(kinds))]
    more, temporaries = statements(draw, names, whole, draw.integer(0, 3))
    lines += more
    for k, kind in enumerate(results):
        value = expression(draw, [*temporaries[-1:], *names], whole, draw.integer(1, 3))
        if vector:
            mode = "" if kind in ("float", "double") else draw.choose(("", "_sat", "_sat_rte", "_rtz"))
            result = f"convert_{kind}{vector}{mode}({value})"
        else:
            lines.append(f"{middle} r{k} = {value};")
            result = _converted(draw, f"r{k}", kind)
        if kind in ("float", "double") and middle not in ("float", "double"):
            # Full 32-bit integers would leave the range that later formulae expect.
            result = f"convert_{kind}{vector}({value} & {literal(whole, 1023)})"
        lines.append(f"out{k}[i] = {result};")
    arrays = [
        *(Array(f"in{k}", f"{kind}{vector}") for k, kind in enumerate(kinds)),
        *(Array(f"out{k}", f"{kind}{vector}", is_written=True) for k, kind in enumerate(results)),
    ]
    return line_draft(draw, habits, Elements("convert_mixed", arrays, "\n".join(lines)))


@family("masks_and_selection", group="elementwise")
def masks_and_selection(draw: Draw) -> Draft:
    """Comparisons: thresholds, ranges, masks written, values selected by a mask."""
    habits = hand(draw)
    type_ = draw.weighted({"float": 4.0, "double": 1.0, "int": 2.0, "uint": 1.0, "short": 0.7, "uchar": 0.7}, "type")
    inputs = [f"src{k}" for k in range(draw.integer(1, 3))]
    lines, names = loads(inputs, type_)
    tests = [condition(draw, names, type_, draw.integer(0, 1)) for _ in range(draw.integer(1, 3))]
    joined = f" {draw.choose(('&&', '||', '&', '|'))} ".join(f"({t})" for t in tests)
    if draw.chance(0.3, "negated"):
        joined = f"!({joined})"
    mask_type = draw.choose(("uchar", "int", "char", "uint", "short"), "mask_type")
    yes, no = (expression(draw, names, type_, draw.integer(0, 3)) for _ in range(2))
    if draw.chance(0.3):
        no = literal(type_, draw.choose((0, 1, 2)))
    form = draw.choose(("mask", "select", "if_else", "both", "scaled", "masked_store", "class", "stored_mask"), "form")
    arrays = [Array(a, type_) for a in inputs]
    out = Array("dst", type_, is_written=True)
    mask = Array(
        "mask", mask_type, is_written=form != "stored_mask", fill=("randint", 0, 2) if form == "stored_mask" else None
    )
    on = "1" if draw.chance(0.6) else "(({}) - 1)".format(mask_type if mask_type[0] != "u" else "int")
    match form:
        case "mask":
            lines.append(f"mask[i] = ({joined}) ? {on} : 0;")
        case "select":
            lines.append(f"dst[i] = ({joined}) ? {yes} : {no};")
        case "if_else":
            lines.append(f"if ({joined})\n    dst[i] = {yes};\nelse\n    dst[i] = {no};")
        case "both":
            lines.append(
                f"{draw.choose(('int', 'bool'))} keep = {joined};\nmask[i] = keep;\ndst[i] = keep ? {yes} : {no};"
            )
        case "scaled":
            lines.append(f"dst[i] = ({type_})({joined}) * {yes};")
        case "masked_store":
            lines.append(f"if ({joined}) {{\n    dst[i] = {yes};\n}}")
        case "class":
            second = condition(draw, names, type_, 1)
            lines.append(
                f"int c = 0;\nif ({joined}) c = 1;\nelse if ({second}) c = {draw.choose((2, 3, 7))};\nmask[i] = c;"
            )
        case _:
            test = draw.choose(("mask[i]", "mask[i] != 0", "mask[i] == 1"))
            lines.append(f"dst[i] = {test} ? {yes} : {no};")
    used = [*arrays, *([mask] if "mask[" in lines[-1] else []), *([out] if "dst[" in lines[-1] else [])]
    return line_draft(draw, habits, Elements(draw.choose(("threshold", "mask_by", "choose")), used, "\n".join(lines)))


@family("iterated_update", group="elementwise")
def iterated_update(draw: Draw) -> Draft:
    """Generate a value that is run through one map, in registers, as often as an argument or a macro says."""
    habits = hand(draw)
    type_ = draw.weighted({"float": 4.0, "double": 1.0, "int": 1.5, "uint": 1.0, "float4": 1.0, "float2": 0.7}, "type")
    states = [f"s{k}" for k in range(draw.integer(1, 4))]
    lines, values, before = [], [], ""
    first = [f"{s} = {expression(draw, states[:1], type_, 1)}" for s in states[1:]]
    lines.append(f"{type_} {', '.join([f'{states[0]} = a[i]', *first])};")
    is_real = type_ in ("float", "double")
    form = draw.choose(("argument", "macro", "literal", "tolerance" if is_real else "argument"), "rounds")
    count = draw.log_integer(2, 64)
    updates = [f"{s} = {kept_alive(expression(draw, states, type_, draw.integer(1, 3)), type_)};" for s in states]
    inner = "\n    ".join(updates)
    end = str(count)
    if form == "argument":
        end, values = "rounds", [Value("rounds", "int", lambda d: d.log_integer(1, 300))]
    elif form == "macro":
        before, end = f"#define ROUNDS {count}\n", "ROUNDS"
    if form == "tolerance":
        last = (
            f"{type_} old = {states[0]};\n    {inner}\n    if (fabs({states[0]} - old) < {literal(type_, 0.01)}) break;"
        )
        lines.append(f"for (int r = 0; r < {end}; r++) {{\n    {last}\n}}")
    else:
        style = draw.choose(("for", "while", "do", "down"))
        loops = {
            "for": f"for (int r = 0; r < {end}; {draw.choose(('r++', '++r', 'r += 1'))}) {{\n    {inner}\n}}",
            "while": f"int r = {end};\nwhile (r > 0) {{\n    {inner}\n    r--;\n}}",
            "do": f"int r = 0;\ndo {{\n    {inner}\n}} while (++r < {end});",
            "down": f"for (int r = {end} - 1; r >= 0; --r) {{\n    {inner}\n}}",
        }
        lines.append(loops[style])
    result = expression(draw, states, type_, 1) if draw.chance(0.5) else states[-1]
    lines.append(f"b[i] = {result};")
    once = 3.0 * len(states) + 4 * len(inner) / 20

    def operations(given: Values) -> float:
        return once * float(given.get("rounds", count))

    arrays = [Array("a", type_), Array("b", type_, is_written=True)]
    return line_draft(draw, habits, Elements("iterate", arrays, "\n".join(lines), values, operations, before))
