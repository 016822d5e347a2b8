"""Numbers of several parts, one each element: complex numbers, quaternions, colours, angles."""

from __future__ import annotations

from collections.abc import Sequence

from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.arrays import Array, Elements, Value, line_draft
from profiler.corpus.writing.hand import Hand, hand
from profiler.corpus.writing.literals import literal

REALS = {"float": 5.0, "double": 1.5}


def parts_in(draw: Draw, name: str, variables: Sequence[str], type_: str, layout: str) -> tuple[list[str], list[Array]]:
    """Return declarations that read one number of several parts, and the arrays it is read from."""
    count = len(variables)
    match layout:
        case "vector":
            cells = [f"{name}_v.{c}" for c in "xyzw"[:count]]
            lines = [f"const {type_}{count} {name}_v = {name}[i];"]
            arrays = [Array(name, f"{type_}{count}")]
        case "planes":
            lines, cells = [], [f"{name}{k}[i]" for k in range(count)]
            arrays = [Array(f"{name}{k}", type_) for k in range(count)]
        case _:
            lines, cells = [], [f"{name}[{count} * i + {k}]" if k else f"{name}[{count} * i]" for k in range(count)]
            arrays = [Array(name, type_, per=count)]
    if draw.chance(0.5):
        lines += [f"{type_} {v} = {c};" for v, c in zip(variables, cells, strict=True)]
    else:
        lines.append(f"{type_} {', '.join(f'{v} = {c}' for v, c in zip(variables, cells, strict=True))};")
    return lines, arrays


def parts_out(name: str, values: Sequence[str], type_: str, layout: str) -> tuple[list[str], list[Array]]:
    count = len(values)
    if layout == "vector" and count in (2, 4):
        return [f"{name}[i] = ({type_}{count})({', '.join(values)});"], [Array(name, f"{type_}{count}", True)]
    if layout == "planes":
        return [f"{name}{k}[i] = {v};" for k, v in enumerate(values)], [
            Array(f"{name}{k}", type_, True) for k in range(count)
        ]
    return [f"{name}[{count} * i + {k}] = {v};" for k, v in enumerate(values)], [Array(name, type_, True, per=count)]


