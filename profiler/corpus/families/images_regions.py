"""Regions of pictures: sums from integral tables, labels that spread, histograms, blocks that are looked for."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.images import size_parameters, typed_ids
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import hand, loop
from profiler.corpus.writing.plane import plane
from profiler.corpus.writing.sizes import Fills, draft, sized


@family("integral_table_filters", "images")
def integral_table_filters(draw: Draw) -> Draft:
    """Means, spreads and features over boxes of any size from four corners of a summed table."""
    habits = hand(draw)
    way = typed_ids(plane(draw, habits))
    kind = draw.choose(("float", "float", "uint", "double", "int"), "type")
    goal = draw.choose(
        ("mean", "threshold", "spread", "contrast", "features", "scales", "build_row", "build_column"), "goal"
    )
    fixed = draw.choose((0, 2, 7, 15), "radius")
    r = str(fixed) if fixed else "radius"

    def box(table: str, radius: str) -> str:
        return f"box_sum({table}, x - ({radius}), y - ({radius}), x + ({radius}), y + ({radius}), width, height)"

    safe = draw.choose(("clamped", "tested"), "corners")
    space = f"const {habits.space} {kind}"
    if safe == "clamped":
        inside = (
            "x0 = clamp(x0, 0, width - 1);\n    y0 = clamp(y0, 0, height - 1);\n"
            "    x1 = clamp(x1, 0, width - 1);\n    y1 = clamp(y1, 0, height - 1);\n"
            "    return table[y1 * width + x1] - table[y0 * width + "
            "x1] - table[y1 * width + x0] + table[y0 * width + x0];"
        )
    else:
        inside = (
            "x0 = min(x0, width - 1);\n    y0 = min(y0, height - 1);\n    x1 = clamp(x1, 0, width - 1);\n"
            f"    y1 = clamp(y1, 0, height - 1);\n    {kind} sum = table[y1 * width + x1];\n"
            "    if (x0 > 0)\n        sum -= table[y1 * width + x0 - 1];\n"
            "    if (y0 > 0)\n        sum -= table[(y0 - 1) * width + x1];\n    if (x0 > 0 && y0 > 0)\n"
            "        sum += table[(y0 - 1) * width + x0 - 1];\n    return sum;"
        )
    before = (
        f"{kind} box_sum({space} *table, int x0, int y0, int x1, int y1, int width, int height)\n{{\n    {inside}\n}}\n"
    )
    area = f"(float)((2 * {r} + 1) * (2 * {r} + 1))"
    at = "y * width + x"
    if goal == "mean":
        text = f"out[{at}] = (float){box('sums', r)} / {area};"
    elif goal == "threshold":
        text = (
            f"const float mean = (float){box('sums', r)} / {area};\n"
            f"mask[{at}] = in[{at}] > mean * bias {draw.choose(('? 255 : 0', '? 1 : 0'))};"
        )
    elif goal == "spread":
        text = (
            f"const float mean = (float){box('sums', r)} / {area}, square = (float){box('squares', r)} / {area};\n"
            f"out[{at}] = sqrt(fabs(square - mean * mean));"
        )
    elif goal == "contrast":
        text = (
            f"const float mean = (float){box('sums', r)} / {area}, wide = (float){box('squares', r)} / {area};\n"
            f"out[{at}] = (in[{at}] - mean) / (fabs(wide) + 0.1f) * bias + 0.5f;"
        )
    elif goal == "features":
        step = (
            "const int4 f = shapes[k];\n"
            "sum += (float)(f.w & 1 ? 1 : -1) * (float)box_sum(sums, x + f.x, "
            "y + f.y, x + f.x + f.z + 1, y + f.y + f.w + 1, width, height);"
        )
        text = f"float sum = 0.0f;\n{loop(draw, 'k', '0', 'shape_count', step)}out[{at}] = sum * 0.001f;"
    elif goal == "scales":
        step = (
            f"const float v = (float){box('sums', '1 << s')} / (float)((2 << s) * (2 << s) + 1);\n"
            f"if (v > best) {{\n    best = v;\n    at = s;\n}}"
        )
        text = (
            "float best = 0.0f;\nint at = 0;\n"
            f"{loop(draw, 's', '0', 'shape_count & 7', step)}out[{at}] = best + (float)at;"
        ).replace("out[y * width + x]", "out[y * width + x]")
    elif goal == "build_row":
        text, before = (
            (
                f"{kind} sum = 0;\nfor (int k = max(x - {r}, 0); k <= x; k++)\n"
                f"    sum += sums[y * width + k];\ntable_out[{at}] = sum;"
            ),
            "",
        )
    else:
        text, before = (
            (
                f"{kind} sum = 0;\nfor (int k = 0; k <= min(y, {r}); k++)\n"
                f"    sum += sums[(y - k) * width + x];\ntable_out[{at}] = sum;"
            ),
            "",
        )
    names = [
        habits.takes("float", "in"),
        f"{space} *sums",
        f"{space} *squares",
        f"{habits.fixed} int4 *shapes",
        habits.gives("float", "out"),
    ]
    names += [
        habits.gives("uchar", "mask"),
        habits.gives(kind, "table_out"),
        habits.number("radius", "int"),
        habits.number("shape_count", "int"),
    ]
    names += [habits.number("bias", "float"), *size_parameters(habits)]

    def launch(d: Draw, w: Wish) -> Sized:
        area_size = way.size(d, w, 30)
        every = area_size.width * area_size.height
        radius, count = fixed or d.log_integer(1, 64), d.log_integer(1, 32)
        ascending = ("sorted", 0.0, 1000.0) if kind in ("float", "double") else ("sorted", 0, 100000)
        fills: Fills = {"sums": ascending, "squares": ascending, "shapes": ("randint", -8, 9)}
        lengths = dict.fromkeys(("in", "sums", "squares", "out", "mask", "table_out"), every) | {"shapes": count}
        cost = {
            "features": 40.0 * count,
            "scales": 35.0 * (count & 7),
            "build_row": 4.0 * radius,
            "build_column": 4.0 * radius,
        }.get(goal, 40.0)
        scalars = {
            "radius": radius,
            "shape_count": count,
            "bias": 0.9,
            "width": area_size.width,
            "height": area_size.height,
        }
        return sized(area_size.global_size, area_size.local_size, area_size.done * (10 + cost), lengths, scalars, fills)

    return draft(habits, "box_filter", names, way.write(text), launch, before=before)


@family("spreading_regions", "images")
def spreading_regions(draw: Draw) -> Draft:
    """Labels, fills and distances that spread to neighbours by a step, along a line, or to a root."""
    habits = hand(draw)
    way = typed_ids(plane(draw, habits))
    goal = draw.choose(
        (
            "labels",
            "labels_line",
            "flood",
            "distance",
            "distance_jump",
            "distance_row",
            "root",
            "watershed",
            "borders",
            "life",
        ),
        "goal",
    )
    eight = draw.chance(0.5, "eight_neighbours")
    places = [(0, -1), (-1, 0), (1, 0), (0, 1)] + ([(-1, -1), (1, -1), (-1, 1), (1, 1)] if eight else [])
    listed = draw.chance(0.4, "unrolled")
    at = "y * width + x"

    def around(inner: str) -> str:
        """`inner` for each neighbour inside, whose place is `q`."""
        if listed:
            text = ""
            for i, j in places:
                tests = (
                    ["x > 0"] * (i < 0)
                    + ["x < width - 1"] * (i > 0)
                    + ["y > 0"] * (j < 0)
                    + ["y < height - 1"] * (j > 0)
                )
                text += (
                    f"if ({' && '.join(tests)}) {{\n"
                    f"    const int q = (y + ({j})) * width + x + ({i});\n    {inner}\n}}\n"
                )
            return text
        skip = "" if eight else " && (i == 0 || j == 0)"
        return (
            "for (int j = -1; j <= 1; j++)\n    for (int i = -1; i <= 1; i++)\n"
            f"        if (x + i >= 0 && x + i < width && y + j >= 0 && y + j < height{skip}) {{\n"
            f"            const int q = (y + j) * width + x + i;\n            {inner}\n        }}\n"
        )

    lives = draw.choose(
        (f"alive == 3 || (alive == 2 && mask[{at}]) ? 1 : 0", f"alive > 3 ? 1 : alive < 2 ? 0 : mask[{at}]"), "rule"
    )
    change = draw.choose(("", f"\nif (best != labels[{at}])\n    *again = 1;"), "flag")
    text = {
        "labels": (
            f"int best = labels[{at}];\nif (mask[{at}]) {{\n"
            f"{around('if (mask[q]) best = min(best, labels[q]);')}}}\nlabels_out[{at}] = best;{change}"
        ),
        "labels_line": (
            f"int best = labels[{at}];\nfor (int k = x - 1; k >= 0 && mask[y * width + k]; k--)\n"
            f"    best = min(best, labels[y * width + k]);\nlabels_out[{at}] = best;"
        ),
        "flood": (
            f"int best = labels[{at}];\nif (best == 0) {{\n"
            f"{around('if (labels[q] == 1 && fabs(in[q] - in[' + at + ']) < limit) best = 1;')}}}\n"
            f"labels_out[{at}] = best;{change}"
        ),
        "distance": f"float best = in[{at}];\n{around('best = fmin(best, in[q] + 1.0f);')}out[{at}] = best;",
        "distance_jump": (
            f"int best = labels[{at}];\nfloat least = 1e6f;\n"
            f"for (int j = -1; j <= 1; j++)\n    for (int i = -1; i <= 1; i++) {{\n"
            "        const int px = clamp(x + i * reach, 0, width - 1), py = clamp(y + j * reach, 0, height - 1);\n"
            "        const int s = labels[py * width + px];\n"
            "        const float dx = (float)(s % width - x), dy = (float)(s / width - y);\n"
            "        const float r = dx * dx + dy * dy;\n"
            f"        if (r < least) {{\n            least = r;\n"
            f"            best = s;\n        }}\n    }}\nlabels_out[{at}] = best;"
        ),
        "distance_row": (
            f"float best = in[{at}];\nfor (int k = 1; k <= reach; k++) {{\n"
            "    const float e = (float)(k * k);\n    if (e >= best)\n        break;\n"
            "    best = fmin(best, in[y * width + max(x - k, 0)] + e);\n"
            f"    best = fmin(best, in[y * width + min(x + k, width - 1)] + e);\n}}\nout[{at}] = best;"
        ),
        "root": (
            f"int p = labels[{at}];\nfor (int hop = 0; hop < reach && labels[p] != p; hop++)\n"
            f"    p = labels[p];\nlabels_out[{at}] = p;"
        ),
        "watershed": (
            f"float least = in[{at}];\nint best = {at};\n"
            f"{around('if (in[q] < least) { least = in[q]; best = q; }')}labels_out[{at}] = best;"
        ),
        "borders": (
            f"int edge = 0;\n{around('edge |= labels[q] != labels[' + at + '];')}mask_out[{at}] = edge ? 255 : 0;"
        ),
        "life": (f"int alive = 0;\n{around('alive += mask[q] != 0;')}mask_out[{at}] = {lives};"),
    }[goal]
    names = [
        habits.takes("float", "in"),
        habits.takes("int", "labels"),
        habits.takes("uchar", "mask"),
        habits.gives("float", "out"),
        habits.gives("int", "labels_out"),
    ]
    names += [
        habits.gives("uchar", "mask_out"),
        f"{habits.space} int *again",
        habits.number("reach", "int"),
        habits.number("limit", "float"),
        *size_parameters(habits),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        area = way.size(d, w, 18)
        every = area.width * area.height
        reach = d.log_integer(1, 128)
        marks = d.choose((("randint", 0, 2), ("randint", 0, 10), ("const", 1), ("clustered", 0, 6, 1)))
        label = d.choose((("iota",), ("randint", 0, every), ("clustered", 0, every, 64)))
        fills: Fills = {
            "mask": marks,
            "labels": ("randint", 0, 3) if goal == "flood" else label,
            "in": ("uniform", 0.5, 100.0),
        }
        lengths = dict.fromkeys(("in", "labels", "mask", "out", "labels_out", "mask_out"), every) | {"again": 1}
        cost = {
            "labels_line": 20.0,
            "distance_row": 6.0 * min(reach, 10),
            "root": 4.0 * reach,
            "distance_jump": 200.0,
        }.get(goal, 60.0)
        scalars = {"reach": reach, "limit": 1.0, "width": area.width, "height": area.height}
        return sized(area.global_size, area.local_size, area.done * (6 + cost), lengths, scalars, fills)

    return draft(habits, "spread_regions", names, way.write(text), launch)
