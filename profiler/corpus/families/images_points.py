"""Pixels one by one: tones, colours, blends, tables, dithering, pictures drawn from formulas."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.images import Pixels, picture, pixels, size_parameters, typed_ids, with_more
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import hand, loop
from profiler.corpus.writing.plane import plane
from profiler.corpus.writing.sizes import draft

COLOUR = {"image": 3.0, "float4": 2.0, "uchar4": 2.0}


def whole_scale(dots: Pixels) -> str:
    """Return what white is."""
    return "1.0f" if dots.store in ("image", "float", "float4") else "255.0f"


@family("tone_curves", "images")
def tone_curves(draw: Draw) -> Draft:
    """Brightness, gamma, thresholds, tone mapping, tables and other curves on each pixel."""
    habits = hand(draw)
    dots, way = pixels(draw, habits), typed_ids(plane(draw, habits))
    v, white = dots.value, whole_scale(dots)
    one = "(float4)(1.0f)" if v == "float4" else "1.0f"
    steps = [
        draw.choose(
            (
                "p = p * gain + 0.05f;",
                "p = {o} - p;",
                ("p = pow(fmax(p, {o} * 0.001f), {o} * 0.45f);"),
                "p = p / (fabs(p) + {o});",
                "p = {o} / ({o} + exp((p - 0.5f) * -6.0f));",
                ("p = select({o} * 0.25f, p, isgreater(p, {o} * level));"),
                "p = sqrt(fabs(p));",
                ("p = clamp(p, {o} * 0.1f, {o} * 0.9f);"),
                "p = p * p * (3.0f * {o} - 2.0f * p);",
                "p = floor(p * 8.0f) * 0.125f;",
                "p = mix(p, {o} * level, 0.25f);",
                "p = log2({o} + fabs(p));",
                ("p = smoothstep({o} * 0.1f, {o} * 0.8f, p);"),
                "p = fabs(p - level);",
            )
        ).format(o=one)
        for _ in range(draw.integer(1, 4))
    ]
    table = draw.chance(0.3, "table")
    if table:
        first = (
            "p.{c} = curve[clamp((int)(p.{c} * 255.0f), 0, 255)];"
            if v == "float4"
            else "p = curve[clamp((int)(p * 255.0f), 0, 255)];"
        )
        steps.append("\n".join(first.format(c=c) for c in "xyz") if v == "float4" else first)
    scale_in = f" / {white}" if white != "1.0f" else ""
    scale_out = f" * {white}" if white != "1.0f" else ""
    body = (
        f"{v} p = {dots.read('x', 'y', inside=True)}{scale_in};\n"
        + "\n".join(steps)
        + "\n"
        + dots.write("x", "y", f"p{scale_out}")
    )
    near = draw.choose((habits.fixed, f"const {habits.space}"), "table_space")
    names = [
        *dots.parameters(),
        f"{near} float *curve",
        habits.number("gain", "float"),
        habits.number("level", "float"),
    ]
    cost = sum(50.0 if any(word in step for word in ("pow", "exp", "log2", "sqrt")) else 6.0 for step in steps)

    def launch(d: Draw, w: Wish) -> Sized:
        made, _ = picture(dots, way, d, w, cost)
        return with_more(
            made,
            {"curve": 256},
            {"gain": round(d.real(0.5, 1.5), 2), "level": round(d.real(0.2, 0.8), 2)},
            {"curve": ("sorted", 0.0, 1.0)},
        )

    return draft(habits, "tone", names, way.write(body), launch, before=dots.before)


@family("colour_spaces", "images")
def colour_spaces(draw: Draw) -> Draft:
    """From one way to write colours to another: luma, YUV, HSV, XYZ, opponent axes, packed words."""
    habits = hand(draw)
    dots, way = pixels(draw, habits, COLOUR), typed_ids(plane(draw, habits))
    to = draw.choose(
        (
            "luma",
            "luma_max",
            "yuv",
            "hsv",
            "from_hsv",
            "matrix",
            "xyz_lab",
            "opponent",
            "sepia",
            "swap",
            "saturate",
            "linear",
            "cmyk",
        ),
        "to",
    )
    helper = draw.chance(0.4, "helper")
    text = {
        "luma": ("const float l = {f};\n"
"c = (float4)(l, l, l, c.w);").format(f=draw.choose((("dot(c, (float4)(0.299f, "
"0.587f, 0.114f, 0.0f))"), "0.299f * c.x + 0.587f * c.y + 0.114f * c.z", "(c.x + c.y + c.z) / 3.0f"))),
        "luma_max": ("const float l = 0.5f * (fmax(c.x, fmax(c.y, c.z)) + fmin(c.x, fmin(c.y, c.z)));\n"
"c.xyz = (float3)(l);"),
        "yuv": ("const float l = 0.299f * c.x + 0.587f * c.y + 0.114f * c.z;\n"
"c = (float4)(l, 0.492f * (c.z - l), 0.877f * (c.x - l), c.w);"),
        "hsv": ("const float high = fmax(c.x, fmax(c.y, c.z)), low = fmin(c.x, fmin(c.y, c.z));\n"
"const float span = high - low + 1e-4f;\nfloat h;\nif (high == c.x)\n    h = (c.y - c.z) / span;\n"
"else if (high == c.y)\n    h = 2.0f + (c.z - c.x) / span;\nelse\n    h = 4.0f + (c.x - c.y) / span;\n"
"c = (float4)(h < 0.0f ? h + 6.0f : h, span / (high + 1e-3f), high, c.w);"),
        "from_hsv": ("const float h = clamp(c.x, 0.0f, 1.0f) * 5.99f;\nconst int sector = (int)h;\n"
"const float f = h - (float)sector, p = c.z * (1.0f - c.y), q = "
"c.z * (1.0f - c.y * f), t = c.z * (1.0f - c.y * (1.0f - f));\n"
"float4 r;\nswitch (sector) {\ncase 0: r = (float4)(c.z, t, p, c.w); break;\n"
"case 1: r = (float4)(q, c.z, p, c.w); break;\n"
"case 2: r = (float4)(p, c.z, t, c.w); break;\ncase 3: r = (float4)(p, q, c.z, c.w); break;\n"
"case 4: r = (float4)(t, p, c.z, c.w); break;\ndefault: r = (float4)(c.z, p, q, c.w); break;\n}\nc = r;"),
        "matrix": "c = (float4)(dot(c, rows[0]), dot(c, rows[1]), dot(c, rows[2]), c.w);",
        "xyz_lab": ("const float fx = cbrt(fmax(0.41f * c.x + 0.36f * c.y "
"+ 0.18f * c.z, 0.01f)), fy = cbrt(fmax(0.21f * c.x "
"+ 0.72f * c.y + 0.07f * c.z, 0.01f)), fz = cbrt(fmax(0.02f * c.x + 0.12f * c.y + 0.95f * c.z, 0.01f));\n"
"c = (float4)(1.16f * fy - 0.16f, 5.0f * (fx - fy), 2.0f * (fy - fz), c.w);"),
        "opponent": "c = (float4)(c.x - c.y, (c.x + c.y - 2.0f * c.z) * 0.5f, c.x + c.y + c.z, c.w);",
        "sepia": ("const float l = c.x * 0.4f + c.y * 0.5f + c.z * 0.1f;\n"
"c = (float4)(fmin(l * 1.2f, 1.0f), l, l * 0.8f, 1.0f);"),
        "swap": draw.choose(("c = c.zyxw;", "c = c.wxyz;", "c.xz = c.zx;")),
        "saturate": "const float l = (c.x + c.y + c.z) * 0.3333f;\nc = clamp(l + (c - l) * gain, 0.0f, 1.0f);",
        "linear": ("c.xyz = select(pow((c.xyz + 0.055f) / 1.055f, (float3)(2.4f)), "
"c.xyz / 12.92f, islessequal(c.xyz, (float3)(0.04f)));"),
        "cmyk": ("const float k = 1.0f - fmax(fmax(c.x, c.y), fmax(c.z, 0.01f));\n"
"c = (float4)((1.0f - c.x - k) / (1.001f - k), (1.0f - c.y - k) / (1.001f - k), (1.0f - c.z - k) / (1.001f - k), k);"),
    }[to]  # fmt: skip
    before = dots.before
    if helper and "rows" not in text and "gain" not in text:
        inside = "\n".join("    " + t for t in text.split("\n"))
        before += f"float4 recolour(float4 c)\n{{\n{inside}\n    return c;\n}}\n"
        text = "c = recolour(c);"
    white = whole_scale(dots)
    scale_in, scale_out = (f" / {white}", f" * {white}") if white != "1.0f" else ("", "")
    after = draw.choose(("", "c = fmin(c, (float4)(1.0f));\n", "c.w = 1.0f;\n", "c = 0.5f * c + 0.25f;\n"), "after")
    body = (
        f"float4 c = {dots.read('x', 'y', inside=True)}{scale_in};\n"
        f"{text}\n{after}{dots.write('x', 'y', f'c{scale_out}')}"
    )
    names = [
        *dots.parameters(),
        f"{draw.choose((habits.fixed, f'const {habits.space}'))} float4 *rows",
        habits.number("gain", "float"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        made, _ = picture(dots, way, d, w, {"xyz_lab": 40.0, "linear": 30.0}.get(to, 8.0))
        return with_more(made, {"rows": 3}, {"gain": 1.3}, {})

    return draft(habits, "recolour_picture", names, way.write(body), launch, before=before)


@family("blends", "images")
def blends(draw: Draw) -> Draft:
    """Two pictures into one: alpha, masks, modes, differences, fades, several layers."""
    habits = hand(draw)
    dots, way = pixels(draw, habits), typed_ids(plane(draw, habits))
    v, white = dots.value, whole_scale(dots)
    one = "(float4)(1.0f)" if v == "float4" else "1.0f"
    modes = [
        "mix(a, b, fade)",
        "a * b",
        f"{one} - ({one} - a) * ({one} - b)",
        "fmax(a, b)",
        "fmin(a, b)",
        "fabs(a - b)",
        "0.5f * (a + b)",
        "a + b - 2.0f * a * b",
    ]
    modes += [
        f"select(2.0f * a * b, {one} - 2.0f * ({one} - a) * ({one} - b), isgreater(a, {one} * 0.5f))",
        "a / (b + 0.01f)",
        "(a - b) * 0.5f + 0.5f",
    ]
    modes += ["a * a.w + b * (1.0f - a.w)", "a + b * (1.0f - a.w)"] if v == "float4" else []
    mode = draw.choose(modes, "mode")
    mask = draw.choose(("", "", "mask", "edge", "checker"), "mask")
    scale_in, scale_out = (f" / {white}", f" * {white}") if white != "1.0f" else ("", "")
    layers = draw.chance(0.25, "layers") and dots.store != "image"
    body = f"const {v} a = {dots.read('x', 'y', inside=True)}{scale_in};\n"
    if layers:
        body = f"{v} a = {dots.read('x', 'y', inside=True)}{scale_in};\n"
        pixel = dots.read("x", "y", "second", inside=True).replace("second[", "second[(size_t)l * width * height + ")
        body += loop(draw, "l", "0", "layers", f"const {v} b = {pixel}{scale_in};\na = {mode};")
        result = "a"
    else:
        body += f"const {v} b = {dots.read('x', 'y', 'second', inside=True)}{scale_in};\n"
        result = mode
    if mask == "mask":
        body += "const float m = (float)mask[y * width + x] / 255.0f;\n"
        result = f"mix(a, {result}, m)"
    elif mask == "edge":
        result = f"(x > width / 4 && x < width * 3 / 4 ? {result} : a)"
    elif mask == "checker":
        result = f"((((x >> 4) ^ (y >> 4)) & 1) ? {result} : a)"
    body += dots.write("x", "y", f"({result}){scale_out}")
    names = [
        dots.source(),
        dots.source("second"),
        habits.takes("uchar", "mask"),
        dots.target(),
        *size_parameters(habits),
    ]
    names += [habits.number("fade", "float"), habits.number("layers", "int")]

    def launch(d: Draw, w: Wish) -> Sized:
        count = d.log_integer(1, 12) if layers else 1
        made, area = picture(dots, way, d, w, 5.0 * count, ("in", "second", "out"), 1 + 16.0 * (count - 1))
        every = area.width * area.height
        more: dict[str, int] = {"mask": every}
        if layers:
            more["second"] = every * count
        return with_more(made, more, {"fade": round(d.real(0, 1), 2), "layers": count}, {"mask": ("randint", 0, 256)})

    return draft(habits, "blend", names, way.write(body), launch, before=dots.before)