@family("complex_arithmetic", group="elementwise")
def complex_arithmetic(draw: Draw) -> Draft:
    """Generate complex arithmetic: sums to exponentials and absolute values; in pairs, vectors or two arrays."""
    habits = hand(draw)
    type_ = draw.weighted(REALS, "type")
    layout = draw.choose(("vector", "planes", "pairs"), "layout")
    two = draw.chance(0.7, "second_number")
    lines, arrays = parts_in(draw, "p", ("a", "b"), type_, layout)
    if two:
        more, others = parts_in(draw, "q", ("c", "d"), type_, layout)
        lines, arrays = lines + more, arrays + others
    else:
        fixed = f"{type_} c = {literal(type_, 0.6)}, d = {literal(type_, -0.8)};"
        lines.append(draw.choose((fixed, f"{type_} c = a, d = b;")))
    steps = {
        "product": ("x * c - y * d", "x * d + y * c"),
        "conjugate": ("x * c + y * d", "y * c - x * d"),
        "quotient": (
            f"(x * c + y * d) / (c * c + d * d + {literal(type_, 0.1)})",
            "(y * c - x * d) / (c * c + d * d + 1)",
        ),
        "sum": ("x + c", "y - d"),
        "square": ("x * x - y * y", "2 * x * y"),
        "turned": ("-y", "x"),
        "scaled": (f"x * {literal(type_, 0.7)}", f"y * {literal(type_, 0.7)}"),
        "exponential": ("exp(fmin(x, 1)) * cos(y)", "exp(fmin(x, 1)) * sin(y)"),
        "polar": ("sqrt(x * x + y * y)", "atan2(y, x)"),
        "root": ("sqrt(0.5f * (hypot(x, y) + fabs(x)))", "copysign(sqrt(0.5f * hypot(x, y)), y)"),
        "unit": ("x * rsqrt(x * x + y * y + 1)", "y * rsqrt(x * x + y * y + 1)"),
        "logarithm": ("0.5f * log(x * x + y * y + 0.5f)", "atan2(y, x)"),
        "inverse": ("x / (x * x + y * y + 1)", "-y / (x * x + y * y + 1)"),
    }
    chosen = draw.sample(tuple(steps), draw.weighted({1: 3.0, 2: 2.0, 3: 1.0, 5: 0.5}, "steps"))
    draw.choices["operation"] = " ".join(chosen)
    before = ""
    calls = draw.chance(0.35, "functions")
    lines.append(f"{type_} x = a, y = b;" if not calls else f"{type_}2 z = ({type_}2)(a, b);")
    for name in chosen:
        halves = [text.replace("0.5f", literal(type_, 0.5)) for text in steps[name]]
        re, im = (text.replace("(x, 1)", f"(x, {literal(type_, 1)})") for text in halves)
        if calls:
            before += f"static {type_}2 c_{name}({type_}2 z, {type_} c, {type_} d)\n{{\n    {type_} x = z.x, y = z.y;\n"
            before += f"    return ({type_}2)({re}, {im});\n}}\n"
            lines.append(f"z = c_{name}(z, c, d);")
        else:
            lines.append(f"{{\n    {type_} t = {re};\n    y = {im};\n    x = t;\n}}")
    if draw.chance(0.2, "repeated"):
        limit = literal(type_, 2)
        last = lines.pop()
        lines.append(f"for (int k = 0; k < {draw.choose((3, 8, 20))}; k++) {{\n{last}")
        pair = ("z.x", "z.y") if calls else ("x", "y")
        lines.append(f"if (fabs({pair[0]}) > {limit} || fabs({pair[1]}) > {limit}) break;\n}}")
    pair = ("z.x", "z.y") if calls else ("x", "y")
    result = draw.choose(("number", "size", "phase", "real"), "result")
    if result == "number":
        more, outs = parts_out("r", pair, type_, layout)
        lines += more
        arrays += outs
    else:
        x, y = pair
        size = draw.choose((f"{x} * {x} + {y} * {y}", f"hypot({x}, {y})"))
        value = {"size": size, "phase": f"atan2({y}, {x})"}.get(result, x)
        lines.append(f"r[i] = {value};")
        arrays.append(Array("r", type_, True))
    return line_draft(draw, habits, Elements("complex", arrays, "\n".join(lines), (), None, before))


