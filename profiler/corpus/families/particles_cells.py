"""Bodies sorted into cells, and flocks of them."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.particles import (
    LAYOUTS,
    NUMBERS,
    output_lengths,
    outputs,
    pair_law,
    position,
    position_lengths,
    positions,
    store_force,
)
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import hand, loop
from profiler.corpus.writing.sizes import Fills, draft, sized, within_memory
from profiler.corpus.writing.walk import walk


@family("cell_list_forces", "particles")
def cell_list_forces(draw: Draw) -> Draft:
    """Bodies sorted into cells of a grid; each looks through its own and the adjacent cells."""
    habits = hand(draw)
    way = walk(draw, habits)
    flat = draw.chance(0.4, "two_dimensions")
    layout = draw.weighted(LAYOUTS, "layout")
    law, cost = pair_law(draw)
    if draw.chance(0.4, "density"):
        law, cost = (
            (
                "const float4 d = p - q;\nconst float r2 = d.x * d.x + d.y * d.y + d.z * d.z;\n"
                "if (r2 < cutoff) {\n    const float w = cutoff - r2;\n    force.w += p.w * w * w * w;\n}"
            ),
            16.0,
        )
    bound = draw.choose(("clamp", "skip", "wrap"), "edge")
    axes = "xy" if flat else "xyz"
    cell = "".join(f"const int c{a} = clamp((int)(q.{a} * (float)side), 0, side - 1);\n" for a in axes)
    if bound == "clamp":
        loops = "".join(
            f"for (int {a} = max(c{a} - 1, 0); {a} <= min(c{a} + 1, side - 1); {a}++)\n" for a in reversed(axes)
        )
        index, test = {a: a for a in axes}, ""
    else:
        loops = "".join(f"for (int d{a} = -1; d{a} <= 1; d{a}++)\n" for a in reversed(axes))
        index = {a: f"((c{a} + d{a} + side) % side)" if bound == "wrap" else f"(c{a} + d{a})" for a in axes}
        test = (
            ""
            if bound == "wrap"
            else "if (" + " && ".join(f"{index[a]} >= 0 && {index[a]} < side" for a in axes) + ")\n"
        )
    at = (
        f"{index['y']} * side + {index['x']}" if flat else f"({index['z']} * side + {index['y']}) * side + {index['x']}"
    )
    which = draw.choose(("j", "order[j]"), "sorted")
    inner = loop(draw, "j", "starts[c]", "starts[c + 1]", f"const float4 p = {position(layout, which)};\n{law}")
    body = way.write(
        f"const float4 q = {position(layout, 'i')};\nfloat4 force = (float4)(0.0f);\n"
        f"{cell}{loops}{test}{{\nconst int c = {at};\n{inner}}}\n{store_force(draw)}"
    )
    names = [*positions(habits), habits.takes("int", "starts"), habits.takes("int", "order"), *outputs(habits)]
    names += [
        habits.number("side", "int"),
        habits.number("soft", "float"),
        habits.number("cutoff", "float"),
        habits.number("n"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(w, 140, min(w.data, 1 << 20) if d.chance(0.6) else d.log_integer(1, 1 << 19))
        others = within_memory(w.data, 140)
        side = max(1, round((others / d.log_real(0.3, 40)) ** (1 / 2 if flat else 1 / 3)))
        side = min(side, 1024 if flat else 100)
        cells = side ** (2 if flat else 3)
        count = max(size.count, others)
        fills: Fills = {
            "starts": ("csr_rows", others, round(d.real(0, 0.6), 2)) if d.chance(0.5) else ("csr_rows", others),
            "order": ("perm",),
        }
        fills |= dict.fromkeys(("pos", "px", "py", "pz", "xyz"), ("uniform", 0.0, 1.0))
        lengths = position_lengths(count) | output_lengths(size.count) | {"starts": cells + 1, "order": count}
        reach = min(cells, 9 if flat else 27)
        work = size.done * (30.0 + reach * (8 + cost * others / cells))
        return sized(
            size.global_size,
            size.local_size,
            work,
            lengths,
            {**NUMBERS, "cutoff": 0.1, "side": side, "n": size.count},
            fills,
        )

    return draft(habits, "cell_forces", names, body, launch)


@family("flocks", "particles")
def flocks(draw: Draw) -> Draft:
    """Boids, swarms and crowds: several averages over others within reach, then a step."""
    habits = hand(draw)
    way = walk(draw, habits)
    kind = draw.choose(("float2", "float4"), "type")
    zero = f"({kind})(0.0f)"
    rules = draw.sample(("cohesion", "alignment", "separation", "leader", "best"), draw.integer(2, 4))
    declare = {"cohesion": "centre", "alignment": "heading", "separation": "away", "leader": "", "best": "pull"}
    names_used = [declare[r] for r in rules if declare[r]]
    steps = {
        "cohesion": "centre += p;",
        "alignment": "heading += vel[j];",
        "separation": ("if (r < reach * 0.3f)\n    away -= (p - q) / (r + 0.01f);"),
        "best": "pull += (p - q) * (score[j] > score[i] ? 1.0f : 0.0f);",
    }
    inner = f"const {kind} p = pos[j];\nconst float r = {draw.choose(('distance', 'fast_distance'))}(p, q);\n"
    inner += "if (r < reach) {\n" + "\n".join(steps[r] for r in rules if r in steps) + "\nseen += 1.0f;\n}"
    form = draw.choose(("all", "window", "sampled"), "form")
    if form == "window":
        walking = loop(draw, "k", "0", "others", f"const int j = ((int)i + k) % n_all;\n{inner}")
    elif form == "sampled":
        walking = loop(draw, "k", "0", "others", f"const int j = near[((int)i * 7 + k) % n_all];\n{inner}")
    else:
        walking = loop(draw, "j", "0", "others", inner)
    change = {
        "cohesion": ("v += 0.01f * (centre / fmax(seen, 1.0f) - q);"),
        "alignment": "v += 0.1f * (heading / fmax(seen, 1.0f) - v);",
        "separation": "v += 0.05f * away;",
        "leader": "v += 0.02f * (pos[0] - q);",
        "best": "v += 0.01f * pull;",
    }
    limit = draw.choose(
        (
            "const float speed = length(v);\nif (speed > 1.0f)\n    v /= speed;",
            f"v = clamp(v, ({kind})(-1.0f), ({kind})(1.0f));",
        ),
        "limit",
    )
    body = way.write(
        (f"const {kind} q = pos[i];\n{kind} ")
        + ", ".join(f"{name} = {zero}" for name in [*names_used, "v"])
        + ";\nfloat seen = 0.0f;\n"
        + f"v = vel[i];\n{walking}"
        + "\n".join(change[r] for r in rules)
        + (f"\n{limit}\nout[i] = {draw.choose(('v', 'q + 0.01f * v', 'fract_of(q + 0.01f * v)'))};")
    )
    body = body.replace("fract_of(q + 0.01f * v)", "q + 0.01f * v - floor(q + 0.01f * v)")
    names = [
        habits.takes(kind, "pos"),
        habits.takes(kind, "vel"),
        habits.takes("float", "score"),
        habits.takes("int", "near"),
        habits.gives(kind, "out"),
    ]
    names += [
        habits.number("others", "int"),
        habits.number("reach", "float"),
        habits.number("n_all", "int"),
        habits.number("n"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(w, 56)
        others = d.log_integer(1, 8192)
        count = max(others, size.count)
        scalars = {"others": others, "reach": round(d.real(0.05, 1.0), 3), "n_all": count, "n": size.count}
        lengths = dict.fromkeys(("pos", "vel", "score", "near", "out"), count)
        return sized(
            size.global_size,
            size.local_size,
            size.done * (20.0 + 22 * others),
            lengths,
            scalars,
            {"near": ("randint", 0, count)},
        )

    return draft(habits, "flock", names, body, launch)
