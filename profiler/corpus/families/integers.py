"""Whole numbers: chains of arithmetic, quotients and remainders."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression, statements
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.arrays import Array, Elements, Value, line_draft
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.literals import literal

TYPES = {"int": 4.0, "uint": 3.0, "short": 1.0, "ushort": 1.0, "uchar": 1.0, "char": 0.7, "long": 1.0, "ulong": 1.0}


@family("integer_arithmetic", group="integers")
def integer_arithmetic(draw: Draw) -> Draft:
    """Generate sums, products, shifts and masks of several arrays, through temporaries and small functions."""
    habits = hand(draw)
    type_ = draw.weighted({**TYPES, "int4": 0.8, "uint2": 0.6, "ushort4": 0.5, "uchar8": 0.5, "int8": 0.4}, "type")
    inputs = [f"a{k}" for k in range(draw.integer(1, 4))]
    lines = [f"{type_} x{k} = {a}[i];" for k, a in enumerate(inputs)]
    known = [f"x{k}" for k in range(len(inputs))]
    before = ""
    if draw.chance(0.35, "function"):
        body = expression(draw, ["p", "q"], type_, draw.integer(2, 4))
        before = f"static {type_} stir({type_} p, {type_} q)\n{{\n    return {body};\n}}\n"
        lines.append(f"{type_} s = stir({draw.choose(known)}, {draw.choose(known)});")
        known.append("s")
    more, temporaries = statements(draw, known, type_, draw.weighted({0: 1.0, 2: 2.0, 4: 2.0, 8: 1.0, 16: 0.5}), 3)
    lines += more
    if draw.chance(0.3, "rounds"):
        rounds = draw.choose((2, 4, 8, 16))
        step = expression(draw, ["r", *known], type_, 3)
        lines.append(f"{type_} r = {known[0]};\nfor (int k = 0; k < {rounds}; k++) {{\n    r = {step};\n}}")
        known.append("r")
    outputs = [f"b{k}" for k in range(draw.weighted({1: 3.0, 2: 1.0}))]
    last = [*temporaries[-2:], known[-1]]
    lines += [f"{o}[i] = {expression(draw, last, type_, draw.integer(1, 3))};" for o in outputs]
    arrays = [*(Array(a, type_) for a in inputs), *(Array(o, type_, True) for o in outputs)]
    return line_draft(draw, habits, Elements("mix_integers", arrays, "\n".join(lines), (), None, before))


def looped(count: int, body: str) -> list[str]:
    return [f"for (int k = 0; k < {count}; k++) {{", body, "}"]


@family("division_and_remainder", group="integers")
def division_and_remainder(draw: Draw) -> Draft:
    """Quotients and remainders by numbers known when compiling, by arguments, by another array."""
    habits = hand(draw)
    type_ = draw.weighted({"int": 4.0, "uint": 3.0, "ulong": 1.0, "long": 1.0, "ushort": 1.0, "short": 0.6}, "type")
    divisor = draw.choose(("literal", "argument", "array", "power", "macro", "index"), "divisor")
    known = draw.choose((3, 5, 6, 7, 9, 10, 12, 13, 24, 60, 100, 255, 365, 1000, 1001))
    values, before = [], ""
    arrays = [Array("a", type_, fill=draw.choose((None, ("randint", 0, 30000))))]
    match divisor:
        case "argument":
            values = [Value("d", type_, lambda d: d.log_integer(2, 5000))]
            by = "d"
        case "array":
            arrays.append(Array("by", type_, fill=("randint", 1, draw.choose((10, 1000, 30000)))))
            by = "by[i]"
        case "power":
            by = literal(type_, 1 << draw.integer(1, 10))
        case "macro":
            before = f"#define PARTS {known}\n"
            by = "PARTS"
        case "index":
            by = f"({type_})((i & {draw.choose((7, 31, 63))}) + {draw.integer(1, 9)})"
        case _:
            by = literal(type_, known)
    turn = "p = q;\nq = t;"
    forms = {
        "both": [f"{type_} q = x / {by};", f"{type_} r = x % {by};", "out[i] = q + r * 3;"],
        "pair": [f"out[i] = x / {by};", f"rest[i] = x % {by};"],
        "subtracted": [f"{type_} q = x / {by};", f"out[i] = x - q * {by};"],
        "rounded": [f"out[i] = (x + {by} - 1) / {by} * {by};"],
        "nearest": [f"out[i] = (x + {by} / 2) / {by};"],
        "nested": [f"out[i] = x / {by} / {draw.choose((3, 10, 16))} % {draw.choose((7, 10, 100))};"],
        "test": [f"out[i] = x % {by} == 0 ? x / {by} : x;"],
        "wrapped": [f"out[i] = (x % {by} + {by}) % {by};"],
        "digits": [f"{type_} s = 0;", *looped(draw.choose((3, 5, 8)), f"s += x % {by};\nx /= {by};"), "out[i] = s;"],
        "until": [f"int k = 0;\nwhile (x > {by} && k < 40) {{\nx = x / {by} + x % 3;\nk++;\n}}", "out[i] = x + k;"],
        "euclid": [f"{type_} p = x, q = {by};", f"while (q != 0) {{\n{type_} t = p % q;\n{turn}\n}}", "out[i] = p;"],
        "reciprocal": [f"out[i] = ({type_})((float)x * (1.0f / (float)({by})) + 0.5f);"],
        "shifted": [f"out[i] = ({type_})(((ulong)x * {0xAAAAAAAB}UL) >> 33) + x / {by};"],
    }  # fmt: skip
    form = draw.choose(tuple(forms), "form")
    lines = [f"{type_} x = a[i]{draw.choose(('', ' + 12345', ' * 37'))};"]
    if type_ in ("int", "long", "short") and form in ("euclid", "until"):
        lines.append(f"x = ({type_})abs(x);" if type_ != "short" else "x &= 0x7fff;")
    lines += forms[form]
    arrays.append(Array("out", type_, True))
    if form == "pair":
        arrays.append(Array("rest", type_, True))
    each = {"digits": 60.0, "until": 60.0, "euclid": 90.0}.get(form, 14.0)
    return line_draft(draw, habits, Elements("divide", arrays, "\n".join(lines), values, lambda _: each, before))
