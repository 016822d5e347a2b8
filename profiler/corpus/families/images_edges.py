"""Ranks within windows of pixels, and differences across them."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.images import picture, pixels, typed_ids, with_more
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.plane import plane
from profiler.corpus.writing.sizes import draft


@family("rank_filters", "images")
def rank_filters(draw: Draw) -> Draft:
    """Medians, percentiles, extremes: by sorting, by selection, by counting, by a network."""
    habits = hand(draw)
    dots, way = pixels(draw, habits), typed_ids(plane(draw, habits))
    form = draw.choose(
        ("network", "insertion", "selection", "counting", "dilate", "erode", "open_cross", "gradient", "histogram"),
        "form",
    )
    radius = (
        1
        if form == "network"
        else draw.choose((1, 1, 2) if form in ("insertion", "selection", "counting") else (1, 2, 3, 5), "radius")
    )
    size = 2 * radius + 1
    v = dots.value
    first = ".x" if v == "float4" else ""
    gather = (
        f"{v} p[{size * size}];\nint k = 0;\nfor (int dy = -{radius}; dy <= {radius}; dy++)\n"
        f"    for (int dx = -{radius}; dx <= {radius}; dx++)\n        p[k++] = {dots.read('x + dx', 'y + dy')};\n"
    )
    middle = size * size // 2
    rank = draw.choose((middle, middle, size * size // 4, size * size - 2), "rank")
    if form == "network":
        pairs = [
            (1, 2),
            (4, 5),
            (7, 8),
            (0, 1),
            (3, 4),
            (6, 7),
            (1, 2),
            (4, 5),
            (7, 8),
            (0, 3),
            (5, 8),
            (4, 7),
            (3, 6),
            (1, 4),
            (2, 5),
            (4, 7),
            (4, 2),
            (6, 4),
            (4, 2),
        ]
        swap = f"#define ORDER(a, b) {{ const {v} low = fmin(a, b); b = fmax(a, b); a = low; }}\n"
        body, result, before = gather + "".join(f"ORDER(p[{a}], p[{b}])\n" for a, b in pairs), "p[4]", swap
    elif form == "insertion":
        body, before = (
            gather
            + (
                f"for (int a = 1; a < {size * size}; a++) {{\n    const {v} held = p[a];\n    int b = a - 1;\n"
                f"    while (b >= 0 && p[b]{first} > held{first}) {{\n"
                f"        p[b + 1] = p[b];\n        b--;\n    }}\n    p[b + 1] = held;\n}}\n"
            ),
            "",
        )
        result = f"p[{rank}]"
    elif form == "selection":
        body, before = (
            gather
            + (
                f"for (int a = 0; a <= {rank}; a++)\n    for (int b = a + 1; b < {size * size}; b++)\n"
                f"        if (p[b]{first} < p[a]{first}) {{\n"
                f"            const {v} held = p[a];\n            p[a] = p[b];\n            p[b] = held;\n        }}\n"
            ),
            "",
        )
        result = f"p[{rank}]"
    elif form == "counting":
        body, before = (
            gather
            + (
                f"{v} best = p[0];\nfor (int a = 0; a < {size * size}; a++) {{\n"
                f"    int below = 0;\n    for (int b = 0; b < {size * size}; b++)\n"
                f"        below += p[b]{first} < p[a]{first} || (p[b]{first} == p[a]{first} && b < a);\n"
                f"    if (below == {rank})\n        best = p[a];\n}}\n"
            ),
            "",
        )
        result = "best"
    elif form == "histogram":
        scale = "16.0f" if dots.store in ("image", "float", "float4") else "0.0625f"
        each = f"bins[clamp((int)({dots.read('x + dx', 'y + dy')}{first} * {scale}), 0, 15)]++;"
        body = (
            f"uchar bins[16] = {{0}};\nfor (int dy = -{radius}; dy <= {radius}; dy++)\n"
            f"    for (int dx = -{radius}; dx <= {radius}; dx++)\n"
            f"        {each}\nint seen = 0, bin = 0;\n"
            f"while (bin < 15 && seen + bins[bin] <= {rank}) {{\n    seen += bins[bin];\n    bin++;\n}}\n"
        )
        result, before = f"({v})((float)bin / {scale})", ""
    else:
        shape = draw.choose(("square", "disc", "cross"), "shape")
        test = {
            "square": "",
            "disc": f"if (dx * dx + dy * dy <= {radius * radius})\n",
            "cross": "if (dx == 0 || dy == 0)\n",
        }[shape]
        low = "low = fmin(low, p);\n" if form in ("erode", "gradient", "open_cross") else ""
        high = "high = fmax(high, p);\n" if form in ("dilate", "gradient", "open_cross") else ""
        body = (
            f"{v} low = {dots.read('x', 'y')}, high = low;\nfor (int dy = -{radius}; dy <= {radius}; dy++)\n"
            f"    for (int dx = -{radius}; dx <= {radius}; dx++)\n"
            f"        {test}{{\n            const {v} p = {dots.read('x + dx', 'y + dy')};\n            {low}{high}}}\n"
        )
        result, before = (
            {"erode": "low", "dilate": "high", "gradient": "high - low"}.get(
                form, f"(low + high) * 0.5f - {dots.read('x', 'y')}"
            ),
            "",
        )
    cost = {
        "network": 60.0,
        "insertion": 3.0 * size**4,
        "selection": 3.0 * size**2 * rank,
        "counting": 5.0 * size**4,
    }.get(form, 5.0 * size**2)

    def launch(d: Draw, w: Wish) -> Sized:
        return picture(dots, way, d, w, cost + 5 * size**2)[0]

    return draft(
        habits,
        "rank_filter",
        dots.parameters(),
        way.write(body + dots.write("x", "y", result)),
        launch,
        before=dots.before + before,
    )


@family("gradients_of_images", "images")
def gradients_of_images(draw: Draw) -> Draft:
    """Differences in directions: magnitudes, angles, Laplacians, corners, thinning of edges, binary patterns."""
    habits = hand(draw)
    dots, way = (
        pixels(draw, habits, {"image": 3.0, "float": 4.0, "uchar": 2.0, "ushort": 0.5}),
        typed_ids(plane(draw, habits)),
    )
    a, b = draw.choose(((1, 2), (1, 1), (3, 10)), "operator")
    first = ".x" if dots.value == "float4" else ""

    def p(dx: int, dy: int) -> str:
        return (
            dots.read(
                f"x {'+' if dx >= 0 else '-'} {abs(dx)}" if dx else "x",
                f"y {'+' if dy >= 0 else '-'} {abs(dy)}" if dy else "y",
            )
            + first
        )

    gx = (
        f"const float gx = {a}.0f * ({p(1, -1)} - {p(-1, -1)}) + {b}"
        f".0f * ({p(1, 0)} - {p(-1, 0)}) + {a}.0f * ({p(1, 1)} - {p(-1, 1)});\n"
    )
    gy = (
        f"const float gy = {a}.0f * ({p(-1, 1)} - {p(-1, -1)}) + {b}"
        f".0f * ({p(0, 1)} - {p(0, -1)}) + {a}.0f * ({p(1, 1)} - {p(1, -1)});\n"
    )
    form = draw.choose(
        (
            "magnitude",
            "sum",
            "angle",
            "laplace",
            "corner",
            "suppress",
            "pattern",
            "threshold",
            "simple",
            "emboss",
            "hysteresis",
        ),
        "form",
    )
    if form == "laplace":
        body, result = (
            f"const float r = {p(1, 0)} + {p(-1, 0)} + {p(0, 1)} + {p(0, -1)} - 4.0f * {p(0, 0)};\n",
            "fabs(r)",
        )
    elif form == "simple":
        body, result = f"const float gx = {p(1, 0)} - {p(0, 0)}, gy = {p(0, 1)} - {p(0, 0)};\n", "hypot(gx, gy)"
    elif form == "corner":
        body = (
            "float xx = 0.0f, yy = 0.0f, xy = 0.0f;\n"
            f"for (int j = -1; j <= 1; j++)\n    for (int i = -1; i <= 1; i++) {{\n"
            f"        const float gx = {dots.read('x + i + 1', 'y + j')}"
            f"{first} - {dots.read('x + i - 1', 'y + j')}{first};\n"
            f"        const float gy = {dots.read('x + i', 'y + j + 1')}"
            f"{first} - {dots.read('x + i', 'y + j - 1')}{first};\n"
            f"        xx += gx * gx;\n        yy += gy * gy;\n        xy += gx * gy;\n    }}\n"
        )
        result = draw.choose(
            (
                "xx * yy - xy * xy - 0.04f * (xx + yy) * (xx + yy)",
                "0.5f * (xx + yy - sqrt((xx - yy) * (xx - yy) + 4.0f * xy * xy))",
            ),
            "response",
        )
    elif form == "suppress":
        body = (
            f"const float c = {p(0, 0)};\nconst int way = (int)({p(1, 1)} * 4.0f) & 3;\nfloat before, after;\n"
            f"if (way == 0) {{\n    before = {p(-1, 0)};\n    after = {p(1, 0)};\n}} else if (way == 1) {{\n"
            f"    before = {p(-1, -1)};\n    after = {p(1, 1)};\n}} else if (way == 2) {{\n    before = {p(0, -1)};\n"
            f"    after = {p(0, 1)};\n}} else {{\n    before = {p(1, -1)};\n    after = {p(-1, 1)};\n}}\n"
        )
        result = "(c >= before && c >= after ? c : 0.0f)"
    elif form == "pattern":
        around = ((-1, -1), (0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0))
        body = f"const float c = {p(0, 0)};\nint code = 0;\n" + "".join(
            f"code |= ({p(i, j)} > c) << {k};\n" for k, (i, j) in enumerate(around)
        )
        result = draw.choose(("(float)code", "(float)popcount(code)"), "code")
    elif form == "hysteresis":
        body = (
            f"const float c = {p(0, 0)};\nfloat mark = c > high ? 1.0f : 0.0f;\n"
            f"if (c > low && c <= high) {{\n    for (int j = -1; j <= 1; j++)\n"
            "        for (int i = -1; i <= 1; i++)\n"
            f"            if ({dots.read('x + i', 'y + j')}{first} > high)\n                mark = 1.0f;\n}}\n"
        )
        result = "mark"
    else:
        body = gx + gy
        result = {
            "magnitude": draw.choose(
                (
                    "sqrt(gx * gx + gy * gy)",
                    "hypot(gx, gy)",
                    "native_sqrt(gx * gx + gy * gy)",
                    "length((float2)(gx, gy))",
                )
            ),
            "sum": "fabs(gx) + fabs(gy)",
            "angle": draw.choose(("atan2(gy, gx + 0.001f)", "atan2pi(gy, gx + 0.001f)")),
            "threshold": "(fabs(gx) + fabs(gy) > low ? 1.0f : 0.0f)",
            "emboss": "0.5f * (gx + gy) + 0.5f",
        }[form]
    result = f"({dots.value})({result})" if first else result
    names = [*dots.parameters(), habits.number("low", "float"), habits.number("high", "float")]

    def launch(d: Draw, w: Wish) -> Sized:
        made, _ = picture(dots, way, d, w, {"corner": 130.0, "angle": 110.0}.get(form, 45.0) / (3 if first else 1))
        return with_more(made, {}, {"low": 0.3, "high": 0.7}, {})

    return draft(habits, "edges", names, way.write(body + dots.write("x", "y", result)), launch, before=dots.before)
