"""Numbers of several words, powers with a modulus, sequences."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.arrays import Array, Elements, Value, Values, line_draft
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.literals import literal
from profiler.corpus.writing.walk import walk


@family("wide_integers", group="integers")
def wide_integers(draw: Draw) -> Draft:
    """Numbers of several words: sums with carries, products, shifts, comparisons; word by word or number by number."""
    habits = hand(draw)
    words = draw.choose((2, 3, 4, 4, 6, 8), "words")
    type_ = draw.weighted({"uint": 3.0, "ulong": 1.0}, "type")
    layout = draw.choose(("together", "apart"), "layout")
    form = draw.choose(
        ("sum", "difference", "product", "shift", "compare", "square_sum", "scaled", "modular"), "operation"
    )
    carry = draw.choose(("compare", "wider") if type_ == "uint" else ("compare",), "carry")
    unrolled = draw.chance(0.4, "unrolled")

    def place(name: str, k: str) -> str:
        return f"{name}[i * {words} + {k}]" if layout == "together" else f"{name}[i + ({k}) * n]"

    def loop(body: str, first: int = 0) -> str:
        if unrolled and words <= 4:
            return "\n".join("{\n" + body.replace("@", str(k)) + "\n}" for k in range(first, words))
        return f"for (int k = {first}; k < {words}; k++) {{\n{body.replace('@', 'k')}\n}}"

    a, b, c = (place(name, "@") for name in "abc")
    shift = draw.integer(1, 31)
    bits = 32 if type_ == "uint" else 64
    lines = []
    match form:
        case "sum" | "modular" if carry == "wider":
            lines.append("ulong carry = 0;")
            lines.append(loop(f"carry += (ulong){a} + {b};\n{c} = (uint)carry;\ncarry >>= 32;"))
        case "sum" | "modular":
            lines.append(f"{type_} carry = 0;")
            lines.append(loop(f"{type_} s = {a} + carry;\ncarry = s < carry;\ns += {b};\ncarry += s < {b};\n{c} = s;"))
        case "difference":
            lines.append(f"{type_} borrow = 0;")
            step = f"{type_} x = {a}, y = {b};\n{type_} d = x - y - borrow;"
            lines.append(loop(f"{step}\nborrow = borrow ? x <= y : x < y;\n{c} = d;"))
        case "shift":
            lines.append(f"{type_} low = 0;")
            lines.append(loop(f"{type_} x = {a};\n{c} = (x << {shift}) | low;\nlow = x >> {bits - shift};"))
        case "compare":
            lines.append("int less = 0, more = 0;")
            lines.append(loop(f"{type_} x = {a}, y = {b};\nif (!less && !more) {{\nless = x < y;\nmore = x > y;\n}}"))
            lines.append(loop(f"{c} = less ? {a} : {b};"))
        case "scaled":
            lines.append(f"{type_} carry = 0;")
            step = f"{type_} x = {a};\n{type_} p = x * {draw.choose((10, 3, 1000003))} + carry;"
            lines.append(loop(f"{step}\ncarry = mul_hi(x, ({type_}){draw.choose((10, 3))});\n{c} = p;"))
        case _:
            # Schoolbook, of which the low words are kept.
            lines.append(f"{type_} r[{words}];\nfor (int k = 0; k < {words}; k++) r[k] = 0;")
            inner = f"{type_} x = {place('a', 'j')}, y = {place('b' if form == 'product' else 'a', 'k')};\n"
            inner += f"{type_} low = x * y, high = mul_hi(x, y);\nlow += carry;\nhigh += low < carry;\n"
            inner += "r[j + k] += low;\nhigh += r[j + k] < low;\ncarry = high;"
            lines.append(f"for (int j = 0; j < {words}; j++) {{\n{type_} carry = 0;")
            lines.append(f"for (int k = 0; k + j < {words}; k++) {{\n{inner}\n}}\n}}")
            lines.append(f"for (int k = 0; k < {words}; k++) {place('c', 'k')} = r[k];")
    if form == "modular":
        lines.append(loop(f"{c} = carry ? {c} ^ {literal(type_, draw.integer(3, 99))} : {c};"))
    text = "\n".join(lines)
    arrays = [Array("a", type_, per=words), Array("b", type_, per=words), Array("c", type_, True, per=words)]
    each = 7.0 * words if form not in ("product", "square_sum") else 5.0 * words * words
    way = walk(draw, habits, exact=layout != "apart")
    return line_draft(draw, habits, Elements(f"wide_{form}", arrays, text, (), lambda _: each), way)


@family("modular_powers", group="integers")
def modular_powers(draw: Draw) -> Draft:
    """Powers and inverses with a modulus, step by step over the exponent's bits; sequences defined by a recurrence."""
    habits = hand(draw)
    type_ = draw.choose(("uint", "uint", "ulong", "int"), "type")
    modulus = draw.choose((97, 251, 1009, 7919, 10007, 32749))
    form = draw.choose(("power", "recurrence", "inverse", "collatz", "divisors", "root", "fibonacci"), "form")
    limit = draw.choose((8, 16, 32, 64), "limit")
    values: list[Value] = []
    mod = literal(type_, modulus)
    if draw.chance(0.5, "modulus_argument"):
        values.append(Value("m", type_, lambda d: d.log_integer(50, 30000)))
        mod = "m"
    match form:
        case "power":
            values.append(Value("e", "uint", lambda d: d.log_integer(2, 1 << 20)))
            turn = f"if (left & 1) r = r * x % {mod};\nx = x * x % {mod};\nleft >>= 1;"
            lines = [f"x %= {mod};", f"{type_} r = 1;\nuint left = e;\nwhile (left) {{\n{turn}\n}}", "out[i] = r;"]
            each = 150.0
        case "recurrence":
            turn = f"x = (x * {draw.choose((75, 171, 16))} + {draw.choose((74, 13, 1))}) % {mod};"
            lines = [f"for (int k = 0; k < {limit}; k++) {{\n{turn}\n}}", "out[i] = x;"]
            each = 12.0 * limit
        case "inverse":
            turn = f"{type_} q = s / (t + (t == 0));\n{type_} z = s - q * t;\ns = t;\nt = z;"
            turn += "\nz = u - q * v;\nu = v;\nv = z;"
            lines = [f"{type_} s = {mod}, t = x % {mod}, u = 0, v = 1;"]
            lines += [f"for (int k = 0; k < {limit} && t != 0; k++) {{\n{turn}\n}}", "out[i] = u;"]
            each = 100.0
        case "collatz":
            turn = draw.choose(
                ("x = (x & 1) ? 3 * x + 1 : x / 2;", "if (x & 1)\n    x = 3 * x + 1;\nelse\n    x >>= 1;")
            )
            lines = [f"int k = 0;\nx += 1;\nwhile (x > 1 && k < {limit * 4}) {{\n{turn}\nk++;\n}}", "out[i] = k;"]
            each = 60.0
        case "divisors":
            test = draw.choose(("x % d == 0", "x - x / d * d == 0"))
            lines = [f"{type_} found = 0;\nx = (x & 4095) + 2;"]
            lines += [
                f"for ({type_} d = 2; d * d <= x; d++) {{\nif ({test}) {{\nfound = d;\nbreak;\n}}\n}}",
                "out[i] = found;",
            ]
            each = 100.0
        case "root":
            lines = [f"{type_} low = 0, high = 65535;\nwhile (low < high) {{\n{type_} mid = (low + high + 1) / 2;"]
            lines += [
                "if (mid <= x / (mid + (mid == 0)))\n    low = mid;\nelse\n    high = mid - 1;\n}",
                "out[i] = low;",
            ]
            each = 200.0
        case _:
            lines = [f"{type_} p = 0, q = 1;\nint turns = (int)(x & {limit - 1});"]
            lines += [
                f"for (int k = 0; k < turns; k++) {{\n{type_} z = (p + q) % {mod};\np = q;\nq = z;\n}}",
                "out[i] = p;",
            ]
            each = 8.0 * limit
    fill = draw.choose((None, ("randint", 0, 30000), ("skewed", 0, 30000), ("clustered", 0, 30000, 5)))
    arrays = [Array("a", type_, fill=fill), Array("out", type_, True)]
    text = "\n".join([f"{type_} x = a[i];", *lines])
    values = [v for v in values if v.name != "m" or mod in text.replace("mid", "")]

    def operations(given: Values) -> float:
        return each

    return line_draft(draw, habits, Elements(f"modular_{form}", arrays, text, values, operations))
