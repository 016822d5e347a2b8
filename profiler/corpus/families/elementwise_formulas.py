"""Formulae of one field or another, evaluated for each element: activations, colours, money, physics, densities."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.arrays import Array, Elements, Value, Values, line_draft
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.literals import literal, split_type

# {x} a value of the array, {a} an argument of about 1, {f:..} would be a literal: numbers are written as for floats.
ACTIVATIONS: Mapping[str, str] = {
    "relu": "fmax({x}, 0.0f)",
    "leaky": "{x} > 0.0f ? {x} : 0.01f * {x}",
    "parametric": "{x} > 0.0f ? {x} : {a} * {x}",
    "elu": "{x} > 0.0f ? {x} : {a} * (exp({x}) - 1.0f)",
    "elu_expm1": "{x} >= 0.0f ? {x} : {a} * expm1({x})",
    "selu": "1.0507f * ({x} > 0.0f ? {x} : 1.67326f * (exp({x}) - 1.0f))",
    "sigmoid": "1.0f / (1.0f + exp(-{x}))",
    "hard_sigmoid": "clamp({x} / 6.0f + 0.5f, 0.0f, 1.0f)",
    "tanh": "tanh({x})",
    "hard_tanh": "fmin(fmax({x}, -1.0f), 1.0f)",
    "softplus": "log(1.0f + exp({x}))",
    "softplus_stable": "fmax({x}, 0.0f) + log1p(exp(-fabs({x})))",
    "softsign": "{x} / (1.0f + fabs({x}))",
    "swish": "{x} / (1.0f + exp(-{a} * {x}))",
    "hard_swish": "{x} * clamp({x} + 3.0f, 0.0f, 6.0f) / 6.0f",
    "mish": "{x} * tanh(log1p(exp({x})))",
    "gelu": "0.5f * {x} * (1.0f + erf({x} * 0.70710678f))",
    "gelu_tanh": "0.5f * {x} * (1.0f + tanh(0.7978846f * ({x} + 0.044715f * {x} * {x} * {x})))",
    "relu6": "fmin(fmax({x}, 0.0f), 6.0f)",
    "celu": "fmax(0.0f, {x}) + fmin(0.0f, {a} * (exp({x} / {a}) - 1.0f))",
    "step": "{x} >= {a} ? 1.0f : 0.0f",
    "gaussian": "exp(-{x} * {x})",
    "sinc": "fabs({x}) < 1e-3f ? 1.0f : sin({x}) / {x}",
    "square": "{x} > 0.0f ? {x} * {x} : 0.0f",
    "log_sigmoid": "-log1p(exp(-{x}))",
    "threshold": "{x} > {a} ? {x} : 0.0f",
    "bent": "(sqrt({x} * {x} + 1.0f) - 1.0f) * 0.5f + {x}",
    "arctan": "atan({x})",
}
FINANCE: Mapping[str, str] = {
    "compound": "{x} * pow(1.0f + 0.03f * {y}, {z} * 5.0f)",
    "present_value": "{x} / pow(1.0f + 0.05f * {y}, {z})",
    "continuous": "{x} * exp(-0.04f * {y} * {z})",
    "instalment": "{x} * (0.01f * {y}) / (1.0f - pow(1.0f + 0.01f * {y}, -12.0f * {z}))",
    "log_return": "log({x} / {y})",
    "ratio": "({x} - 0.02f) / ({y} + 0.1f)",
    "forward_rate": "(({x} * {y} - 0.5f * {z}) / ({y} + 0.5f))",
    "drawdown": "fmax(0.0f, ({x} - {y}) / {x})",
    "utility": "(pow({x}, 1.0f - 0.5f * {y}) - 1.0f) / (1.01f - 0.5f * {y})",
    "tax": "{x} < 0.7f ? 0.1f * {x} : ({x} < 1.1f ? 0.07f + 0.25f * ({x} - 0.7f) : 0.17f + 0.42f * ({x} - 1.1f))",
    "spread": "({x} - {y}) / (0.5f * ({x} + {y}))",
    "duration": "{y} * exp(-{x} * {y}) / (1.0f + 0.5f * {z})",
}
PHYSICS: Mapping[str, str] = {
    "ideal_gas": "{x} * 8.314f * {y} / {z}",
    "waals": "8.314f * {x} / ({y} + 0.4f) - 0.3f / ({y} * {y})",
    "kinetic": "0.5f * {x} * {y} * {y}",
    "lorentz": "1.0f / sqrt(1.0f - 0.2f * {x} * {x})",
    "planck": "{x} * {x} * {x} / (exp({x} / {y}) - 1.0f)",
    "lens": "1.0f / (1.0f / {x} + 1.0f / ({y} + 0.3f))",
    "drag": "-0.5f * {x} * fabs({y}) * {y}",
    "pair_potential": "4.0f * {x} * (pow({y}, -12.0f) - pow({y}, -6.0f)) * 0.01f",
    "morse": "{x} * (1.0f - exp(-{y} * ({z} - 1.0f))) * (1.0f - exp(-{y} * ({z} - 1.0f)))",
    "doppler": "{x} * sqrt((1.0f + 0.3f * {y}) / (1.0f - 0.3f * {y}))",
    "pendulum": "6.2832f * sqrt({x} / 9.81f) * (1.0f + {y} * {y} / 16.0f)",
    "arrhenius": "{x} * exp(-{y} / (0.5f + {z}))",
    "saturation": "6.112f * exp(17.67f * {x} / ({x} + 243.5f))",
    "arc": "2.0f * asin(sqrt(pown(sin(0.5f * ({x} - {y})), 2) + cos({x}) * cos({y}) * 0.1f * {z}))",
    "reynolds": "{x} * {y} * 0.3f / (0.001f + {z})",
    "decay": "{x} * exp2(-{y} / {z})",
    "fresnel": "0.04f + 0.96f * pow(1.0f - 0.5f * {x}, 5.0f)",
    "debye": "{x} * exp(-{y} * 0.9f) / ({y} * 12.566f)",
}
DENSITIES: Mapping[str, str] = {
    "normal": "0.39894228f * exp(-0.5f * {x} * {x})",
    "normal_scaled": "exp(-0.5f * ({x} - {a}) * ({x} - {a}) / ({y} * {y})) / ({y} * 2.5066283f)",
    "cauchy": "0.31830989f / ({y} * (1.0f + {x} * {x}))",
    "laplace": "0.5f * exp(-fabs({x} - {a}))",
    "logistic": "exp(-{x}) / ((1.0f + exp(-{x})) * (1.0f + exp(-{x})))",
    "exponential": "{a} * exp(-{a} * {x})",
    "weibull": "{a} * pow({x}, {a} - 0.5f) * exp(-pow({x}, {a}))",
    "gamma_like": "pow({x}, {a}) * exp(-{x})",
    "rayleigh": "{x} * exp(-0.5f * {x} * {x})",
    "gumbel": "exp(-({x} + exp(-{x})))",
    "log_normal": "exp(-0.5f * log({x}) * log({x})) / {x}",
    "cumulative": "0.5f * erfc(-{x} * 0.70710678f)",
    "student": "pow(1.0f + {x} * {x} / 3.0f, -2.0f)",
    "entropy": "-{x} * log({x} + 1e-3f)",
    "huber": "fabs({x}) < {a} ? 0.5f * {x} * {x} : {a} * (fabs({x}) - 0.5f * {a})",
}


def written_for(text: str, type: str, native: bool) -> str:
    """Generate a formula for floats in another type, or with the fast variants of its functions."""
    base = split_type(type)[0]
    if native and base == "float":
        for word in ("exp(", "sqrt(", "log(", "sin(", "cos("):
            text = text.replace(f" {word}", f" native_{word}").replace(f"({word}", f"(native_{word}")
    if base == "double":
        return "".join(c for k, c in enumerate(text) if not (c == "f" and k and text[k - 1].isdigit()))
    return text


def _formulas(draw: Draw, title: str, formulas: Mapping[str, str], inputs: int, spread: tuple[float, float]) -> Draft:
    habits = hand(draw)
    type_ = draw.weighted({"float": 4.0, "double": 1.0}, "type")
    names = draw.sample(tuple(formulas), draw.weighted({1: 4.0, 2: 2.0, 3: 1.0}, "formulas"))
    draw.choices["formula"] = " ".join(names)
    native = draw.chance(0.2, "native")
    arrays = [Array(f"in{k}", type_, fill=("uniform", *spread)) for k in range(inputs)]
    values = [Value("a", type_, lambda d: round(d.real(0.6, 1.4), 3))]
    lines, before = [], []
    layout = draw.weighted({"variables": 3.0, "direct": 1.5, "functions": 2.0, "macros": 1.0}, "layout")
    argument = {k: f"in{k}[i]" for k in range(inputs)}
    if layout != "direct":
        argument = dict(enumerate("xyz"[:inputs]))
        lines = [f"{draw.choose(('', 'const '))}{type_} {argument[k]} = in{k}[i];" for k in range(inputs)]
    filled = dict(zip("xyz", [argument[k % inputs] for k in range(3)], strict=True))
    if draw.chance(0.4, "preceded"):
        extra = expression(draw, list(filled.values())[:inputs], type_, draw.integer(1, 2))
        lines.append(f"{type_} w = fabs({extra}) * {literal(type_, 0.2)} + {literal(type_, 0.6)};")
        filled["x"] = "w"
    results = []
    for name in names:
        formula = written_for(formulas[name], type_, native)
        if layout in ("functions", "macros"):
            pars = {"x": "x", "y": "y", "z": "z", "a": "a"}
            if layout == "functions":
                taken = ", ".join(f"{type_} {p}" for p in pars)
                start = draw.choose(("static", "static inline"))
                before.append(f"{start} {type_} {name}_of({taken})\n{{\n    return {formula.format(**pars)};\n}}\n")
            else:
                body = formula.format(**{p: f"({p})" for p in pars})
                before.append(f"#define {name.upper()}_OF(x, y, z, a) ({body})\n")
            call = f"{name}_of" if layout == "functions" else f"{name.upper()}_OF"
            results.append(f"{call}({filled['x']}, {filled['y']}, {filled['z']}, a)")
        else:
            results.append(f"({formula.format(**filled, a='a')})")
    outputs = ["out"]
    joined = draw.choose(("sum", "product", "outputs", "switch", "nested"), "joined") if len(results) > 1 else "one"
    match joined:
        case "outputs":
            outputs = [f"out{k}" for k in range(len(results))]
            lines += [f"{o}[i] = {r};" for o, r in zip(outputs, results, strict=True)]
        case "switch":
            cases = "\n".join(f"    case {k}: r = {r}; break;" for k, r in enumerate(results[:-1]))
            lines.append(f"{type_} r;\nswitch (kind) {{\n{cases}\n    default: r = {results[-1]};\n}}\nout[i] = r;")
            values.append(Value("kind", "int", lambda d: d.integer(0, 2)))
        case "product":
            lines.append(f"out[i] = {' * '.join(results)};")
        case "nested":
            lines += [f"{type_} r0 = {results[0]};", f"out[i] = r0 * {results[1]} - r0;"]
        case _:
            sign = draw.choose("+-")
            lines.append(f"out[i] = {f' {sign} '.join(results)};")
    arrays += [Array(o, type_, is_written=True) for o in outputs]
    if draw.chance(0.25, "in_place_mix"):
        half, small = literal(type_, 0.5), literal(type_, 0.01)  # a value that only shrinks becomes denormal
        last = lines[-1]
        if last.startswith("out[i] = "):
            lines[-1] = f"out[i] = {half} * out[i] + {half} * ({last.removeprefix('out[i] = ').rstrip(';')}) + {small};"
    options = ("-cl-fast-relaxed-math",) if draw.chance(0.1, "relaxed") else ()
    text = "\n".join(lines)
    whole = Elements(f"{title}_{names[0]}", arrays, text, values, _each(len(names)), "\n".join(before), "", options)
    return line_draft(draw, habits, whole)


def _each(formulas: int) -> Callable[[Values], float]:
    return lambda _: 12.0 * formulas + 6


@family("activation_functions", group="elementwise")
def activation_functions(draw: Draw) -> Draft:
    """Return what follows a layer of a network, on its own or after a bias, as a function, macro or inline."""
    return _formulas(draw, "activate", ACTIVATIONS, draw.integer(1, 2), (-3.0, 3.0))


@family("financial_formulas", group="elementwise")
def financial_formulas(draw: Draw) -> Draft:
    """Interest, present values, instalments, tax brackets."""
    return _formulas(draw, "value", FINANCE, draw.integer(2, 3), (0.5, 1.5))


@family("physics_formulas", group="elementwise")
def physics_formulas(draw: Draw) -> Draft:
    """Gases, optics, potentials, distances on a sphere."""
    return _formulas(draw, "compute", PHYSICS, draw.integer(2, 3), (0.6, 1.4))


@family("probability_densities", group="elementwise")
def probability_densities(draw: Draw) -> Draft:
    """Densities, likelihoods and losses of each value."""
    return _formulas(draw, "density", DENSITIES, draw.integer(1, 2), (0.3, 2.0))


@family("parameter_updates", group="elementwise")
def parameter_updates(draw: Draw) -> Draft:
    """Generate what a gradient does to a parameter: plain, with momentum, with running squares.

    In place, and contracting.
    """
    habits = hand(draw)
    type_ = draw.weighted({"float": 4.0, "double": 1.0, "float4": 1.0, "float2": 0.5}, "type")
    scalar = split_type(type_)[0]

    def number(value: float) -> str:
        return literal(scalar, value)

    rate = draw.choose(("rate", number(0.01)))
    lines = [f"{type_} g = grad[i];" if draw.chance(0.7) else f"const {type_} g = grad[i] * {number(0.5)};"]
    if draw.chance(0.3, "clipped"):
        lines.append(f"g = clamp(g, {number(-1)}, {number(1)});".replace("const ", ""))
        lines[0] = lines[0].replace("const ", "")
    if draw.chance(0.4, "decay"):
        lines[0] = lines[0].replace("const ", "")
        lines.append(f"g {draw.choose(('= g +', '+='))} {number(0.01)} * p[i];")
    rule = draw.choose(("plain", "momentum", "nesterov", "squares", "both", "signs", "maximum", "average"), "rule")
    keep = number(draw.choose((0.9, 0.95, 0.8)))
    left = {number(0.9): number(0.1), number(0.95): number(0.05), number(0.8): number(0.2)}[keep]
    root = draw.choose(("native_rsqrt", "rsqrt", "sqrt")) if scalar == "float" else draw.choose(("rsqrt", "sqrt"))

    def divided(above: str, squares: str) -> str:
        small = number(0.01)
        return f"{above} / (sqrt({squares}) + {small})" if root == "sqrt" else f"{above} * {root}({squares} + {small})"

    mean = draw.choose((f"{keep} * m[i] + {left} * g", f"m[i] + {left} * (g - m[i])", f"mad({left}, g - m[i], m[i])"))
    if type_ != scalar:
        mean = mean.replace("mad(" + left, f"mad(({type_})({left})")
    square = f"{keep} * s[i] + {left} * g * g"
    forms = {
        "plain": ["{type} d = g;"],
        "momentum": [f"{{type}} d = {mean};", "m[i] = d;"],
        "nesterov": [f"{{type}} v = {mean};", "m[i] = v;", f"{{type}} d = g + {keep} * v;"],
        "squares": [f"{{type}} v = {square};", "s[i] = v;", f"{{type}} d = {divided('g', 'v')};"],
        "both": [
            f"{{type}} u = {mean};",
            f"{{type}} v = {square};",
            "m[i] = u;",
            "s[i] = v;",
            f"{{type}} d = {divided('u', 'v')};",
        ],
        "signs": [f"{{type}} u = {mean};", "m[i] = u;", "{type} d = sign(u);"],
        "maximum": [
            f"{{type}} u = fmax({keep} * s[i], fabs(g));",
            "s[i] = u;",
            f"{{type}} d = g / (u + {number(0.01)});",
        ],
        "average": ["{type} d = p[i] - g;", f"m[i] = {mean.replace('g', 'p[i]')};"],
    }
    lines += [line.replace("{type}", type_) for line in forms[rule]]
    shrink = draw.choose((number(0.99), number(0.9)))
    lines.append(
        draw.choose((f"p[i] = {shrink} * p[i] - {rate} * d;", f"{type_} q = {shrink} * p[i];\np[i] = q - {rate} * d;"))
    )
    arrays = [Array("p", type_, is_written=True), Array("grad", type_)]
    arrays += [Array(name, type_, is_written=True) for name in "ms" if any(f"{name}[i]" in line for line in lines)]
    values = [Value("rate", scalar, lambda d: round(d.log_real(0.001, 0.1), 4))]
    return line_draft(draw, habits, Elements(f"update_{rule}", arrays, "\n".join(lines), values))
