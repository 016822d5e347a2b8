"""Special functions, called plainly, natively or at half precision."""

from __future__ import annotations

from profiler.corpus.composing.coverage import draw_coverage
from profiler.corpus.composing.drafting import Buffer, Parameter, Parts, drafted, each, flat
from profiler.corpus.composing.hand import Hand
from profiler.corpus.composing.mixing import mixture
from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.types import base_type, lanes

FAST = (
    (),
    (),
    (),
    ("-cl-fast-relaxed-math",),
    ("-cl-mad-enable",),
    ("-cl-unsafe-math-optimizations",),
    ("-cl-finite-math-only",),
)
TYPES = ("float", "float", "float", "double", "float4", "float2", "float8", "double2")
# Of one value t in (0, 4), bounded or tame there.
PLAIN = (
    "sin({})",
    "cos({})",
    "tan({} * 0.25f)",
    "exp(-{})",
    "exp2({} * 0.5f)",
    "log({} + 0.5f)",
    "log2({} + 0.5f)",
    "log10({} + 0.5f)",
    "log1p({})",
    "expm1({} * 0.25f)",
    "sqrt({})",
    "rsqrt({} + 0.25f)",
    "cbrt({})",
    "sinh({} * 0.5f)",
    "cosh({} * 0.5f)",
    "tanh({})",
    "asin({} * 0.2f)",
    "acos({} * 0.2f)",
    "atan({})",
    "asinh({})",
    "acosh({} + 1.5f)",
    "atanh({} * 0.2f)",
    "erf({})",
    "erfc({} * 0.5f)",
    "lgamma({} + 0.75f)",
    "tgamma({} + 0.75f)",
    "sinpi({})",
    "cospi({})",
    "exp10({} * 0.25f)",
    "fabs({} - 1.0f)",
    "floor({} * 3.0f)",
)
PAIRS = (
    "pow({} + 0.25f, {})",
    "powr({} + 0.5f, {})",
    "atan2({}, {} + 0.1f)",
    "hypot({}, {})",
    "fmod({} * 3.0f, {} + 0.5f)",
    "remainder({} * 3.0f, {} + 0.5f)",
    "fdim({}, {})",
    "nextafter({}, {})",
    "copysign({}, {} - 1.0f)",
    "fma({}, {}, 0.5f)",
)
NATIVE = ("sin", "cos", "exp", "exp2", "log", "log2", "sqrt", "rsqrt", "recip", "exp10", "log10", "tan")


def _typed(text: str, type_: str) -> str:
    """Literals of doubles have no suffix; vectors are fed with vectors where a function insists."""
    if base_type(type_) == "double":
        text = text.replace("f)", ")").replace("f,", ",").replace("f +", " +")
        for digit in "0123456789":
            text = text.replace(f"{digit}f", digit)
    if lanes(type_) > 1:
        text = text.replace(", 0.5f)", f", ({type_})(0.5f))").replace(", 0.5)", f", ({type_})(0.5))")
    return text