@family("quaternions", group="elementwise")
def quaternions(draw: Draw) -> Draft:
    """Rotations: products, normalised, turned into matrices or angles, applied to points, blended."""
    habits = hand(draw)
    type_ = draw.weighted(REALS, "type")
    layout = draw.choose(("vector", "planes", "packed"), "layout")
    lines, arrays = parts_in(draw, "q", ("x", "y", "z", "w"), type_, layout)
    one, half, small = literal(type_, 1), literal(type_, 0.5), literal(type_, 0.01)
    if draw.chance(0.4, "normalised"):
        lines.append(f"{type_} n = rsqrt(x * x + y * y + z * z + w * w + {small});")
        lines.append("x *= n;\ny *= n;\nz *= n;\nw *= n;")
    form = draw.choose(("product", "point", "matrix", "angles", "blend", "power", "integrate", "inverse"), "form")
    out: Sequence[str]
    if form in ("product", "blend"):
        more, others = parts_in(draw, "p", ("a", "b", "c", "d"), type_, layout)
        lines, arrays = lines + more, arrays + others
    elif form in ("point", "integrate"):
        more, others = parts_in(draw, "p", ("a", "b", "c"), type_, "packed" if layout == "vector" else layout)
        lines, arrays = lines + more, arrays + others
    values = []
    match form:
        case "product":
            out = ("w * a + x * d + y * c - z * b", "w * b - x * c + y * d + z * a",
                   "w * c + x * b - y * a + z * d", "w * d - x * a - y * b - z * c")  # fmt: skip
        case "blend":
            values.append(Value("t", type_, lambda d: round(d.real(0.1, 0.9), 3)))
            lines.append(f"{type_} s = x * a + y * b + z * c + w * d < 0 ? -t : t;")
            out = [f"{q} + s * ({p} - {q})" for q, p in zip("xyzw", "abcd", strict=True)]
        case "point":
            lines.append(f"{type_} u = 2 * (y * c - z * b), v = 2 * (z * a - x * c), t = 2 * (x * b - y * a);")
            out = ("a + w * u + y * t - z * v", "b + w * v + z * u - x * t", "c + w * t + x * v - y * u")
        case "matrix":
            out = (f"{one} - 2 * (y * y + z * z)", "2 * (x * y - z * w)", "2 * (x * z + y * w)",
                   "2 * (x * y + z * w)", f"{one} - 2 * (x * x + z * z)", "2 * (y * z - x * w)",
                   "2 * (x * z - y * w)", "2 * (y * z + x * w)", f"{one} - 2 * (x * x + y * y)")  # fmt: skip
        case "angles":
            out = (f"atan2(2 * (w * x + y * z), {one} - 2 * (x * x + y * y))",
                   f"asin(clamp(2 * (w * y - z * x), -{one}, {one}))",
                   f"atan2(2 * (w * z + x * y), {one} - 2 * (y * y + z * z))")  # fmt: skip
        case "power":
            lines.append(f"{type_} angle = acos(clamp(w, -{one}, {one})) * {half};\n{type_} s = sin(angle) * {half};")
            out = ("x * s", "y * s", "z * s", "cos(angle)")
        case "integrate":
            out = (f"x + {small} * (a * w + b * z - c * y)", f"y + {small} * (b * w + c * x - a * z)",
                   f"z + {small} * (c * w + a * y - b * x)", f"w - {small} * (a * x + b * y + c * z)")  # fmt: skip
        case _:
            lines.append(f"{type_} s = {one} / (x * x + y * y + z * z + w * w + {small});")
            out = ("-x * s", "-y * s", "-z * s", "w * s")
    if draw.chance(0.25, "adjusted"):
        out = [expression(draw, [f"clamp({o}, {literal(type_, -4)}, {literal(type_, 4)})"], type_, 1) for o in out]
    more, outs = parts_out("r", out, type_, layout)
    return line_draft(draw, habits, Elements(f"turn_{form}", arrays + outs, "\n".join(lines + more), values))


