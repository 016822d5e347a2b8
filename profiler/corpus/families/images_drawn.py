"""Dithering, and pictures drawn from formulas."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.images import picture, pixels, size_parameters, typed_ids, with_more
from profiler.corpus.families.images_points import whole_scale
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import finish_value, hand, loop
from profiler.corpus.writing.plane import Plane, plane
from profiler.corpus.writing.sizes import draft, sized


@family("dithering", "images")
def dithering(draw: Draw) -> Draft:
    """Few levels from many: ordered patterns, noise, errors carried along a line, nearest colours of a palette."""
    habits = hand(draw)
    dots = pixels(draw, habits, {"image": 2.0, "float": 3.0, "uchar": 2.0, "uchar4": 1.0, "float4": 1.0})
    form = draw.choose(("ordered", "ordered_formula", "noise", "error_line", "palette", "halftone", "levels"), "form")
    way = typed_ids(plane(draw, habits))
    v, white = dots.value, whole_scale(dots)
    scale_in, scale_out = (f" / {white}", f" * {white}") if white != "1.0f" else ("", "")
    before, size = dots.before, draw.choose((2, 4, 8), "pattern")
    line = form == "error_line"
    if form == "ordered":
        values = draw.shuffled(range(size * size))
        before += (
            f"{habits.fixed} float pattern[{size * size}] = {{\n    "
            + ", ".join(f"{value}.0f" for value in values)
            + "\n};\n"
        )
        body = f"const float t = (pattern[(y & {size - 1}) * {size} + (x & {size - 1})] + 0.5f) / {size * size}.0f;\n"
        result = "floor(p * levels + t) / levels"
    elif form == "ordered_formula":
        body = (
            "int t = 0;\nfor (int b = 0; b < 3; b++)\n"
            "    t |= ((((x ^ y) >> b) & 1) << (5 - 2 * b)) | (((y >> b) & 1) << (4 - 2 * b));\n"
        )
        result = "floor(p * levels + (float)t / 64.0f) / levels"
    elif form == "noise":
        body = (
            "uint h = (uint)(x * 1973 + y * 9277) * 26699u;\nh ^= h >> 13;\n"
            "h *= 1274126177u;\nconst float t = (float)(h >> 16) / 65536.0f;\n"
        )
        result = "floor(p * levels + t) / levels"
    elif form == "palette":
        body = f"float least = 1e6f;\n{v} nearest = p;\n" + loop(
            draw,
            "k",
            "0",
            "colours",
            (
                f"const {v} d = p - palette[k];\nconst float far = {'dot(d, d)' if v == 'float4' else 'd * d'};\n"
                f"if (far < least) {{\n    least = far;\n    nearest = palette[k];\n}}"
            ),
        )
        result = "nearest"
    elif form == "halftone":
        body = (
            f"const float cx = (float)(x % {2 * size}) - {size}.0f, cy = (float)(y % {2 * size}) - {size}.0f;\n"
            f"const float far = sqrt(cx * cx + cy * cy) / {size}.0f;\n"
        )
        result = f"({v})(far) * levels * p"
    else:
        body, result = (
            "",
            draw.choose(
                (
                    "rint(p * levels) / levels",
                    "floor(p * levels) / levels + 0.5f / levels",
                    "trunc(p * levels + 0.5f) / levels",
                )
            ),
        )
    if line:
        inner = (
            f"const {v} p = {dots.read('x', 'y', inside=True)}{scale_in} + carried;\n"
            f"const {v} q = rint(p * levels) / levels;\n"
            f"carried = (p - q) * 0.9f;\n{dots.write('x', 'y', f'q{scale_out}')}"
        )
        text = (
            f"const int y = get_global_id(0);\nif (y < height) {{\n"
            f"{v} carried = {dots.zero};\nfor (int x = 0; x < width; x++) {{\n{inner}\n}}\n}}\n"
        )
    else:
        text = way.write(
            f"const {v} p = {dots.read('x', 'y', inside=True)}{scale_in};\n"
            f"{body}{dots.write('x', 'y', f'({result}){scale_out}')}"
        )
    used = Plane("rows", "int") if line else way
    names = [
        *dots.parameters(),
        f"{draw.choose((habits.fixed, f'const {habits.space}'))} {v} *palette",
        habits.number("levels", "float"),
        habits.number("colours", "int"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        colours = d.log_integer(2, 256)
        made, _ = picture(dots, used, d, w, 6.0 * colours if form == "palette" else 14.0)
        return with_more(made, {"palette": colours}, {"levels": float(d.choose((2, 4, 16))), "colours": colours}, {})

    return draft(habits, "dither", names, text, launch, before=before)


@family("drawn_pictures", "images")
def drawn_pictures(draw: Draw) -> Draft:
    """Pictures from formulas alone: escape-time fractals, noise, patterns, plasma, cellular textures."""
    habits = hand(draw)
    dots, way = (
        pixels(draw, habits, {"image": 2.0, "float": 3.0, "uchar": 2.0, "uchar4": 1.0, "float4": 1.0, "int": 1.0}),
        typed_ids(plane(draw, habits)),
    )
    form = draw.choose(
        ("mandelbrot", "julia", "newton", "burning", "noise", "plasma", "cells", "rings", "spirograph", "attractor"),
        "form",
    )
    real = draw.choose(("float", "float", "double"), "precision")
    f = "f" if real == "float" else ""
    octaves = draw.choose((1, 3, 5), "octaves")
    before = dots.before
    head = f"const {real} u = ({real})x / width * 3 - 2, v = ({real})y / height * 2 - 1;\n"
    stop = draw.choose((f"a * a + b * b > 4.0{f}", f"a * a + b * b > 16.0{f}", f"fabs(a) + fabs(b) > 4.0{f}"), "stop")
    if form in ("mandelbrot", "julia", "burning"):
        start = (
            f"{real} a = u, b = v;\n"
            f"const {real} ca = {'u' if form != 'julia' else f'-0.74{f}'}"
            f", cb = {'v' if form != 'julia' else f'0.15{f}'};\n"
        )
        next_b = "2 * fabs(a * b) + cb" if form == "burning" else "2 * a * b + cb"
        shape = draw.choose(("for", "while", "no_break"), "loop")
        if shape == "for":
            text = (
                f"int k = 0;\nfor (; k < rounds; k++) {{\n    if ({stop})\n        break;\n"
                f"    const {real} t = a * a - b * b + ca;\n    b = {next_b};\n    a = t;\n}}\n"
            )
        elif shape == "while":
            text = (
                f"int k = 0;\nwhile (!({stop}) && k < rounds) {{\n"
                f"    const {real} t = a * a - b * b + ca;\n    b = {next_b};\n    a = t;\n    k++;\n}}\n"
            )
        else:
            text = (
                f"int k = 0;\nfor (int s = 0; s < rounds; s++) {{\n    const int inside = !({stop});\n"
                f"    const {real} t = a * a - b * b + ca;\n    b = inside ? {next_b} : b;\n"
                f"    a = inside ? t : a;\n    k += inside;\n}}\n"
            )
        text, result = head + start + text, "(float)k / (float)rounds"
    elif form == "newton":
        text = head + (
            f"{real} a = u + 0.01{f}, b = v + 0.01{f};\nint k = 0;\nfor (; k < rounds; k++) {{\n"
            f"    const {real} d = 3 * (a * a + b * b) * (a * a + b * b) + 0.001{f};\n"
            f"    const {real} na = (2 * a + (a * a - b * b) / d) / 3, nb = (2 * b - 2 * a * b / d) / 3;\n"
            f"    if (fabs(na - a) + fabs(nb - b) < 0.0001{f})\n        break;\n    a = na;\n    b = nb;\n}}\n"
        )
        result = "(float)k / (float)rounds"
    elif form == "noise":
        before += (
            "float lattice(int i, int j)\n{\n    uint h = (uint)(i * 374761393 + j * 668265263);\n"
            "    h = (h ^ (h >> 13)) * 1274126177u;\n    return (float)((h ^ (h >> 16)) & 65535u) / 65535.0f;\n}\n"
        )
        step = (
            "const int i = (int)floor(px), j = (int)floor(py);\nfloat fx = px - (float)i, fy = py - (float)j;\n"
            "fx = fx * fx * (3.0f - 2.0f * fx);\nfy = fy * fy * (3.0f - 2.0f * fy);\n"
            "sum += size * mix(mix(lattice(i, j), lattice(i + 1, j), fx), "
            "mix(lattice(i, j + 1), lattice(i + 1, j + 1), fx), fy);\n"
            "px *= 2.0f;\npy *= 2.0f;\nsize *= 0.5f;"
        )
        text, result = (
            (
                "float px = (float)x * 0.0625f, py = (float)y * 0.0625f, sum = 0.0f, size = 0.5f;\n"
                f"{loop(draw, 'o', '0', str(octaves), step)}"
            ),
            "sum",
        )
    elif form == "cells":
        text = (
            "const float px = (float)x * 0.05f, py = (float)y * 0.05f;\n"
            "float least = 8.0f;\nfor (int j = -1; j <= 1; j++)\n"
            "    for (int i = -1; i <= 1; i++) {\n        const int gx = (int)px + i, gy = (int)py + j;\n"
            "        const uint h = (uint)(gx * 7919 + gy * 104729) * 2654435761u;\n"
            "        const float dx = (float)gx + (float)(h & 255u) / 255.0f "
            "- px, dy = (float)gy + (float)((h >> 8) & 255u) / 255.0f - py;\n"
            "        least = fmin(least, dx * dx + dy * dy);\n    }\n"
        )
        result = draw.choose(("sqrt(least)", "least", "(least < 0.1f ? 1.0f : 0.0f)"))
    elif form == "attractor":
        text = head + (
            f"{real} a = u * 0.5{f}, b = v;\nfor (int k = 0; k < rounds; k++) {{\n"
            f"    const {real} t = sin(b * 1.4{f}) - cos(a * 1.1{f});\n"
            f"    b = sin(a * 0.9{f}) - cos(b * 1.3{f});\n    a = t;\n}}\n"
        )
        result = "(float)(a * a + b * b)"
    elif form == "rings":
        text, result = (
            head + f"const {real} r = sqrt(u * u + v * v);\n",
            finish_value(draw, "(float)(r - floor(r * 4) * 0.25)", "float", 3),
        )
    else:
        parts = draw.sample(
            ("sin(u * 8)", "cos(v * 6)", "sin((u + v) * 5)", "sin(sqrt(u * u + v * v) * 9)", "cos(u * v * 7)"),
            draw.integer(1, 5),
        )
        text, result = (
            head + f"const {real} w = {' + '.join(parts)};\n",
            "(float)(w * 0.125 + 0.5)".replace("0.125", f"0.125{f}").replace("0.5", f"0.5{f}"),
        )
    white = whole_scale(dots)
    value = f"({dots.value})({result})" + (f" * {white}" if white != "1.0f" else "")
    body = way.write(text + dots.write("x", "y", value))
    names = [dots.target(), *size_parameters(habits), habits.number("rounds", "int")]
    iterated = form in ("mandelbrot", "julia", "burning", "newton", "attractor")

    def launch(d: Draw, w: Wish) -> Sized:
        rounds = d.log_integer(1, 2000)
        share = {"mandelbrot": 0.25, "attractor": 1.0}.get(form, 0.1)
        cost = rounds * share * (60.0 if form == "attractor" else 9.0) + 8 if iterated else 90.0
        area = way.size(d, w, 16)
        buffers, images, _ = dots.lengths(area, "out")
        scalars = {"width": area.width, "height": area.height, "rounds": rounds}
        return sized(area.global_size, area.local_size, area.done * cost, buffers, scalars, images=images)

    return draft(habits, "draw_picture", names, body, launch, before=before)
