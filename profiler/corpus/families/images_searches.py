"""Histograms of pictures, and blocks that are looked for in them."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.images import size_parameters, typed_ids
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import finish_value, hand, loop
from profiler.corpus.writing.plane import plane
from profiler.corpus.writing.sizes import Fills, draft, sized


@family("picture_histograms", "images")
def picture_histograms(draw: Draw) -> Draft:
    """Histograms of pictures, whole or by tiles, gradients by angle, and tones looked up in them."""
    habits = hand(draw)
    way = typed_ids(plane(draw, habits))
    kind = draw.choose(("uchar", "float", "uchar4", "ushort"), "pixels")
    goal = draw.choose(
        ("count", "count_tiles", "apply", "apply_tiles", "angles", "joint", "weighted", "otsu_masks"), "goal"
    )
    bins = draw.choose((16, 64, 256), "bins")
    at = "y * width + x"
    value = {
        "uchar": f"(int)in[{at}]",
        "float": f"(int)(in[{at}] * 255.0f)",
        "uchar4": f"(int)(in[{at}].x + in[{at}].y + in[{at}].z) / 3",
        "ushort": f"(int)(in[{at}] >> 8)",
    }[kind]
    bin_ = f"clamp({value}, 0, 255) * {bins} / 256"
    add = draw.choose(("atomic_inc(&counts[{b}]);", "atomic_add(&counts[{b}], 1u);"), "atomic")
    tile = "(min(y * tiles / height, tiles - 1) * tiles + min(x * tiles / width, tiles - 1))"
    text = {
        "count": f"const int b = {bin_};\n{add.format(b='b')}",
        "count_tiles": f"const int b = {bin_};\n{add.format(b=f'{tile} * {bins} + b')}",
        "apply": f"const int b = {bin_};\nout[{at}] = curve[b];",
        "apply_tiles": (
            f"const int b = {bin_};\n"
            "const float fx = (float)x / (float)width * (float)(tiles "
            "- 1), fy = (float)y / (float)height * (float)(tiles - 1);\n"
            "const int tx = (int)fx, ty = (int)fy;\n"
            "const int ux = min(tx + 1, tiles - 1), uy = min(ty + 1, tiles - 1);\n"
            f"const float one = mix(curve[(ty * tiles + tx) * {bins}"
            f" + b], curve[(ty * tiles + ux) * {bins} + b], fx - (float)tx);\n"
            f"const float two = mix(curve[(uy * tiles + tx) * {bins}"
            f" + b], curve[(uy * tiles + ux) * {bins} + b], fx - (float)tx);\n"
            f"out[{at}] = mix(one, two, fy - (float)ty);"
        ),
        "angles": (
            "const float gx = level[y * width + min(x + 1, width - 1)] - level[y * width + max(x - 1, "
            "0)], gy = level[min(y + 1, height - 1) * width + x] - level[max(y - 1, 0) * width + x];\n"
            f"const int b = clamp((int)((atan2(gy, gx + 0.001f) + 3.1416f) * {bins / 6.2832:.3f}f), 0, {bins - 1});\n"
            f"atomic_add(&counts[{tile} * {bins} + b], (uint)(hypot(gx, gy) * 16.0f));"
        ),
        "joint": (
            f"const int b = {bin_};\nconst int c = clamp((int)(level[{at}] * {bins}.0f), 0, {bins - 1});\n"
            f"atomic_inc(&counts[c * {bins} + b]);"
        ),
        "weighted": (
            f"const int b = {bin_};\nconst int dx = x - width / 2, dy = y - height / 2;\n"
            "atomic_add(&counts[b], (uint)(1000.0f / (1.0f + 0.001f * (float)(dx * dx + dy * dy))));"
        ),
        "otsu_masks": (
            f"const int b = {bin_};\nuchar code = 0;\nfor (int k = 0; k < 8; k++)\n"
            f"    code |= (uchar)((b > (int)(curve[k] * {bins}.0f)) << k);\nmask[{at}] = code;"
        ),
    }[goal]
    near = draw.choose((habits.fixed, f"const {habits.space}"), "curve_space")
    near = f"const {habits.space}" if goal == "apply_tiles" else near
    names = [
        habits.takes(kind, "in"),
        habits.takes("float", "level"),
        f"{near} float *curve",
    ]
    names += [
        f"{draw.choose(('volatile ', ''))}{habits.space} uint *counts",
        habits.gives("float", "out"),
        habits.gives("uchar", "mask"),
        habits.number("tiles", "int"),
        *size_parameters(habits),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        area = way.size(d, w, 16)
        every = area.width * area.height
        tiles = d.log_integer(1, 16)
        shades = {"uchar": 256, "uchar4": 256, "ushort": 65536}.get(kind, 2)
        look = d.choose(
            (
                ("randint", 0, shades),
                ("skewed", 0, shades),
                ("clustered", 0, shades, max(1, shades // 16)),
                ("const", 7),
            )
        )
        fills: Fills = {"level": ("uniform", 0.0, 1.0), "curve": ("sorted", 0.0, 1.0)}
        fills["in"] = (
            look if kind != "float" else d.choose((("uniform", 0.0, 1.0), ("skewed", 0.0, 1.0), ("uniform", 0.4, 0.45)))
        )
        lengths = dict.fromkeys(("in", "level", "out", "mask"), every) | {
            "curve": bins,
            "counts": max(bins * bins, bins * tiles * tiles),
        }
        if goal == "apply_tiles":
            lengths["curve"] = bins * tiles * tiles
        cost = {"angles": 140.0, "apply_tiles": 60.0, "otsu_masks": 40.0}.get(goal, 16.0)
        return sized(
            area.global_size,
            area.local_size,
            area.done * cost,
            lengths,
            {"tiles": tiles, "width": area.width, "height": area.height},
            fills,
        )

    return draft(habits, "picture_histogram", names, way.write(text), launch)


@family("block_matching", "images")
def block_matching(draw: Draw) -> Draft:
    """Where a block or template fits best: differences, correlations, motion, depth from two views, flow."""
    habits = hand(draw)
    way = typed_ids(plane(draw, habits))
    kind = draw.choose(("float", "uchar", "float"), "pixels")
    goal = draw.choose(("template", "template_normal", "motion", "stereo", "census", "flow", "motion_early"), "goal")
    side = draw.choose((4, 5, 8), "block")
    a, b = "(float)first[{p}]", "(float)second[{p}]"
    norm = draw.choose(("absolute", "square"), "norm")
    diff = "fabs(d)" if norm == "absolute" else "d * d"

    def at(x: str, y: str) -> str:
        return f"clamp({y}, 0, height - 1) * width + clamp({x}, 0, width - 1)"

    here = a.format(p=at("x + i", "y + j"))
    block = f"for (int j = 0; j < {side}; j++)\n    for (int i = 0; i < {side}; i++) {{\n"
    if goal == "template":
        step = f"const float d = {here} - piece[j * reach + i];\nsum += {diff};"
        text = (
            "float sum = 0.0f;\n"
            f"{loop(draw, 'j', '0', 'reach', loop(draw, 'i', '0', 'reach', step))}"
            f"out[y * width + x] = {finish_value(draw, 'sum', 'float', 1)};"
        )
    elif goal == "template_normal":
        inner = f"const float p = {here}, q = piece[j * reach + i]; pq += p * q; pp += p * p; qq += q * q;"
        text = (
            "float pq = 0.0f, pp = 0.0f, qq = 0.0f;\n"
            f"{loop(draw, 'j', '0', 'reach', loop(draw, 'i', '0', 'reach', inner))}"
            "out[y * width + x] = pq * rsqrt(pp * qq + 0.01f);"
        )
    elif goal in ("motion", "motion_early", "stereo"):
        span = (
            "for (int s = 0; s < reach; s++) {\nconst int dx = -s, dy = 0;\n"
            if goal == "stereo"
            else (
                "for (int s = 0; s < reach * reach; s++) {\n"
                "const int dx = s % reach - reach / 2, dy = s / reach - reach / 2;\n"
            )
        )
        there = b.format(p=at("x + i + dx", "y + j + dy"))
        sum_up = f"{block}        const float d = {here} - {there};\n        sum += {diff};\n    }}\n"
        if goal == "motion_early":
            sum_up = (
                f"for (int j = 0; j < {side} && sum < least; j++)\n    for (int i = 0; i < {side}; i++) {{\n"
                f"        const float d = {here} - {there};\n        sum += {diff};\n    }}\n"
            )
        text = (
            f"float least = 1e6f;\nint best = 0;\n{span}float sum = 0.0f;\n{sum_up}if (sum < least) {{\n"
            f"    least = sum;\n    best = s;\n}}\n}}\nwhere[y * width + x] = best;\nout[y * width + x] = least;"
        )
    elif goal == "census":
        centre_a, centre_b = a.format(p="y * width + x"), b.format(p=at("x - s", "y"))
        text = (
            f"int least = 1000, best = 0;\nfor (int s = 0; s < reach; s++) {{\n    int apart = 0;\n"
            "    for (int j = -1; j <= 1; j++)\n        for (int i = -1; i <= 1; i++)\n"
            f"            apart += ({a.format(p=at('x + i', 'y + j'))} > {centre_a}"
            f") != ({b.format(p=at('x + i - s', 'y + j'))} > {centre_b});\n"
            f"    if (apart < least) {{\n        least = apart;\n"
            f"        best = s;\n    }}\n}}\nwhere[y * width + x] = best;"
        )
    else:
        text = (
            "float xx = 0.01f, xy = 0.0f, yy = 0.01f, xt = 0.0f, yt = 0.0f;\n"
            f"{block}        const float gx = {a.format(p=at('x + i + 1', 'y + j'))} - {here}"
            f", gy = {a.format(p=at('x + i', 'y + j + 1'))} - {here}"
            f", gt = {b.format(p=at('x + i', 'y + j'))} - {here};\n"
            "        xx += gx * gx;\n        xy += gx * gy;\n        yy += gy * gy;\n"
            f"        xt += gx * gt;\n        yt += gy * gt;\n    }}\n"
            "const float det = fabs(xx * yy - xy * xy) + 0.01f;\n"
            "flow[y * width + x] = (float2)((xy * yt - yy * xt) / det, (xy * xt - xx * yt) / det);"
        )
    names = [
        habits.takes(kind, "first"),
        habits.takes(kind, "second"),
        f"{draw.choose((habits.fixed, f'const {habits.space}'))} float *piece",
    ]
    names += [
        habits.gives("float", "out"),
        habits.gives("int", "where"),
        habits.gives("float2", "flow"),
        habits.number("reach", "int"),
        *size_parameters(habits),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        area = way.size(d, w, 24)
        every = area.width * area.height
        reach = d.log_integer(2, 24)
        tried = {
            "template": reach**2,
            "template_normal": reach**2,
            "stereo": reach * side**2,
            "census": reach * 9,
            "flow": 4 * side**2,
        }.get(goal, reach**2 * side**2)
        lengths = dict.fromkeys(("first", "second", "out", "where", "flow"), every) | {"piece": reach * reach}
        fills: Fills = {} if kind == "float" else {"first": ("randint", 0, 256), "second": ("randint", 0, 256)}
        scalars = {"reach": reach, "width": area.width, "height": area.height}
        return sized(area.global_size, area.local_size, area.done * (10.0 + 12 * tried), lengths, scalars, fills)

    return draft(habits, "match_blocks", names, way.write(text), launch)