@family("colour_conversions", group="elementwise")
def colour_conversions(draw: Draw) -> Draft:
    """From one colour space to another: weights, hues, gammas, bytes and floats, three planes or pixels of three."""
    habits = hand(draw)
    pixel = draw.weighted({"float": 3.0, "uchar": 3.0, "ushort": 0.7}, "pixel")
    form = draw.choose(
        ("grey", "difference", "hue", "gamma", "matrix", "sepia", "levels", "subtractive", "back", "mix"), "conversion"
    )
    layout = draw.choose(("planes", "packed", "four"), "layout")
    top = {"float": 1.0, "uchar": 255.0, "ushort": 65535.0}[pixel]
    down = f" * {1 / top:.6g}f" if pixel != "float" else ""
    channels = 4 if layout == "four" else 3
    cells = [f"in{k}[i]" if layout == "planes" else f"in[{channels} * i + {k}]" for k in range(3)]
    arrays = [Array(f"in{k}", pixel) for k in range(3)] if layout == "planes" else [Array("in", pixel, per=channels)]
    lines = []
    if layout == "four" and draw.chance(0.6, "vector_pixel"):
        arrays = [Array("in", f"{pixel}4")]
        lines.append(f"const float4 p = convert_float4(in[i]){down};")
        lines.append("float r = p.x, g = p.y, b = p.z;")
    else:
        lines += [f"float {c} = {cell}{down};" for c, cell in zip("rgb", cells, strict=True)]
    numbers = [f"{round(draw.real(0.1, 0.5), 3)}f" for _ in range(9)]
    values: list[Value] = []
    out: Sequence[str]
    match form:
        case "grey":
            out = (f"{numbers[0]} * r + {numbers[1]} * g + {numbers[2]} * b",)
        case "difference":
            lines.append(f"float y = {numbers[0]} * r + {numbers[1]} * g + {numbers[2]} * b;")
            out = ("y", f"0.5f + {numbers[3]} * (b - y)", f"0.5f + {numbers[4]} * (r - y)")
        case "back":
            out = ("r + 1.4f * (b - 0.5f)", "r - 0.34f * (g - 0.5f) - 0.7f * (b - 0.5f)", "r + 1.77f * (g - 0.5f)")
        case "hue":
            lines.append("float high = fmax(r, fmax(g, b)), low = fmin(r, fmin(g, b)), span = high - low, hue;")
            style = draw.choose(("if", "ternary", "no_test"))
            if style == "if":
                lines.append("if (span < 1e-4f) hue = 0.0f;\nelse if (high == r) hue = (g - b) / span;")
                lines.append("else if (high == g) hue = 2.0f + (b - r) / span;\nelse hue = 4.0f + (r - g) / span;")
            else:
                rest = "(high == r ? (g - b) : high == g ? 2.0f * span + b - r : 4.0f * span + r - g) / (span + 1e-4f)"
                lines.append(f"hue = span < 1e-4f ? 0.0f : {rest};" if style == "ternary" else f"hue = {rest};")
            lines.append("hue = hue < 0.0f ? hue + 6.0f : hue;")
            strength, light = (
                draw.choose(("span / (high + 1e-4f)", "span")),
                draw.choose(("high", "0.5f * (high + low)")),
            )
            out = ("hue * 0.1666f", strength, light)
        case "gamma":
            power = draw.choose(("2.2f", "0.45f", "gamma"))
            if power == "gamma":
                values.append(Value("gamma", "float", lambda d: round(d.real(0.4, 2.4), 2)))
            curve = draw.choose(("pow", "powr", "native_powr", "pieces", "exp2"))
            forms = {"pieces": f"({{c}} <= 0.04f ? {{c}} / 12.92f : powr(({{c}} + 0.055f) / 1.055f, {power}))",
                     "exp2": f"exp2({power} * log2({{c}} + 0.01f))"}  # fmt: skip
            out = [forms.get(curve, f"{curve}({{c}} + 0.01f, {power})").format(c=c) for c in "rgb"]
        case "matrix" | "sepia":
            out = [f"{numbers[3 * k]} * r + {numbers[3 * k + 1]} * g + {numbers[3 * k + 2]} * b" for k in range(3)]
        case "levels":
            values += [Value(n, "float", lambda d: round(d.real(0.1, 0.9), 3)) for n in ("black", "white")]
            out = [f"({c} - 0.1f * black) / (0.2f + white)" for c in "rgb"]
        case "subtractive":
            lines.append("float k = 1.0f - fmax(r, fmax(g, b)), d = 1.0f / (1.001f - k);")
            out = ("(1.0f - r - k) * d", "(1.0f - g - k) * d", "(1.0f - b - k) * d", "k")
        case _:
            values.append(Value("amount", "float", lambda d: round(d.real(0.1, 0.9), 3)))
            lines.append(f"float y = {numbers[0]} * r + {numbers[1]} * g + {numbers[2]} * b;")
            out = [f"mix({c}, y, amount)" for c in "rgb"]
    if draw.chance(0.3, "adjusted"):
        out = [expression(draw, [f"({o})"], "float", 1) for o in out]
    result = draw.choose((pixel, "float", "uchar"), "result_pixel")
    ends = {"uchar": "convert_uchar_sat{m}(({v}) * 255.0f)", "ushort": "convert_ushort_sat{m}(({v}) * 65535.0f)"}
    mode = draw.choose(("", "_rte"))
    stored = [ends.get(result, "clamp({v}, 0.0f, 1.0f)" if form != "hue" else "{v}").format(v=v, m=mode) for v in out]
    if result == "uchar" and draw.chance(0.3, "clamped_cast"):
        stored = [f"(uchar)(clamp({v}, 0.0f, 1.0f) * 255.0f + 0.5f)" for v in out]
    more, outs = parts_out("out", stored, result, "planes" if layout == "planes" else "packed")
    return line_draft(draw, habits, Elements(f"colour_{form}", arrays + outs, "\n".join(lines + more), values))