@family("function_map", group="special_functions")
def function_map(draw: Draw) -> Draft:
    """One to four functions of the library, one after the other or side by side."""
    hand = Hand(draw)
    type_ = draw.choose(TYPES, "type")
    options = draw.choose(FAST, "options")
    cover = draw_coverage(draw, hand)
    x, y, out, v, i = (hand.name(n) for n in ("input", "second input", "output", "value", "index"))
    count = draw.choose((1, 1, 2, 3, 4), "functions")
    combine = draw.choose(("sum", "product", "nested", "largest"), "combination")
    two = draw.chance(0.4, "two_inputs")
    terms = []
    names = []
    for _ in range(count):
        form = draw.choose(PAIRS if two and draw.chance(0.6) else PLAIN)
        names.append(form.split("(")[0])
        terms.append(_typed(form.format(v, "other2"), type_) if form in PAIRS else _typed(form.format(v), type_))
    one = hand.literal(1, type_)
    lines = []
    if combine == "nested":
        for number, term in enumerate(terms):
            lines.append(f"{v} = {term};")
            if number < count - 1:
                lines.append(f"{v} = fmin(fabs({v}), ({type_})({hand.literal(3.5, type_)}));")
        result = v
    else:
        result = {"sum": " + ".join(terms), "product": " * ".join(terms)}.get(combine, "")
        if not result:
            result = terms[0]
            for term in terms[1:]:
                result = f"fmax({result}, {term})"
    second = (
        f"{type_} other2 = {y}[{i}];"
        if two
        else f"{type_} other2 = {v} * {hand.literal(0.5, type_)} + {one};"
        if any("other2" in t for t in terms)
        else ""
    )
    parameters: list[Parameter] = [Buffer(x, type_, each), Buffer(out, type_, each, None, True)]
    if two:
        parameters.insert(1, Buffer(y, type_, each))
    body = f"{type_} {v} = {x}[{i}];\n{second}\n" + "\n".join(lines) + f"\n{out}[{i}] = {result};"
    times_over = draw.weighted({1: 5.0, 4: 1.0, 16: 1.0}, "repeats")
    if times_over > 1:
        inner = "\n".join(lines) or f"{v} = fmin(fabs({result}), ({type_})({hand.literal(3.5, type_)}));"
        again = f"{v} = fmin(fabs({v}), ({type_})({hand.literal(3.5, type_)}));" if lines else ""
        body = (
            f"{type_} {v} = {x}[{i}];\n{second}\nfor (int k2 = 0; k2 < {times_over}; k2++) {{\n"
            f"{inner}\n{again}\n}}\n{out}[{i}] = {v};"
        )
    work = flat(times_over * (4 + 15.0 * count) * lanes(type_))
    return drafted(draw, hand, Parts(("map", names[0]), cover, parameters, body, work, options=options))


@family("native_functions", group="special_functions")
def native_functions(draw: Draw) -> Draft:
    """Generate the fast variants: native_ and half_ functions in short formulas."""
    hand = Hand(draw)
    type_ = draw.choose(("float", "float", "float4", "float2", "float8", "float16"), "type")
    cover = draw_coverage(draw, hand)
    x, out, v, i = (hand.name(n) for n in ("input", "output", "value", "index"))
    prefix = draw.choose(("native", "native", "half"), "precision")
    count = draw.choose((1, 2, 3, 4, 6), "functions")
    picked = [draw.choose(NATIVE) for _ in range(count)]
    shapes = {
        "exp": "{} * -0.5f",
        "exp2": "{} * 0.5f",
        "exp10": "{} * 0.25f",
        "log": "{} + 0.5f",
        "log2": "{} + 0.5f",
        "log10": "{} + 0.5f",
        "rsqrt": "{} + 0.25f",
        "recip": "{} + 0.5f",
        "sqrt": "{}",
        "sin": "{}",
        "cos": "{}",
        "tan": "{} * 0.25f",
    }
    style = draw.choose(("chain", "sum", "products", "lines"), "style")
    lines: list[str] = [f"{type_} {v} = {x}[{i}];"]
    if style in {"chain", "lines"}:
        for name in picked:
            lines.append(f"{v} = {prefix}_{name}({shapes[name].format(v)});")
            if draw.chance(0.8):
                lines.append(f"{v} = fmin(fabs({v}), 3.0f);" if draw.chance(0.5) else f"{v} = clamp({v}, 0.0f, 3.0f);")
            else:
                lines.append(f"{v} = fabs({v}) * 0.125f + 0.5f;")
        value = v
    else:
        calls = [f"{prefix}_{name}({shapes[name].format(v)})" for name in picked]
        value = (" + " if style == "sum" else " * ").join(calls)
        if draw.chance(0.3):
            lines += [f"const {type_} f{k} = {call};" for k, call in enumerate(calls)]
            value = (
                mixture(draw, hand, [f"f{k}" for k in range(count)], type_, 2)
                if style == "sum"
                else " * ".join(f"f{k}" for k in range(count))
            )
    divide = draw.chance(0.25, "divide")
    if divide:
        value = (
            f"{prefix}_divide({value}, {v} + 2.0f)"
            if lanes(type_) == 1
            else f"{prefix}_divide({value}, {v} + ({type_})(2.0f))"
        )
    body = "\n".join(lines) + f"\n{out}[{i}] = {value};"
    work = flat(count * 10.0 * lanes(type_))
    parameters = [Buffer(x, type_, each), Buffer(out, type_, each, None, True)]
    parts = Parts((prefix, picked[0], "map"), cover, parameters, body, work, options=draw.choose(FAST))
    return drafted(draw, hand, parts)
