"""Pictures in other sizes, places and layouts."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.images import PIXEL_BYTES, Pixels, picture, pixels, typed_ids, with_more
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import Hand, finish_value, hand, loop
from profiler.corpus.writing.plane import plane, shape
from profiler.corpus.writing.sizes import Fills, draft, sized, within_memory

CUBIC = """
float cubic_weight(float d)
{
    d = fabs(d);
    return d < 1.0f ? (1.5f * d - 2.5f) * d * d + 1.0f : d < 2.0f ? ((-0.5f * d + 2.5f) * d - 4.0f) * d + 2.0f : 0.0f;
}
"""


def interpolated(draw: Draw, dots: Pixels, how: str) -> tuple[str, str]:
    """Code that declares `value` at the place `sx`, `sy`, and what it needs before the kernel."""
    v = dots.value
    if how == "sampler":
        return f"const {v} value = read_imagef(in, smooth, (float2)(sx + 0.5f, sy + 0.5f));\n", ""
    if how == "nearest":
        rounding = draw.choose(
            (
                "(int)floor(sx + 0.5f)|(int)floor(sy + 0.5f)",
                "convert_int_rte(sx)|convert_int_rte(sy)",
                "(int)sx|(int)sy",
            )
        )
        a, b = rounding.split("|")
        return f"const int ix = {a}, iy = {b};\nconst {v} value = {dots.read('ix', 'iy')};\n", ""
    head = (
        "const int ix = (int)floor(sx), iy = (int)floor(sy);\nconst float fx = sx - (float)ix, fy = sy - (float)iy;\n"
    )
    if how == "linear":
        one = f"mix({dots.read('ix', 'iy')}, {dots.read('ix + 1', 'iy')}, {{f}})".format(
            f="fx" if v == "float" else "(float4)(fx)"
        )
        two = f"mix({dots.read('ix', 'iy + 1')}, {dots.read('ix + 1', 'iy + 1')}, {{f}})".format(
            f="fx" if v == "float" else "(float4)(fx)"
        )
        if draw.chance(0.5, "mixes"):
            return (
                head
                + (
                    f"const {v} upper = {one};\nconst {v} lower = {two};\n"
                    f"const {v} value = mix(upper, lower, {'fy' if v == 'float' else '(float4)(fy)'});\n"
                ),
                "",
            )
        terms = " + ".join(
            (
                f"{dots.read(f'ix + {i}' if i else 'ix', f'iy + {j}' if j else 'iy')}"
                f" * ({'fx' if i else '(1.0f - fx)'} * {'fy' if j else '(1.0f - fy)'})"
            )
            for j in (0, 1)
            for i in (0, 1)
        )
        return head + f"const {v} value = {terms};\n", ""
    taps = "for (int j = -1; j <= 2; j++)\n    for (int i = -1; i <= 2; i++)\n"
    if how == "rows":
        inner = (
            f"{v} row = {dots.zero};\n    for (int i = -1; i <= 2; i++)\n"
            f"        row += {dots.read('ix + i', 'iy + j')} * cubic_weight((float)i - fx);\n"
            "    value += row * cubic_weight((float)j - fy);\n"
        )
        return head + f"{v} value = {dots.zero};\nfor (int j = -1; j <= 2; j++) {{\n    {inner}}}\n", CUBIC
    return (
        head
        + (
            f"{v} value = {dots.zero};\n"
            f"{taps}        value += {dots.read('ix + i', 'iy + j')}"
            " * (cubic_weight((float)i - fx) * cubic_weight((float)j - fy));\n"
        ),
        CUBIC,
    )


def smooth_sampler(draw: Draw, habits: Hand) -> str:
    address = draw.choose(("CLK_ADDRESS_CLAMP_TO_EDGE", "CLK_ADDRESS_CLAMP"))
    return f"{habits.fixed} sampler_t smooth = CLK_NORMALIZED_COORDS_FALSE | {address} | CLK_FILTER_LINEAR;\n"


HOW_COST = {"nearest": 6.0, "sampler": 25.0, "linear": 30.0, "cubic": 330.0, "rows": 200.0}


@family("resized_pictures", "images")
def resized_pictures(draw: Draw) -> Draft:
    """Scaling up and down: nearest, linear, cubic, means over areas, pyramids."""
    habits = hand(draw)
    dots, way = pixels(draw, habits), typed_ids(plane(draw, habits, exact=False))
    options = ["nearest", "linear", "cubic", "rows", "area"] + (["sampler"] if dots.store == "image" else [])
    how = draw.choose(options, "how")
    place = draw.choose(
        ("((float)x + 0.5f) * scale - 0.5f|((float)y + 0.5f) * scale - 0.5f", "(float)x * scale|(float)y * scale"),
        "place",
    )
    px, py = place.split("|")
    if how == "area":
        cells = (
            "const int x0 = (int)((float)x * scale), y0 = (int)((float)y * scale);\n"
            "const int reach = max((int)scale, 1);\n"
        )
        inner = loop(
            draw, "j", "0", "reach", loop(draw, "i", "0", "reach", f"value += {dots.read('x0 + i', 'y0 + j')};")
        )
        text, before = f"{cells}{dots.value} value = {dots.zero};\n{inner}value /= (float)(reach * reach);\n", ""
    else:
        text, before = interpolated(draw, dots, how)
        text = f"const float sx = {px};\nconst float sy = {py};\n{text}"
    store = dots.write(
        "x", "y", finish_value(draw, "value", dots.value, 1) if dots.store in ("float", "float4", "image") else "value"
    )
    body = way.write(text + store.replace("* width +", "* out_width +"), w="out_width", h="out_height")
    names = [
        *dots.parameters(),
        habits.number("out_width", "int"),
        habits.number("out_height", "int"),
        habits.number("scale", "float"),
    ]
    before = dots.before + (smooth_sampler(draw, habits) if how == "sampler" else "") + before

    def launch(d: Draw, w: Wish) -> Sized:
        area = way.size(d, w, 2 * PIXEL_BYTES[dots.store])
        across, down = shape(d, within_memory(max(1, int(w.data * d.log_real(0.1, 8))), 2 * PIXEL_BYTES[dots.store]))
        scale = round(max(0.01, min(64.0, across / area.width)), 4)
        every = {"in": across * down, "out": area.width * area.height}
        images: dict[str, tuple[int, int, int]] = {}
        fills: Fills = {}
        if dots.store == "image":
            every, images = {}, {"in": (across, down, 1), "out": (area.width, area.height, 1)}
        elif dots.store not in ("float", "float4"):
            fills = {"in": ("randint", 0, 256)}
        vector = 3.0 if dots.value == "float4" else 1.0
        cost = max(1, int(scale)) ** 2 * 6.0 if how == "area" else HOW_COST[how]
        scalars = {"width": across, "height": down, "out_width": area.width, "out_height": area.height, "scale": scale}
        return sized(
            area.global_size, area.local_size, area.done * (10 + cost * vector), every, scalars, fills, images=images
        )

    return draft(habits, "resize", names, body, launch, before=before)


@family("warped_pictures", "images")
def warped_pictures(draw: Draw) -> Draft:
    """Generate turned, sheared, bent pictures: affine and projective maps, lenses, swirls, polar axes, warps."""
    habits = hand(draw)
    dots, way = pixels(draw, habits), typed_ids(plane(draw, habits))
    how = draw.choose(["nearest", "linear", "linear", "cubic", *(["sampler"] if dots.store == "image" else [])], "how")
    centre = "const float dx = (float)x - 0.5f * (float)width, dy = (float)y - 0.5f * (float)height;\n"
    warp = draw.choose(
        (
            "rotate",
            "rotate_here",
            "affine",
            "projective",
            "lens",
            "swirl",
            "polar",
            "map",
            "map_delta",
            "ripple",
            "mirror",
            "fisheye",
            "inverse_lens",
        ),
        "warp",
    )
    back = " + 0.5f * (float)width;\n", " + 0.5f * (float)height;\n"
    text = {
        "rotate": f"{centre}const float sx = a * dx - b * dy{back[0]}const float sy = b * dx + a * dy{back[1]}",
        "rotate_here": (
            f"{centre}const float s = sin(a), c = cos(a);\n"
            f"const float sx = c * dx - s * dy{back[0]}const float sy = s * dx + c * dy{back[1]}"
        ),
        "affine": (
            "const float sx = m[0] * (float)x + m[1] * (float)y + m[2];\n"
            "const float sy = m[3] * (float)x + m[4] * (float)y + m[5];\n"
        ),
        "projective": (
            "const float w = 1.0f / (1.0f + fabs(a * 0.001f * (float)x + b * 0.001f * (float)y));\n"
            "const float sx = (m[0] * (float)x + m[1] * (float)y) * w;\n"
            "const float sy = (m[3] * (float)x + m[4] * (float)y) * w;\n"
        ),
        "lens": (
            f"{centre}const float r2 = (dx * dx + dy * dy) / (float)(width * width + height * height);\n"
            "const float k = 1.0f + r2 * (a + b * r2);\n"
            f"const float sx = dx * k{back[0]}const float sy = dy * k{back[1]}"
        ),
        "swirl": (
            f"{centre}const float r = sqrt(dx * dx + dy * dy);\nconst float t = a * exp(-r * 0.01f);\n"
            f"const float sx = cos(t) * dx - sin(t) * dy{back[0]}const float sy = sin(t) * dx + cos(t) * dy{back[1]}"
        ),
        "polar": (
            "const float t = (float)x / (float)width * 6.2831853f, r = (float)y * 0.5f;\n"
            "const float sx = r * cos(t) + 0.5f * (float)width;\nconst float sy = r * sin(t) + 0.5f * (float)height;\n"
        ),
        "map": (
            "const float sx = map[y * width + x].x * (float)width;\n"
            "const float sy = map[y * width + x].y * (float)height;\n"
        ),
        "map_delta": (
            "const float2 d = map[y * width + x];\n"
            "const float sx = (float)x + a * 8.0f * d.x, sy = (float)y + b * 8.0f * d.y;\n"
        ),
        "ripple": (
            "const float sx = (float)x + 4.0f * sin((float)y * 0.1f);\n"
            "const float sy = (float)y + 4.0f * native_cos((float)x * 0.1f);\n"
        ),
        "mirror": "const float sx = (float)(width - 1 - x), sy = (float)(height - 1 - y) * a;\n",
        "fisheye": (
            f"{centre}const float r = sqrt(dx * dx + dy * dy) + 0.01f;\n"
            "const float k = (float)width * 0.3f * atan(r / (float)width) / r;\n"
            f"const float sx = dx * k * 2.0f{back[0]}const float sy = dy * k * 2.0f{back[1]}"
        ),
        "inverse_lens": (
            f"{centre}float ux = dx, uy = dy;\nfor (int k = 0; k < 5; k++) {{\n"
            "    const float s = 1.0f + a * (ux * ux + uy * uy) / (float)(width * width + height * height);\n"
            f"    ux = dx / s;\n    uy = dy / s;\n}}\nconst float sx = ux{back[0]}const float sy = uy{back[1]}"
        ),
    }[warp]
    sampled, before = interpolated(draw, dots, how)
    guard = draw.choose(("", "", "inside"), "guard")
    value = (
        "value"
        if not guard
        else f"(sx >= 0.0f && sy >= 0.0f && sx < (float)width && sy < (float)height ? value : {dots.zero})"
    )
    body = way.write(text + sampled + dots.write("x", "y", value))
    names = [
        *dots.parameters(),
        habits.takes("float2", "map"),
        f"{draw.choose((habits.fixed, f'const {habits.space}'))} float *m",
    ]
    names += [habits.number("a", "float"), habits.number("b", "float")]
    before = dots.before + (smooth_sampler(draw, habits) if how == "sampler" else "") + before

    def launch(d: Draw, w: Wish) -> Sized:
        cost = (
            HOW_COST[how]
            + {"swirl": 90.0, "polar": 60.0, "rotate_here": 60.0, "inverse_lens": 60.0}.get(warp, 12.0) / 2
        )
        made, area = picture(dots, way, d, w, cost, bytes_more=8 if warp.startswith("map") else 0)
        angle = d.choose((0.0, 0.1, 0.5, 0.785, 1.57))
        more: dict[str, int | float] = {"a": round(1.0 - angle / 2, 4), "b": angle}
        return with_more(
            made,
            {"map": area.width * area.height, "m": 6},
            more,
            {"map": d.choose((("uniform", 0.0, 1.0), ("clustered", 0.0, 1.0, 0.01)))},
        )

    return draft(habits, "warp", names, body, launch, before=before)
