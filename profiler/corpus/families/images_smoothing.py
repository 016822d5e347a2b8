"""Smoothing along lines and smoothing that keeps edges."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.images import picture, pixels, typed_ids, with_more
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import finish_value, hand, loop
from profiler.corpus.writing.plane import Plane, plane
from profiler.corpus.writing.sizes import draft


@family("separable_passes", "images")
def separable_passes(draw: Draw) -> Draft:
    """One pass of a separable filter, along rows or columns; running sums; recursive smoothing of whole lines."""
    habits = hand(draw)
    across = draw.chance(0.5, "along_rows")
    form = draw.choose(("window", "window", "running", "recursive", "symmetric"), "form")
    dots = pixels(
        draw, habits, None if form in ("window", "symmetric") else {"float": 4.0, "float4": 1.5, "uchar": 2.0}
    )
    v = dots.value
    fixed = draw.choose((0, 0, 2, 4, 7), "radius")
    r = str(fixed) if fixed else "radius"

    def at(offset: str, inside: bool = False) -> str:
        return (
            dots.read(f"x + {offset}", "y", inside=inside) if across else dots.read("x", f"y + {offset}", inside=inside)
        )

    if form in ("window", "symmetric"):
        way = typed_ids(plane(draw, habits))
        if form == "window":
            body = (
                f"{v} sum = {dots.zero};\n"
                f"{loop(draw, 'd', f'-{r}', f'{r} + 1', f'sum += weights[d + {r}] * {at(chr(100))};')}"
            )
        else:
            each = f"sum += weights[{r} + d] * ({at('d')} + {at('(-d)')});"
            body = f"{v} sum = weights[{r}] * {dots.read('x', 'y')};\n{loop(draw, 'd', '1', f'{r} + 1', each)}"
        body = way.write(body + dots.write("x", "y", finish_value(draw, "sum", v, 1)))
    else:
        way = Plane("rows" if across else "columns", "int")
        along, size = ("x", "width") if across else ("y", "height")
        fixed_line, lines = ("y", "height") if across else ("x", "width")
        read = dots.read("x", "y", inside=True)
        if form == "running":
            start = (
                f"{v} sum = {dots.zero};\nfor (int d = -{r}; d < {r}; d++) {{\n"
                f"    const int {along} = 0;\n    sum += {at('d')};\n}}\n"
            )
            step = f"sum += {at(r)};\n{dots.write('x', 'y', f'sum / (float)(2 * {r} + 1)')}\nsum -= {at(f'(-{r})')};"
        else:
            both = draw.chance(0.5, "back_again")
            start = f"{v} held = {dots.zero};\n"
            step = f"held = held + 0.25f * ({read} - held);\n{dots.write('x', 'y', 'held')}"
            if both and dots.store in ("float", "float4"):
                step += (
                    f"\n}}\nfor (int {along} = {size} - 1; {along} >= 0; {along}--) {{\n"
                    f"held = held + 0.25f * (out[y * width + x] - held);\n{dots.write('x', 'y', 'held')}"
                )
        inner = f"{start}for (int {along} = 0; {along} < {size}; {along}++) {{\n{step}\n}}\n"
        body = f"const int {fixed_line} = get_global_id(0);\nif ({fixed_line} >= {lines})\n    return;\n{inner}"
    near = draw.choose((habits.fixed, f"const {habits.space}"), "weights_space")
    names = [*dots.parameters(), f"{near} float *weights", habits.number("radius", "int")]

    def launch(d: Draw, w: Wish) -> Sized:
        radius = fixed or d.log_integer(1, 32)
        made, _ = picture(dots, way, d, w, 5.0 * (2 * radius + 1) if form in ("window", "symmetric") else 14.0)
        return with_more(
            made, {"weights": 2 * radius + 1}, {"radius": radius}, {"weights": ("uniform", 0.0, 1.0 / radius)}
        )

    return draft(habits, "filter_lines", names, body, launch, before=dots.before)


@family("edge_keeping_filters", "images")
def edge_keeping_filters(draw: Draw) -> Draft:
    """Bilateral means, means of alike patches, diffusion that stops at edges, quadrants of least variance."""
    habits = hand(draw)
    dots, way = (
        pixels(draw, habits, {"image": 3.0, "float": 4.0, "uchar": 1.0, "float4": 1.0}),
        typed_ids(plane(draw, habits)),
    )
    v = dots.value
    form = draw.choose(("bilateral", "bilateral", "patches", "diffusion", "quadrants", "sigma", "guided"), "form")
    fixed = draw.choose((0, 1, 2, 3), "radius")
    r = str(fixed) if fixed else "radius"
    square = "dot(d, d)" if v == "float4" else "d * d"
    e = draw.choose(("exp", "native_exp"), "exponential")
    centre = f"const {v} c = {dots.read('x', 'y')};\n{v} sum = {dots.zero};\nfloat all = 0.0f;\n"
    pixel = dots.read("x + i", "y + j")
    loops = f"for (int j = -{r}; j <= {r}; j++)\n    for (int i = -{r}; i <= {r}; i++) {{\n"
    result = "sum / (all + 0.001f)"
    if form == "bilateral":
        body = (
            f"{centre}{loops}const {v} p = {pixel};\nconst {v} d = p - c;\n"
            f"const float w = {e}(-(float)(i * i + j * j) * 0.05f - fmin({square} * sharp, 20.0f));\n"
            f"sum += p * w;\nall += w;\n}}\n"
        )
    elif form == "sigma":
        body = (
            f"{centre}{loops}const {v} p = {pixel};\nconst {v} d = p - c;\n"
            f"if ({square} < sharp) {{\n    sum += p;\n    all += 1.0f;\n}}\n}}\n"
        )
    elif form == "patches":
        patch = (
            f"float far = 0.0f;\nfor (int n = -1; n <= 1; n++)\n    for (int m = -1; m <= 1; m++) {{\n"
            f"        const {v} d = {dots.read('x + i + m', 'y + j + n')} - {dots.read('x + m', 'y + n')};\n"
            f"        far += {square};\n    }}\n"
        )
        body = (
            f"{centre}{loops}{patch}const float w = {e}(-fmin(far * sharp, 20.0f));\n"
            f"sum += {pixel} * w;\nall += w;\n}}\n"
        )
    elif form == "diffusion":
        body = centre
        for i, j in (("1", "0"), ("-1", "0"), ("0", "1"), ("0", "-1")):
            body += (
                f"{{\n    const {v} d = {dots.read(f'x + ({i})', f'y + ({j})')} - c;\n"
                f"    sum += d * (1.0f / (1.0f + {square} * sharp));\n}}\n"
            )
        result = "c + 0.2f * sum + 0.0f * all"
    elif form == "quadrants":
        body = (
            f"{centre}float least = 1e6f;\nfor (int q = 0; q < 4; q++) {{\n"
            f"    const int sx = (q & 1) ? 0 : -{r}, sy = (q >> 1) ? 0 : -{r};\n"
            f"    {v} mean = {dots.zero};\n    float spread = 0.0f;\n"
            f"    for (int j = 0; j <= {r}; j++)\n        for (int i = 0; i <= {r}; i++) {{\n"
            f"            const {v} d = {dots.read('x + sx + i', 'y + sy + j')};\n"
            f"            mean += d;\n            spread += {square};\n"
            f"        }}\n    if (spread < least) {{\n        least = spread;\n"
            f"        sum = mean / (float)(({r} + 1) * ({r} + 1));\n    }}\n}}\n"
        )
        result = "sum + 0.0f * (all + c)"
    else:
        body = (
            f"{centre}{v} squares = {dots.zero};\n{loops}const {v} p = {pixel};\n"
            f"sum += p;\nsquares += p * p;\nall += 1.0f;\n}}\nsum /= all;\n"
            f"const {v} spread = fmax(squares / all - sum * sum, ({v})(0.0f));\n"
            f"const {v} a = spread / (spread + sharp + 0.001f);\n"
        )
        result = "a * c + (1.0f - a) * sum"
    names = [*dots.parameters(), habits.number("radius", "int"), habits.number("sharp", "float")]

    def launch(d: Draw, w: Wish) -> Sized:
        radius = fixed or d.log_integer(1, 8)
        window = (2 * radius + 1) ** 2
        cost = {
            "bilateral": 26.0 * window,
            "patches": 80.0 * window,
            "diffusion": 60.0,
            "quadrants": 26.0 * (radius + 1) ** 2,
        }.get(form, 8.0 * window)
        made, _ = picture(dots, way, d, w, cost)
        return with_more(made, {}, {"radius": radius, "sharp": round(d.real(0.1, 10), 2)}, {})

    return draft(
        habits, "keep_edges", names, way.write(body + dots.write("x", "y", result)), launch, before=dots.before
    )
