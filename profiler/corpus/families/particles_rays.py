"""Rays and solid bodies: what is hit first, how far, through which boxes."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import Hand, hand, loop
from profiler.corpus.writing.plane import plane
from profiler.corpus.writing.sizes import Fills, about, draft, sized
from profiler.corpus.writing.walk import walk


def ray(draw: Draw) -> str:
    """Return the declarations of the origin `o` and direction `d` of the ray at `x`, `y`."""
    direction = draw.choose(("normalize", "fast_normalize"), "normalise")
    kind = draw.choose(("pinhole", "parallel", "jittered"), "camera")
    u, v = "(float)x / (float)width - 0.5f", "(float)y / (float)height - 0.5f"
    if kind == "parallel":
        return (
            f"const float3 o = (float3)(2.0f * ({u}), 2.0f * ({v}), -3.0f);\n"
            "const float3 d = (float3)(0.0f, 0.0f, 1.0f);\n"
        )
    if kind == "jittered":
        u = f"{u} + 0.001f * (float)((x * 7 + y * 13) & 15)"
    return f"const float3 o = (float3)(0.0f, 0.0f, -3.0f);\nconst float3 d = {direction}((float3)({u}, {v}, 1.0f));\n"


def shades(draw: Draw, depth: str = "t") -> str:
    return draw.choose(
        (f"out[y * width + x] = {depth};", f"out[y * width + x] = {depth} < 100.0f ? 1.0f / (1.0f + {depth}) : 0.0f;",
         f"out[y * width + x] = {depth} < 100.0f ? 1.0f : 0.25f;", (f"colours[y * width + x] = {depth}"
f" < 100.0f ? (float4)(o + d * {depth}, 1.0f) : (float4)(0.2f);")),
        "shading",
    )  # fmt: skip


def screen(habits: Hand) -> list[str]:
    return [
        habits.gives("float", "out"),
        habits.gives("float4", "colours"),
        habits.number("width", "int"),
        habits.number("height", "int"),
    ]


@family("rays_and_spheres", "particles")
def rays_and_spheres(draw: Draw) -> Draft:
    """Generate the nearest of a list of spheres, planes or boxes for each ray; shadows; bounces."""
    habits = hand(draw)
    way = plane(draw, habits)
    solid = draw.choose(("sphere", "sphere", "box", "plane", "disc"), "solid")
    near = draw.choose((habits.fixed, f"const {habits.space}"), "space")
    root = draw.choose(("sqrt", "native_sqrt"), "root")
    hit = {
        "sphere": ("const float3 c = things[k].xyz * 4.0f - 4.0f - o;\nconst float b = dot(c, d);\n"
"const float q = b * b - dot(c, c) + 0.05f * things[k].w;\n"
f"if (q > 0.0f) {{\n    const float s = b - {root}(q);\n"
f"    if (s > 0.001f && s < t) {{\n        t = s;\n        what = k;\n    }}\n}}"),
        "box": ("const float3 inv = 1.0f / (fabs(d) + 0.001f);\n"
"const float3 a = (things[k].xyz * 4.0f - 4.0f - o) * inv, e = a + 0.3f * inv;\n"
"const float3 low = fmin(a, e), high = fmax(a, e);\n"
"const float s = fmax(fmax(low.x, low.y), low.z), u = fmin(fmin(high.x, high.y), high.z);\n"
"if (s < u && u > 0.0f && s < t) {\n    t = s;\n    what = k;\n}"),
        "plane": ("const float h = dot(things[k].xyz, d);\nif (fabs(h) > 0.01f) {\n"
"    const float s = (things[k].w - dot(things[k].xyz, o)) / h;\n"
"    if (s > 0.001f && s < t) {\n        t = s;\n        what = k;\n    }\n}"),
        "disc": ("const float s = (things[k].z * 4.0f - 4.0f - o.z) / (fabs(d.z) + 0.01f);\n"
"const float3 p = o + d * s;\n"
"const float rx = p.x - things[k].x + 1.0f, ry = p.y - things[k].y + 1.0f;\n"
"if (s > 0.0f && s < t && rx * rx + ry * ry < 0.1f) {\n    t = s;\n    what = k;\n}"),
    }[solid]  # fmt: skip
    bounces = draw.choose((1, 1, 2, 3), "bounces")
    any_hit = draw.chance(0.25, "any_hit")
    search = (
        loop(draw, "k", "0", "count", hit)
        if not any_hit
        else f"for (int k = 0; k < count; k++) {{\n{hit}\nif (what >= 0)\n    break;\n}}\n"
    )
    text = ray(draw)
    if bounces > 1:
        text = text.replace("const float3 o", "float3 o").replace("const float3 d", "float3 d")
        text += (
            f"float t = 100.0f, light = 1.0f;\nfor (int bounce = 0; bounce < {bounces}; bounce++) {{\n"
            f"    t = 100.0f;\n    int what = -1;\n{search}    if (what < 0)\n        break;\n"
            "    const float3 p = o + d * t;\n"
            "    const float3 n = normalize(p - (things[what].xyz * 4.0f - 4.0f) + 0.001f);\n"
            f"    d = d - 2.0f * dot(d, n) * n;\n    o = p + 0.01f * n;\n    light *= 0.7f;\n}}\n"
        )
        text += "out[y * width + x] = light;"
    else:
        text += f"float t = 100.0f;\nint what = -1;\n{search}"
        text += draw.choose(
            (
                shades(draw),
                "hits[y * width + x] = what;",
                "out[y * width + x] = what < 0 ? 0.0f : things[what].w / (1.0f + t * t);",
            ),
            "result",
        )
    names = [f"{near} float4 *things", *screen(habits), habits.gives("int", "hits"), habits.number("count", "int")]

    def launch(d: Draw, w: Wish) -> Sized:
        area = way.size(d, w, 24)
        count = d.log_integer(1, 2000)
        every = area.width * area.height
        work = area.done * (40.0 + bounces * count * 24.0 * (0.3 if any_hit else 1))
        lengths = {"things": count, "out": every, "colours": every, "hits": every}
        return sized(
            area.global_size,
            area.local_size,
            work,
            lengths,
            {"width": area.width, "height": area.height, "count": count},
        )

    return draft(habits, "cast_rays", names, way.write(text), launch)


@family("rays_and_triangles", "particles")
def rays_and_triangles(draw: Draw) -> Draft:
    """Generate the nearest triangle for each ray: all of them, by index, or by a tree of boxes with a small stack."""
    habits = hand(draw)
    way = walk(draw, habits)
    form = draw.choose(("all", "indexed", "tree", "tree_near_first", "bins"), "form")
    corner = "const float3 a = corners[{0}].xyz, e1 = corners[{1}].xyz - a, e2 = corners[{2}].xyz - a;\n"
    if form == "indexed":
        corner = corner.format("faces[3 * k]", "faces[3 * k + 1]", "faces[3 * k + 2]")
    else:
        corner = corner.format("3 * k", "3 * k + 1", "3 * k + 2")
    early = draw.chance(0.5, "early_tests")
    body = (
        "const float3 p = cross(d, e2);\nconst float det = dot(e1, p);\n"
        "const float inv = 1.0f / (fabs(det) + 1e-4f);\nconst float3 s = o - a;\nconst float u = dot(s, p) * inv;\n"
    )
    if early:
        body += (
            "if (u >= 0.0f && u <= 1.0f) {\n    const float3 q = cross(s, e1);\n"
            "    const float v = dot(d, q) * inv;\n    if (v >= 0.0f && u + v <= 1.0f) {\n"
            "        const float r = dot(e2, q) * inv;\n        if (r > 0.0f && r < t) {\n"
            "            t = r;\n            what = k;\n        }\n    }\n}"
        )
    else:
        body += (
            "const float3 q = cross(s, e1);\nconst float v = dot(d, q) * inv, r = dot(e2, q) * inv;\n"
            "const int in = u >= 0.0f && v >= 0.0f && u + v <= 1.0f && r > 0.0f && r < t;\n"
            "t = in ? r : t;\nwhat = in ? k : what;"
        )
    hit = corner + body
    load = "const float3 o = origins[i].xyz, d = normalize(ways[i].xyz);\nfloat t = 100.0f;\nint what = -1;\n"
    box = (
        "const float3 m = (lows[{n}].xyz - o) * inv_d, h = (highs[{n}].xyz - o) * inv_d;\n"
        "const float3 low = fmin(m, h), high = fmax(m, h);\n"
        "const float first = fmax(fmax(low.x, low.y), low.z), last = fmin(fmin(high.x, high.y), high.z);\n"
    )
    if form in ("all", "indexed"):
        text = load + loop(draw, "k", "0", "count", hit)
    elif form == "bins":
        text = (
            load
            + (
                "for (int step = 0; step < 32; step++) {\nconst float3 at = o + d * (float)step * 0.1f;\n"
                "const int bin = (int)((uint)((int)(at.x * 8.0f) * 31 + "
                "(int)(at.y * 8.0f) * 17 + (int)(at.z * 8.0f)) % (uint)bins);\n"
            )
            + f"for (int k = starts[bin]; k < starts[bin + 1]; k++) {{\n{hit}\n}}\nif (what >= 0)\n    break;\n}}\n"
        )
    else:
        push = (
            "stack[top++] = 2 * node + 1;\nstack[top++] = 2 * node + 2;\n"
            if form == "tree"
            else (
                "const int side = d.x > 0.0f;\nstack[top++] = 2 * node + 1 + side;\n"
                "stack[top++] = 2 * node + 2 - side;\n"
            )
        )
        text = (
            load
            + (
                "const float3 inv_d = 1.0f / (fabs(d) + 1e-3f);\nint stack[48];\nint top = 1;\nstack[0] = 0;\n"
                "for (int turn = 0; turn < most_turns && top > 0; turn++) {\nconst int node = stack[--top];\n"
            )
            + box.format(n="node")
        )
        text += (
            f"if (first <= last && last > 0.0f && first < t) {{\nif (node < inner) {{\n"
            f"{push}}} else {{\nconst int k = node - inner;\n{hit}\n}}\n}}\n}}\n"
        )
    text += draw.choose(("hits[i] = what;", "out[i] = t;", "out[i] = what < 0 ? 0.0f : t;\nhits[i] = what;"), "result")
    names = [
        habits.takes("float4", "origins"),
        habits.takes("float4", "ways"),
        habits.takes("float4", "corners"),
        habits.takes("int", "faces"),
    ]
    names += [
        habits.takes("float4", "lows"),
        habits.takes("float4", "highs"),
        habits.takes("int", "starts"),
        habits.gives("int", "hits"),
        habits.gives("float", "out"),
    ]
    names += [habits.number(name, "int") for name in ("count", "inner", "most_turns", "bins")] + [habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(w, 44, min(w.data, 1 << 20))
        levels = d.integer(1, 16)
        count = 1 << levels if form.startswith("tree") else d.log_integer(1, 3000)
        nodes, corners = 2 * count, 3 * count
        points = about(d, count) if form == "indexed" else corners
        bins = d.log_integer(1, 4096)
        turns = d.log_integer(8, 2000)
        spread = d.choose((("uniform", -1.0, 1.0), ("clustered", -1.0, 1.0, 0.02)))
        fills: Fills = {
            "corners": spread,
            "origins": ("uniform", -1.0, 1.0),
            "ways": ("uniform", 0.1, 1.0),
            "faces": ("randint", 0, points),
        }
        fills |= {"starts": ("csr_rows", count), "lows": ("uniform", -1.0, 0.0), "highs": ("uniform", 0.0, 1.0)}
        lengths = {
            "origins": size.count,
            "ways": size.count,
            "corners": points,
            "faces": corners,
            "lows": nodes,
            "highs": nodes,
        }
        lengths |= {"starts": bins + 1, "hits": size.count, "out": size.count}
        each = {"bins": 32 * (10 + 40.0 * count / bins), "all": 45.0 * count, "indexed": 48.0 * count}.get(
            form, 40.0 * min(turns, nodes)
        )
        scalars = {"count": count, "inner": count - 1, "most_turns": turns, "bins": bins, "n": size.count}
        return sized(size.global_size, size.local_size, size.done * (20 + each), lengths, scalars, fills)

    return draft(habits, "hit_triangles", names, way.write(text), launch)
