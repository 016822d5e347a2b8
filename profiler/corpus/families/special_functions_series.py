"""Special functions approximated, or summed as series until they converge."""

from __future__ import annotations

import re

from profiler.corpus.composing.coverage import draw_coverage
from profiler.corpus.composing.drafting import Buffer, Parameter, Parts, Scalar, drafted, each, flat
from profiler.corpus.composing.hand import Hand
from profiler.corpus.draw import Draw
from profiler.corpus.expressions import cost
from profiler.corpus.families.special_functions import FAST
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.types import base_type, lanes


@family("converging_series", group="special_functions")
def converging_series(draw: Draw) -> Draft:
    """Series and continued fractions summed until the terms are small, within a bound."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    real = draw.weighted({"float": 3.0, "double": 1.0}, "type")
    cover = draw_coverage(draw, hand)
    x, out, i = hand.name("input"), hand.name("output"), cover.index
    one, half = hand.literal(1, real), hand.literal(0.5, real)
    series = {
        "exponential": ("1", "t *= z / k2;"),
        "sine": ("z", "t *= -z * z / ((2 * k2) * (2 * k2 + 1));"),
        "cosine": ("1", "t *= -z * z / ((2 * k2 - 1) * (2 * k2));"),
        "bessel": ("1", "t *= -z * z * 0.25 / (k2 * k2);"),
        "error": ("z", "t *= -z * z * (2 * k2 - 1) / (k2 * (2 * k2 + 1));"),
        "geometric": ("1", "t *= z * 0.45;"),
        "logarithm": ("z * 0.4", "t *= -z * 0.4 * k2 / (k2 + 1);"),
        "arctangent": ("z * 0.5", "t *= -z * z * 0.25 * (2 * k2 - 1) / (2 * k2 + 1);"),
        "gamma": ("1", "t *= z / (1.5 + k2);"),
        "hypergeometric": ("1", "t *= z * 0.5 * (0.5 + k2) * (0.75 + k2) / ((1.5 + k2) * k2);"),
        "zeta": ("1", "t = 1.0 / pow(k2 + 1.0, z + 1.5);"),
        "dilogarithm": ("z * 0.5", "t *= z * 0.5 * (k2 * k2) / ((k2 + 1.0) * (k2 + 1.0));"),
        "theta": ("1", "t = exp(-z * k2 * k2) * 2;"),
        "fourier": ("0", "t = sin((2 * k2 - 1) * z) / (2 * k2 - 1);"),
    }
    kind = draw.choose(tuple(series), "series")
    start, step = series[kind]
    if real == "float":
        start, step = (re.sub(r"(\d\.\d+)", r"\1f", text) for text in (start, step))
    step = (
        step.replace("/ (k2", f"/ ({real})(k2")
        .replace("/ ((", f"/ ({real})((")
        .replace("* k2)", f"* ({real})k2)")
        .replace("pow(k2", f"pow(({real})k2")
    )
    tolerance = hand.literal(draw.choose((1e-3, 1e-4, 1e-5, 1e-6)), real)
    limit = hand.constant("max terms", str(draw.choose((10, 20, 30, 50, 100, 200))))
    loops = {
        "for_break": (
            f"for (int k2 = 1; k2 < {limit}; k2++) {{\n{step}\nsum2 += t;\nif (fabs(t) < {tolerance}) break;\n}}"
        ),
        "while": f"int k2 = 1;\nwhile (fabs(t) > {tolerance} && k2 < {limit}) {{\n{step}\nsum2 += t;\nk2++;\n}}",
        "relative": (
            f"for (int k2 = 1; k2 < {limit} && fabs(t) > {tolerance} * (fabs(sum2) + {half}); ++k2) "
            f"{{\n{step}\nsum2 += t;\n}}"
        ),
        "fixed": f"for (int k2 = 1; k2 <= {draw.choose((6, 8, 12, 16))}; k2++) {{\n{step}\nsum2 += t;\n}}",
        "do": f"int k2 = 1;\ndo {{\n{step}\nsum2 += t;\n}} while (++k2 < {limit} && fabs(t) > {tolerance});",
        "kahan": (
            f"{real} low2 = 0;\nfor (int k2 = 1; k2 < {limit}; k2++) {{\n{step}\n"
            f"const {real} y2 = t - low2, w2 = sum2 + y2;\nlow2 = (w2 - sum2) - y2;\nsum2 = w2;\n"
            f"if (fabs(t) < {tolerance}) break;\n}}"
        ),
    }
    fractions = {
        "fraction": (
            f"{real} f2 = 0;\nfor (int k2 = {draw.choose((8, 16, 32))}; k2 > 0; k2--) f2 = k2 * z / "
            f"(k2 + {one} + f2);\nsum2 += f2;"
        ),
        "lentz": (
            f"{real} c2 = z + {one}, d2 = 0;\nfor (int k2 = 1; k2 < {limit}; k2++) {{\n"
            f"d2 = {one} / (z + k2 + k2 * d2);\nc2 = z + k2 + k2 / c2;\nconst {real} r2 = c2 * d2;\n"
            f"sum2 = clamp(sum2 * r2, -{hand.literal(1000, real)}, {hand.literal(1000, real)});\n"
            f"if (fabs(r2 - {one}) < {tolerance}) break;\n}}"
        ),
        "agm": (
            f"{real} g2 = {half}, h2 = z + {one};\nfor (int k2 = 0; k2 < 12; k2++) {{\n"
            f"const {real} m2 = (g2 + h2) * {half};\ng2 = sqrt(g2 * h2);\nh2 = m2;\n"
            f"if (fabs(h2 - g2) < {tolerance}) break;\n}}\nsum2 = h2;"
        ),
    }
    form = draw.choose((*loops, *fractions), "form")
    core = {**loops, **fractions}[form]
    spread = draw.choose(("", f" * {half}", f" + {half}"))
    helper, text = "", f"{real} t = {start};\n{real} sum2 = t;\n{core}"
    if draw.chance(0.4, "helper"):
        helper = f"{hand.inline}{real} {kind}_sum(const {real} z)\n{{\n{text}\nreturn sum2;\n}}"
        text = f"const {real} sum2 = {kind}_sum(z);"
    body = f"const {real} z = {x}[{i}]{spread};\n{text}\n{out}[{i}] = sum2;"
    parameters = [Buffer(x, real, each), Buffer(out, real, each, None, True)]
    work = flat((8 + cost(step)) * 14)
    return drafted(
        draw, hand, Parts((kind, "series"), cover, parameters, body, work, helper, options=draw.choose(FAST))
    )


@family("function_approximations", group="special_functions")
def function_approximations(draw: Draw) -> Draft:
    """Rational and polynomial stand-ins for functions, with the range reduced first."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    type_ = draw.choose(("float", "float", "float4", "double", "float2"), "type")
    cover = draw_coverage(draw, hand)
    x, out, i = hand.name("input"), hand.name("output"), cover.index

    def lit(value: float) -> str:
        return hand.literal(value, type_)

    numerator = [round(draw.real(-1, 1), 4) for _ in range(draw.integer(2, 6))]
    denominator = [round(draw.real(0.05, 0.9), 4) for _ in range(draw.integer(1, 5))]

    def horner(numbers: list[float]) -> str:
        text = lit(numbers[0])
        for number in numbers[1:]:
            text = (
                f"({text}) * w2 + {lit(number)}"
                if hand.multiply_add == "plain" or lanes(type_) > 1
                else hand.add_product(text, "w2", lit(number))
            )
        return text

    reductions = {
        "none": f"{type_} w2 = t;",
        "square": f"{type_} w2 = t * t;",
        "fraction": f"{type_} w2 = t - floor(t);",
        "halves": f"{type_} w2 = t * {lit(0.5)} - {lit(0.5)};",
        "inverse": f"{type_} w2 = {lit(1)} / ({lit(1)} + {lit(0.3275911)} * fabs(t));",
        "pi": f"{type_} w2 = t - {lit(6.2831853)} * floor(t * {lit(0.15915494)} + {lit(0.5)});",
        "ratio": f"{type_} w2 = (t - {lit(1)}) / (t + {lit(1)});",
    }
    reduction = draw.choose(tuple(reductions), "reduction")
    finishes = {
        "rational": f"({horner(numerator)}) / (fabs({horner(denominator)}) + {lit(0.5)})",
        "polynomial": horner(numerator),
        "gaussian": f"{lit(1)} - ({horner(numerator)}) * exp(-t * t)",
        "squared": f"({horner(numerator)}) * ({horner(numerator)})",
        "odd": f"w2 * ({horner(numerator)})",
        "difference": f"({horner(numerator)}) - {draw.choose(('sin', 'exp', 'tanh', 'sqrt'))}(t)".replace(
            "exp(t)", "exp(-t)"
        ),
        "root": f"sqrt(fabs({horner(numerator)}) + {lit(0.01)})",
    }
    finish = draw.choose(tuple(finishes), "finish")
    branch = draw.chance(0.3, "piecewise") and lanes(type_) == 1
    other = [round(draw.real(-1, 1), 3) for _ in range(draw.integer(2, 5))]
    compute = f"{type_} r2 = {finishes[finish]};"
    if branch:
        compute = (
            f"{type_} r2;\nif (t < {lit(round(draw.real(0.7, 1.3), 2))}) r2 = {finishes[finish]};\n"
            f"else r2 = {horner(other)};"
        )
    helper = ""
    text = f"{reductions[reduction]}\n{compute}"
    if draw.chance(0.5, "helper"):
        helper = f"{hand.inline}{type_} approx({type_} t)\n{{\n{text}\nreturn r2;\n}}"
        text = f"{type_} r2 = approx(t);"
    repeats = draw.weighted({1: 4.0, 4: 1.0, 16: 1.0}, "points")
    parameters: list[Parameter] = [Buffer(x, type_, each), Buffer(out, type_, each, None, True)]
    if repeats > 1:
        text = (
            f"{type_} total = t * {lit(0)};\nfor (int k2 = 0; k2 < {repeats}; k2++) {{\n{text}\n"
            f"total += r2;\nt = t * {lit(0.75)} + {lit(0.25)};\n}}"
        )
    result = "total" if repeats > 1 else "r2"
    if draw.chance(0.25, "scaled"):
        gain = hand.name("gain")
        parameters.append(Scalar(gain, base_type(type_), lambda d: round(d.log_real(0.1, 3), 3)))
        result = f"{gain} * {result}"
    body = f"{type_} t = {x}[{i}];\n{text}\n{out}[{i}] = {result};"
    work = flat((8 + cost(text)) * repeats * lanes(type_))
    return drafted(
        draw, hand, Parts(("approx", finish), cover, parameters, body, work, helper, options=draw.choose(FAST))
    )
