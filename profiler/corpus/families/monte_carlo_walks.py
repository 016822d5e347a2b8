"""Random walks, chains and lattices."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.monte_carlo import generator, trials_size
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.plane import plane
from profiler.corpus.writing.sizes import Fills, draft, sized
from profiler.corpus.writing.walk import walk


@family("absorbed_walks", "monte_carlo")
def absorbed_walks(draw: Draw) -> Draft:
    """Random walks and particles that stop early: at a wall, when absorbed, when ruined."""
    habits, random = hand(draw), generator(draw)
    way = walk(draw, habits)
    u, b = random.uniform, random.bits
    form = draw.choose(("line", "plane", "slab", "ruin", "cube", "branch", "first_return", "drift"), "form")
    state = {
        "line": "int x = 0;", "plane": "int x = 0, y = 0;", "slab": ("float z = 0.0f, weight "
"= 1.0f, way = 1.0f;"), "ruin": "int money = width;",
        "cube": ("int4 at = "
"(int4)(0);"), "branch": "int alive = 1;", "first_return": "int x = 1;", "drift": "float x = 0.0f;",
    }[form]  # fmt: skip
    step = {
        "line": f"x += ({b} & 1u) ? 1 : -1;\nif (abs(x) >= width)\n    break;",
        "plane": (
            f"const uint way = {b} >> 30;\nx += way == 0u ? 1 : way == 1u ? -1 : 0;\n"
            "y += way == 2u ? 1 : way == 3u ? -1 : 0;\nif (x * x + y * y > width * width)\n    break;"
        ),
        "slab": (
            f"z += way * -log({u} + 1e-6f);\nif (z < 0.0f || z > (float)width)\n    break;\n"
            f"weight *= 0.9f;\nway = 2.0f * {u} - 1.0f;\nif (weight < limit * 0.1f)\n    break;"
        ),
        "ruin": f"money += {u} < limit ? 1 : -1;\nif (money <= 0)\n    break;",
        "cube": (
            f"const uint way = {b} % 6u;\nif (way < 2u)\n    at.x += (int)(way & 1u) * 2 - 1;\n"
            "else if (way < 4u)\n    at.y += (int)(way & 1u) * 2 - 1;\n"
            "else\n    at.z += (int)(way & 1u) * 2 - 1;\n"
            "if (max(abs(at.x), max(abs(at.y), abs(at.z))) > (uint)width)\n    break;"
        ),
        "branch": (
            f"const float x = {u};\nalive += x < limit * 0.5f ? 1 : x > 0.6f ? -1 : 0;\n"
            "if (alive <= 0 || alive > 1000)\n    break;"
        ),
        "first_return": f"x += ({b} >> 31) ? 1 : -1;\nif (x == 0)\n    break;",
        "drift": f"x = x * 0.99f + {u} - 0.48f;\nif (x > limit * 4.0f)\n    break;",
    }[form]
    value = {
        "slab": draw.choose(("weight", "z * weight")),
        "drift": "x",
        "branch": "(float)alive",
        "plane": "(float)(x * x + y * y)",
    }.get(form, "(float)t")
    keep_going = draw.chance(0.25, "no_early_stop")
    if keep_going:
        step = "if (!done) {\n" + step.replace("break;", "done = 1;") + "\n}"
        state += "\nint done = 0, t = 0;"
        walking = f"for (int s = 0; s < trials; s++) {{\n{step}\nt += 1 - done;\n}}\n"
    else:
        state += "\nint t = 0;"
        walking = (
            f"for (; t < trials; t++) {{\n{step}\n}}\n"
            if draw.chance(0.6)
            else f"while (t < trials) {{\n{step}\nt++;\n}}\n"
        )
    store = draw.choose(
        (
            "out[i] = {v};",
            "out[i] = {v} * 0.5f;",
            "if (t < trials)\n    atomic_inc(&hits[min((uint)t, (uint)n - 1u)]);"
            if way.kind != "exact"
            else "out[i] = {v};",
        )
    ).format(v=value)
    body = f"{random.begin}\n{state}\n{walking}{store}"
    names = [
        habits.gives("float", "out"),
        f"{habits.space} int *hits",
        habits.number("trials", "int"),
        habits.number("width", "int"),
    ]
    names += [habits.number("limit", "float"), habits.number("seed", "uint"), habits.number("n")]
    share = {"line": 0.3, "plane": 0.3, "cube": 0.3, "slab": 0.05, "ruin": 0.5, "branch": 0.1, "first_return": 0.1}.get(
        form, 0.5
    )

    def launch(d: Draw, w: Wish) -> Sized:
        return trials_size(d, w, way, 8, (random.cost + 10) * (1.0 if keep_going else share))

    return draft(habits, "walk_until", names, way.write(body), launch, before=random.before)


@family("lattice_updates", "monte_carlo")
def lattice_updates(draw: Draw) -> Draft:
    """Spins, sites and fires on a lattice that change with a chance that depends on their neighbours."""
    habits, random = hand(draw), generator(draw)
    kind = draw.choose(("int", "char", "uchar", "float"), "type")
    way = plane(draw, habits)
    form = draw.choose(
        ("ising", "ising_table", "heat_bath", "vote", "epidemic", "forest", "potts", "colour_half"), "form"
    )
    signed = kind in ("int", "char", "float")
    edges = draw.choose(("wrap", "clamp"), "edges")
    if edges == "wrap":
        around = (
            "const int l = x > 0 ? x - 1 : width - 1, r = (x + 1) % width;\n"
            "const int up = y > 0 ? y - 1 : height - 1, down = (y + 1) % height;\n"
        )
    else:
        around = (
            "const int l = max((int)x - 1, 0), r = min((int)x + 1, width - 1);\n"
            "const int up = max((int)y - 1, 0), down = min((int)y + 1, height - 1);\n"
        )
    eight = draw.chance(0.3, "eight_neighbours")
    total = "in[y * width + l] + in[y * width + r] + in[up * width + x] + in[down * width + x]"
    total += " + in[up * width + l] + in[up * width + r] + in[down * width + l] + in[down * width + r]" if eight else ""
    u = random.uniform
    spin = f"({kind})(-s)" if signed else f"({kind})(1 - s)"
    chance = {
        "ising": "exp(-2.0f * limit * (float)(s * around_sum))", "ising_table": ("chances[clamp((int)(s * "
"around_sum) + 8, 0, 16)]"),
        "heat_bath": "1.0f / (1.0f + exp(clamp(limit * (float)around_sum, -8.0f, 8.0f)))",
    }.get(form, "limit")  # fmt: skip
    new = {
        "vote": f"{u} < limit ? s : ({kind})(around_sum > 2 ? 1 : 0)",
        "epidemic": f"s > 0 ? ({u} < 0.1f ? ({kind})0 : s) : (around_sum > 0 && {u} < limit ? ({kind})1 : ({kind})0)",
        "forest": f"s == 0 ? ({kind})({u} < 0.05f) : (around_sum > 4 ? ({kind})0 : ({kind})1)",
        "potts": f"{u} < limit ? in[y * width + r] : {u} < 0.5f ? in[up * width + x] : s",
    }.get(form, f"{u} < {chance} ? {spin} : s")
    inner = (
        f"{around}const {kind} s = in[y * width + x];\n"
        f"const int around_sum = (int)({total});\n{random.begin}\nout[y * width + x] = {new};"
    )
    if form == "colour_half":
        inner = f"if (((x + y) & 1) == colour) {{\n{inner}\n}}"
    body = way.write(inner.replace("(uint)i", "(uint)(y * width + x)"))
    names = [
        habits.takes(kind, "in"),
        habits.gives(kind, "out"),
        f"{habits.fixed} float *chances",
        habits.number("limit", "float"),
    ]
    names += [
        habits.number("colour", "int"),
        habits.number("seed", "uint"),
        habits.number("width", "int"),
        habits.number("height", "int"),
    ]
    kept = {"int": 4, "float": 4}.get(kind, 1)

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(d, w, 2 * kept)
        fills: Fills = {"in": ("randint", 0, 2), "chances": ("uniform", 0.0, 1.0)}
        if kind == "float":
            fills["in"] = ("uniform", -1.0, 1.0)
        scalars = {"limit": round(d.real(0.05, 0.95), 3), "colour": d.integer(0, 1), "seed": d.integer(1, 1 << 30)}
        scalars |= {"width": size.width, "height": size.height}
        buffers = {"in": size.width * size.height, "out": size.width * size.height, "chances": 17}
        return sized(size.global_size, size.local_size, size.done * (25 + random.cost), buffers, scalars, fills)

    return draft(habits, "update_lattice", names, body, launch, before=random.before)
