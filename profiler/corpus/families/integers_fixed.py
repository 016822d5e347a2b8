"""Numbers with a fixed point, and arithmetic that stops at a type's ends."""

from __future__ import annotations

import re

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.arrays import Array, Elements, line_draft
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.literals import BITS


@family("fixed_point", group="integers")
def fixed_point(draw: Draw) -> Draft:
    """Numbers with so many bits behind the point: products, quotients, roots, series, rounding and saturation."""
    habits = hand(draw)
    word = draw.weighted({"int": 4.0, "short": 2.0, "uint": 1.0}, "type")
    bits = draw.choose((4, 7, 8, 10, 12, 15) if word == "short" else (8, 10, 12, 14, 16, 20, 24), "fraction_bits")
    wide = {"int": "long", "short": "int", "uint": "ulong"}[word]
    rounded = draw.choose(("cut", "half", "toward_zero" if word != "uint" else "half"), "rounding")
    style = draw.choose(("macros", "functions", "functions"), "style")
    half = f" + (1 << {bits - 1})" if rounded == "half" else ""
    product = f"({word})((({wide})a * b{half}) >> {bits})"
    if rounded == "toward_zero":
        product = f"({word})((({wide})a * b) / (({wide})1 << {bits}))"
    if word == "int" and draw.chance(0.2, "high_half"):
        product = f"((mul_hi(a, b) << {32 - bits}) | (int)((uint)(a * b) >> {bits}))"
    if draw.chance(0.3, "saturated") and product.startswith(f"({word})"):
        product = f"convert_{word}_sat{product.removeprefix(f'({word})')}"
    quotient = f"({word})((({wide})a << {bits}) / (b | 1))"
    if style == "macros":
        before = f"#define MUL(a, b) ({_bracketed(product)})\n#define DIV(a, b) ({_bracketed(quotient)})\n"
    else:
        head = draw.choose(("static", "static inline"))
        before = f"{head} {word} MUL({word} a, {word} b)\n{{\n    return {product};\n}}\n"
        before += f"{head} {word} DIV({word} a, {word} b)\n{{\n    return {quotient};\n}}\n"
    one = 1 << bits
    kinds = {
        "product": ["r = MUL(x, y);"],
        "quotient": ["r = DIV(x, y);"],
        "polynomial": ["r = {c};", *["r = MUL(r, x) + {c};"] * draw.integer(2, 6)],
        "lerp": ["r = x + MUL(y - x, {c});"],
        "filter": ["r = MUL(x, {c}) + MUL(y, {c}) + MUL(z, {c});"],
        "root": ["r = x;", f"for (int k = 0; k < {draw.choose((3, 5, 8))}; k++) {{\n    r = (r + DIV(x, r)) / 2;\n}}"],
        "power": ["r = {c};", f"for (int k = 0; k < {draw.choose((2, 4, 7))}; k++) {{\n    r = MUL(r, x) >> 1;\n}}"],
        "complex": ["r = MUL(x, y) - MUL(z, x);", "q = MUL(x, x) + MUL(y, z);"],
        "ratio": ["r = DIV(MUL(x, y), z);"],
        "wave": ["r = x - DIV(MUL(MUL(x, x), x), {c}) + MUL(x, {c});"],
    }
    chosen = draw.choose(tuple(kinds), "formula")

    def numbered(line: str) -> str:
        while "{c}" in line:
            line = line.replace("{c}", str(max(1, int(one * draw.real(0.1, 0.9)))), 1)
        return line

    inputs = "xyz" if "z" in "".join(kinds[chosen]) else "xy"
    scale = draw.choose(("", f" << {max(0, bits - 5)}", " * 3 + 1"))
    lines = [f"{word} {c} = ({word})(in_{c}[i]{scale});" for c in inputs]
    lines += [f"{word} r, q = 0;", *(numbered(line) for line in kinds[chosen])]
    lines.append(f"out[i] = {'r' if 'q =' not in lines[-1] else 'r ^ q'};")
    arrays = [*(Array(f"in_{c}", word, fill=("randint", 1, 120)) for c in inputs), Array("out", word, True)]
    if draw.chance(0.25, "to_float"):
        lines.append(f"real[i] = (float)r * {1.0 / one:.6g}f;")
        arrays.append(Array("real", "float", True))
    each = 8.0 * len(lines) + (60 if "DIV" in "".join(lines) else 0)
    return line_draft(draw, habits, Elements("fixed_point", arrays, "\n".join(lines), (), lambda _: each, before))


def _bracketed(text: str) -> str:
    """Generate the same of a macro's arguments, which may be sums."""
    return re.sub(r"\b([ab])\b", r"(\1)", text)


@family("saturating_arithmetic", group="integers")
def saturating_arithmetic(draw: Draw) -> Draft:
    """Results that stop at a type's ends: by the built-in functions, by hand, or by a wider type."""
    habits = hand(draw)
    type_ = draw.weighted({"uchar": 3.0, "char": 1.0, "short": 2.0, "ushort": 1.0, "int": 1.0, "uint": 1.0}, "type")
    width = draw.weighted({"": 3.0, "2": 0.5, "4": 2.0, "8": 1.0, "16": 1.0}, "width")
    whole = f"{type_}{width}"
    wide = {"uchar": "int", "char": "int", "short": "int", "ushort": "int", "int": "long", "uint": "long"}[type_]
    bits = BITS[type_.removeprefix("u")]
    low, high = (0, 2**bits - 1) if type_[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    suffix = "L" if wide == "long" else ""
    count = draw.integer(2, 4)
    names = [f"x{k}" for k in range(count)]
    lines = [f"{whole} {n} = {f'a{k}[i]'};" for k, n in enumerate(names)]

    def step(a: str, b: str) -> str:
        kind = draw.choose(("add_sat", "sub_sat", "hadd", "rhadd", "abs_diff", "wide", "scaled", "max", "mul"))
        match kind:
            case "wide" | "scaled" | "mul":
                sign = {"wide": draw.choose("+-"), "mul": "*"}.get(kind)
                inner = f"convert_{wide}{width}({a}) {sign} convert_{wide}{width}({b})"
                if kind == "scaled":
                    left = f"convert_{wide}{width}({a}) * {draw.integer(2, 9)}"
                    inner = f"({left} + convert_{wide}{width}({b})) >> {draw.integer(1, 4)}"
                if width or draw.chance(0.5):
                    return f"convert_{whole}_sat({inner})"
                return f"({type_})clamp({inner}, ({wide})({low}{suffix}), ({wide}){high}{suffix})"
            case "abs_diff":
                return f"convert_{whole}_sat(abs_diff({a}, {b}))"
        return f"{kind}({a}, {b})"

    steps = draw.integer(2, 6)
    for k in range(steps):
        a, b = draw.choose(names), draw.choose(names)
        lines.append(f"{whole} t{k} = {step(a, b)};")
        names = [*names[-3:], f"t{k}"]
    lines.append(f"out[i] = {step(names[-1], names[-2])};")
    arrays = [*(Array(f"a{k}", whole) for k in range(count)), Array("out", whole, True)]
    return line_draft(draw, habits, Elements("saturate", arrays, "\n".join(lines)))
