"""Rays that step through fields, and bodies that touch."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.particles_rays import ray, screen
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import hand, loop
from profiler.corpus.writing.plane import plane
from profiler.corpus.writing.sizes import Fills, draft, sized, within_memory
from profiler.corpus.writing.walk import walk


@family("marched_rays", "particles")
def marched_rays(draw: Draw) -> Draft:
    """Rays that step through a distance field or a volume until they come near or have seen enough."""
    habits = hand(draw)
    way = plane(draw, habits)
    kind = draw.choose(("field", "field", "volume", "volume_sum", "image", "height"), "kind")
    solids = draw.sample(
        (
            "length(p) - 1.0f",
            "fmax(fmax(fabs(p.x), fabs(p.y)), fabs(p.z)) - 0.8f",
            "p.y + 1.2f",
            "length((float2)(length(p.xz) - 0.8f, p.y)) - 0.25f",
            "length(p - (float3)(0.5f, 0.3f, 0.2f)) - 0.6f",
            "length(p.xy) - 0.3f",
        ),
        draw.integer(1, 4),
    )
    field = solids[0]
    for other in solids[1:]:
        a, b = field, other
        field = draw.choose((f"fmin({a}, {b})", f"fmax({a}, -({b}))", f"fmax({a}, {b})", f"mix({a}, {b}, 0.5f)"))
    fold = draw.choose(
        ("", "p = p - 4.0f * floor(p / 4.0f + 0.5f);\n", "p.xz = fabs(p.xz);\n", "p += 0.05f * sin(p.yzx * 5.0f);\n"),
        "fold",
    )
    inside = "\n".join("    " + t for t in f"{fold}return {field};".split("\n"))
    before = f"float distance_at(float3 p)\n{{\n{inside}\n}}\n"
    voxel = (
        "const int vx = clamp((int)((p.x + 1.0f) * 0.5f * (float)side), 0, side - 1), vy = clamp((int)((p.y + 1.0f) "
        "* 0.5f * (float)side), 0, side - 1), vz = clamp((int)((p.z + 1.0f) * 0.5f * (float)side), 0, side - 1);\n"
        "const float v = volume[(vz * side + vy) * side + vx];\n"
    )
    text = ray(draw)
    if kind == "field":
        light = draw.chance(0.5, "normals")
        text += (
            "float t = 0.0f;\nint s = 0;\nfor (; s < steps; s++) {\n    const float h = distance_at(o + d * t);\n"
            "    if (h < 0.001f)\n        break;\n    t += h * 0.9f;\n    if (t > 20.0f)\n        break;\n}\n"
        )
        if light:
            text += (
                "const float3 p = o + d * t;\nconst float e = 0.01f;\n"
                "const float3 g = (float3)(distance_at(p + (float3)(e, 0.0f, 0.0f)) - "
                "distance_at(p - (float3)(e, 0.0f, 0.0f)), distance_at(p + (float3)(0.0f, "
                "e, 0.0f)) - distance_at(p - (float3)(0.0f, e, 0.0f)), distance_at(p + "
                "(float3)(0.0f, 0.0f, e)) - distance_at(p - (float3)(0.0f, 0.0f, e)));\n"
                "out[y * width + x] = t < 20.0f ? fmax(g.y + g.x, 0.01f) / (length(g) + 0.001f) : 0.0f;"
            )
        else:
            text += draw.choose(("out[y * width + x] = (float)s / (float)steps;", "out[y * width + x] = t;"), "result")
    elif kind == "height":
        before = ""
        text += (
            "float t = 0.0f;\nfor (int s = 0; s < steps; s++) {\n    const float3 p = o + d * t;\n"
            "    const int vx = clamp((int)((p.x + 1.0f) * 0.5f * (float)side), 0, side "
            "- 1), vz = clamp((int)((p.z + 3.0f) * 0.2f * (float)side), 0, side - 1);\n"
            "    if (p.y < volume[vz * side + vx] - 1.2f)\n        break;\n"
            "    t += 0.02f + 0.01f * t;\n}\nout[y * width + x] = t;"
        )
    else:
        before = ""
        sample = voxel
        if kind == "image":
            smooth = draw.choose(("CLK_FILTER_LINEAR", "CLK_FILTER_NEAREST"))
            modes = f"CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | {smooth}"
            before = f"{habits.fixed} sampler_t smp = {modes};\n"
            sample = "const float v = read_imagef(cube, smp, (float4)((p + 1.0f) * 0.5f * (float)side, 0.0f)).x;\n"
        if kind == "volume_sum":
            inner = (
                "const float3 p = o + d * (2.0f + (float)s * step_size);\n"
                f"{sample}best = {draw.choose(('fmax(best, v)', 'best + v * step_size'), 'project')};"
            )
            text += f"float best = 0.0f;\n{loop(draw, 's', '0', 'steps', inner)}out[y * width + x] = best;"
        else:
            stop = draw.choose(("if (left < 0.05f)\n        break;\n", ""), "early_stop")
            text += (
                f"float left = 1.0f, sum = 0.0f;\nfor (int s = 0; s < steps; s++) {{\n"
                "    const float3 p = o + d * (2.0f + (float)s * step_size);\n"
                f"{sample}    const float a = fmin(v * opacity, 0.9f);\n    sum += left * a * v;\n"
                f"    left *= 1.0f - a;\n    {stop}}}\nout[y * width + x] = sum + left * 0.1f;"
            )
    names = [habits.takes("float", "volume"), "read_only image3d_t cube", *screen(habits)]
    names += [habits.number(name, "int") for name in ("steps", "side")] + [
        habits.number(name, "float") for name in ("step_size", "opacity")
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        area = way.size(d, w, 12)
        steps, side = d.log_integer(4, 600), d.log_integer(4, 200)
        every = area.width * area.height
        cost = {"field": 40.0 * len(solids) * 0.4, "image": 60.0}.get(kind, 28.0)
        scalars = {
            "width": area.width,
            "height": area.height,
            "steps": steps,
            "side": side,
            "step_size": round(2.0 / steps, 5),
            "opacity": round(d.real(0.001, 0.2), 4),
        }
        lengths = {"volume": side**2 if kind == "height" else within_memory(side**3, 4), "out": every, "colours": every}
        images = {"cube": (side, side, side)}
        return sized(
            area.global_size, area.local_size, area.done * (60.0 + steps * cost), lengths, scalars, images=images
        )

    return draft(habits, "march", names, way.write(text), launch, before=before)


@family("colliding_bodies", "particles")
def colliding_bodies(draw: Draw) -> Draft:
    """Overlaps of spheres and boxes: tests of pairs, sorted axes, pushes apart, constraints of springs."""
    habits = hand(draw)
    way = walk(draw, habits)
    form = draw.choose(
        ("spheres", "boxes", "sweep", "push", "constraints", "cloth", "contacts_list", "first_hit"), "form"
    )
    load = "const float4 a = bodies[i];\n"
    apart = (
        "const float3 v = bodies[j].xyz - a.xyz;\n"
        "const float r = 0.02f * (a.w + bodies[j].w);\nconst float r2 = dot(v, v);\n"
    )
    if form == "spheres":
        text = (
            f"{load}int hits = 0;\n"
            f"{loop(draw, 'j', '0', 'others', apart + 'hits += r2 < r * r && j != (int)i;')}counts[i] = hits;"
        )
    elif form == "boxes":
        test = draw.choose(
            (
                "all(isless(fabs(bodies[j].xyz - a.xyz), (float3)(0.05f)))",
                "fabs(bodies[j].x - a.x) < 0.05f && fabs(bodies[j].y - a.y) < 0.05f && fabs(bodies[j].z - a.z) < 0.05f",
            ),
            "test",
        )
        text = f"{load}int hits = 0;\n{loop(draw, 'j', '0', 'others', f'if ({test}) hits++;')}counts[i] = hits;"
    elif form == "sweep":
        text = (
            f"{load}int hits = 0;\nfor (int j = (int)i + 1; j < n_bodies && j < (int)i + others; j++) {{\n"
            "    if (sorted[j] - sorted[i] > 0.01f)\n"
            "        break;\n    const float4 v = bodies[j] - a;\n"
            f"    hits += v.y * v.y + v.z * v.z < 0.1f;\n}}\ncounts[i] = hits;"
        )
    elif form == "push":
        step = (
            f"{apart}if (r2 < r * r && r2 > 1e-6f) {{\n"
            f"    const float l = sqrt(r2);\n    force -= v * ((r - l) / l);\n}}"
        )
        text = (
            f"{load}float3 force = (float3)(0.0f);\n"
            f"{loop(draw, 'j', '0', 'others', step)}out[i] = a + (float4)(0.5f * force, 0.0f);"
        )
    elif form == "constraints":
        text = (
            "const int2 e = pairs[i];\nconst float4 v = bodies[e.y] - bodies[e.x];\n"
            "const float l = length(v) + 0.001f;\n"
            "const float4 move = v * (0.5f * (l - rest) / l);\nout[i] = move;\ncounts[i] = l > rest;"
        )
    elif form == "cloth":
        text = (
            f"{load}float4 force = (float4)(0.0f, -0.1f, 0.0f, 0.0f);\n"
            "const int cx = (int)i % side, cy = (int)i / side;\n"
            f"for (int dy = -{1}; dy <= 1; dy++)\n    for (int dx = -1; dx <= 1; dx++) {{\n"
            "        const int j = (cy + dy) * side + cx + dx;\n"
            f"        if ((dx || dy) && cx + dx >= 0 && cx + dx < side && j >= 0 && j < n_bodies) {{\n"
            "            const float4 v = bodies[j] - a;\n"
            "            const float l = length(v) + 0.001f;\n"
            f"            force += v * ((l - rest) / l);\n        }}\n    }}\nout[i] = a + 0.05f * force;"
        )
    elif form == "contacts_list":
        step = f"{apart}if (r2 < r * r && found < 8)\n    near[(size_t)i * 8 + found++] = j;"
        text = f"{load}int found = 0;\n{loop(draw, 'j', '0', 'others', step)}counts[i] = found;"
    else:
        text = (
            f"{load}int first = -1;\nfor (int j = 0; j < others; j++) {{\n"
            f"{apart}if (r2 < r * r && j != (int)i) {{\n    first = j;\n    break;\n}}\n}}\ncounts[i] = first;"
        )
    names = [
        habits.takes("float4", "bodies"),
        habits.takes("float", "sorted"),
        habits.takes("int2", "pairs"),
        habits.gives("float4", "out"),
        habits.gives("int", "counts"),
    ]
    names += [
        habits.gives("int", "near"),
        *(habits.number(name, "int") for name in ("others", "n_bodies", "side")),
        habits.number("rest", "float"),
        habits.number("n"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(w, 80)
        others = d.log_integer(1, 8192)
        count = max(size.count, others)
        spread = d.choose((("uniform", 0.0, 1.0), ("uniform", 0.0, 8.0), ("clustered", 0.0, 1.0, 0.01)))
        fills: Fills = {
            "bodies": spread,
            "sorted": ("sorted", 0.0, max(0.01, 0.001 * count)),
            "pairs": ("randint", 0, count),
        }
        lengths = dict.fromkeys(("bodies", "sorted", "pairs", "out", "counts"), count) | {"near": 8 * count}
        scalars = {"others": others, "n_bodies": count, "side": d.log_integer(1, 4096), "rest": 0.3, "n": size.count}
        cost = {"constraints": 40.0, "cloth": 200.0, "sweep": 8.0 * min(others, 12)}.get(form, 14.0 * others)
        return sized(size.global_size, size.local_size, size.done * (10 + cost), lengths, scalars, fills)

    return draft(habits, "collide", names, way.write(text), launch)
