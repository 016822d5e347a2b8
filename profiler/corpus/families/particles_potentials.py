"""Potentials of charges at the points of a plane."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import hand, loop
from profiler.corpus.writing.plane import plane
from profiler.corpus.writing.sizes import draft, sized


@family("potential_on_grid", "particles")
def potential_on_grid(draw: Draw) -> Draft:
    """At each point of a plane the sum over all charges; several points an item, charges in constant memory or not."""
    habits = hand(draw)
    way = plane(draw, habits)
    where = draw.choose(("constant", "global"), "charges")
    several = draw.choose((1, 1, 2, 4, 8), "points_an_item")
    soft = draw.choose(
        ("rsqrt(r2)", "native_rsqrt(r2)", "1.0f / sqrt(r2)", "1.0f / r2", "exp(-fmin(r2, 40.0f))"), "law"
    )
    apart = draw.chance(0.3, "separate")
    a = {"x": "ax[k]", "y": "ay[k]", "z": "0.5f", "w": "aq[k]"} if apart else {c: f"atoms[k].{c}" for c in "xyzw"}
    if several == 1:
        each = (
            f"const float dx = gx - {a['x']}, dy = gy - {a['y']}, dz = height_z - {a['z']};\n"
            f"const float r2 = dx * dx + dy * dy + dz * dz + 0.01f;\nsum += {a['w']} * {soft};"
        )
        inner = (
            "const float gx = (float)x * spacing, gy = (float)y * spacing;\nfloat sum = 0.0f;\n"
            f"{loop(draw, 'k', '0', 'count', each)}out[(size_t)y * width + x] = sum;"
        )
    else:
        step = (
            f"const float dx = gx + (float)s * spacing - {a['x']};\n"
            f"const float r2 = dx * dx + rest;\nsums[s] += {a['w']} * {soft};"
        )
        each = (
            f"const float dy = gy - {a['y']}, dz = height_z - {a['z']};\n"
            f"const float rest = dy * dy + dz * dz + 0.01f;\n{loop(draw, 's', '0', str(several), step)}"
        )
        inner = (
            f"const float gx = (float)(x * {several}) * spacing, gy = (float)y * spacing;\n"
            f"float sums[{several}] = {{0.0f}};\n{loop(draw, 'k', '0', 'count', each)}"
        )
        inner += f"for (int s = 0; s < {several}; s++)\n    out[((size_t)y * width + x) * {several} + s] = sums[s];"
    space = f"{habits.fixed} " if where == "constant" else f"const {habits.space} "
    names = [
        f"{space}float4 *atoms",
        f"{space}float *ax",
        f"{space}float *ay",
        f"{space}float *aq",
        habits.gives("float", "out"),
    ]
    names += [habits.number("spacing", "float"), habits.number("height_z", "float"), habits.number("count", "int")]
    names += [habits.number("width", "int"), habits.number("height", "int")]

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(d, w, 4 * several)
        count = d.log_integer(1, 4000)
        lengths = dict.fromkeys(("atoms", "ax", "ay", "aq"), count) | {"out": size.width * size.height * several}
        scalars = {"spacing": 0.01, "height_z": 0.25, "count": count, "width": size.width, "height": size.height}
        return sized(size.global_size, size.local_size, size.done * (8.0 + count * several * 14), lengths, scalars)

    return draft(habits, "potential", names, way.write(inner), launch)