@family("angles_and_frames", group="elementwise")
def angles_and_frames(draw: Draw) -> Draft:
    """Between systems of coordinates: polar, spherical, geographic, rotated frames; angles wrapped, waves summed."""
    habits: Hand = hand(draw)
    type_ = draw.weighted(REALS, "type")
    layout = draw.choose(("planes", "pairs", "vector"), "layout")
    lines, arrays = parts_in(draw, "p", ("a", "b"), type_, layout)
    turn, half = literal(type_, 6.283185), literal(type_, 0.5)
    trigonometry = draw.choose(("plain", "sincos", "native" if type_ == "float" else "plain"), "functions")
    prefix = "native_" if trigonometry == "native" else ""
    forms: dict[str, tuple[str, ...]] = {
        "to_polar": ("hypot(a, b)", "atan2(b, a)"),
        "from_polar": ("a * {c}cos(b)", "a * {c}sin(b)"),
        "spherical": ("{c}cos(a) * {c}cos(b)", "{c}sin(a) * {c}cos(b)", "{c}sin(b)"),
        "map": ("a - {h}", "log(tan({h} * b + {h}) + 1)"),
        "wrapped": (f"a - {turn} * floor(a / {turn} + {half})", "fmod(a + b, {t})"),
        "rotated": ("a * cr - b * sr", "a * sr + b * cr"),
        "waves": ("{c}sin(a) + {h} * {c}sin(2 * a + b) + {c}cos(3 * b)",),
        "phase": ("{c}cos({t} * (a - floor(a)))", "{c}sin({t} * (b - floor(b)))"),
        "degrees": ("degrees(a)", "radians(b)"),
        "bearing": ("atan2({c}sin(b) * {c}cos(a), {c}cos(b) - {c}sin(a) * {h})",),
        "spiral": ("a * {c}cos(a * b)", "a * {c}sin(a * b)"),
    }
    chosen = draw.sample(tuple(forms), draw.weighted({1: 2.0, 2: 1.0}, "forms"))
    draw.choices["form"] = " ".join(chosen)
    values = []
    if "rotated" in chosen:
        values.append(Value("angle", type_, lambda d: round(d.real(0.1, 3), 3)))
        if trigonometry == "sincos":
            lines.append(f"{type_} cr, sr = sincos(angle, &cr);")
        else:
            lines.append(f"{type_} cr = {prefix}cos(angle), sr = {prefix}sin(angle);")
    elif trigonometry == "sincos":
        lines.append(f"{type_} ca, sa = sincos(a, &ca);")
    out = [text.format(c=prefix, h=half, t=turn) for text in forms[chosen[0]]]
    if trigonometry == "sincos" and "rotated" not in chosen:
        out = [text.replace("cos(a)", "ca").replace("sin(a)", "sa") for text in out]
    if len(chosen) > 1:
        second = [text.format(c=prefix, h=half, t=turn) for text in forms[chosen[1]]]
        out = [f"{o} {draw.choose('+-')} {s}" for o, s in zip(out, second, strict=False)]
    more, outs = parts_out("r", out, type_, layout)
    return line_draft(draw, habits, Elements("frames", arrays + outs, "\n".join(lines + more), values))
