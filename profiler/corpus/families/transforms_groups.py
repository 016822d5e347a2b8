"""Whole small transforms in local memory."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.sizes import draft, groups, sized, within_memory


@family("fourier_in_local_memory", "transforms")
def fourier_in_local_memory(draw: Draw) -> Draft:
    """Generate a whole small transform a group, all passes in local memory."""
    habits = hand(draw)
    size = draw.choose((16, 32, 64, 128, 256, 512), "points")
    what = draw.choose(("fourier", "fourier", "walsh", "hartley", "integers"), "what")
    pair = {"fourier": "float2", "integers": "uint"}.get(what, "float")
    half = size // 2
    barrier = "barrier(CLK_LOCAL_MEM_FENCE);"
    batched = draw.chance(0.3, "several_batches")
    named = draw.chance(0.5)
    n = "POINTS" if named else str(size)
    start = draw.choose(("reversed", "plain"), "start")
    bits = size.bit_length() - 1
    turn = draw.choose(("native", "full", "table"), "twiddles")
    load = ""
    for part in range(2):
        at = f"t + {part} * ({n} / 2)" if part else "t"
        spot = f"reversed({at})" if start == "reversed" else at
        load += f"work[{spot}] = in[(size_t)group * {n} + {at}];\n"
    before = (f"#define POINTS {size}\n" if named else "") + (
        (
            f"int reversed(int v)\n{{\n    int r = 0;\n    for (int b = 0; b < {bits}; b++) {{\n"
            f"        r = (r << 1) | (v & 1);\n        v >>= 1;\n    }}\n    return r;\n}}\n"
        )
        if start == "reversed"
        else ""
    )
    angle = "-3.14159265f * (float)k / (float)span"
    cs = {
        "native": f"native_cos({angle}), native_sin({angle})",
        "full": f"cos({angle}), sin({angle})",
        "table": f"table[(k * ({n} / 2)) / span].x, table[(k * ({n} / 2)) / span].y",
    }[turn]
    if what == "fourier":
        fly = (
            f"const float2 w = (float2)({cs});\n"
            "const float2 b = (float2)(q.x * w.x - q.y * w.y, q.x * w.y + q.y * w.x);\n"
            "work[at] = (p + b) * 0.7071f;\nwork[at + span] = (p - b) * 0.7071f;\n"
        )
    elif what == "hartley":
        fly = (
            f"const float2 w = (float2)({cs});\nconst float b = q * (w.x - w.y);\n"
            "work[at] = (p + b) * 0.6f;\nwork[at + span] = (p - b) * 0.6f;\n"
        )
    elif what == "integers":
        fly = (
            "const uint b = (uint)(((ulong)q * (ulong)(3u + 7u * (uint)k)) % 12289ul);\n"
            "work[at] = (p + b) % 12289u;\nwork[at + span] = (p + 12289u - b) % 12289u;\n"
        )
    else:
        fly = "work[at] = (p + q) * 0.7071f;\nwork[at + span] = (p - q) * 0.7071f;\n"
    index = draw.choose(
        (
            "const int k = t & (span - 1);\nconst int at = ((t - k) << 1) + k;\n",
            "const int k = t % span;\nconst int at = (t / span) * 2 * span + k;\n",
        ),
        "index",
    )
    up = draw.choose(
        (f"int span = 1; span < {n}; span <<= 1", f"int span = {n} / 2; span > 0; span >>= 1"), "direction"
    )
    passes = f"for ({up}) {{\n{index}const {pair} p = work[at], q = work[at + span];\n{fly}{barrier}\n}}\n"
    if draw.chance(0.3, "two_barriers"):
        passes = passes.replace("work[at + span];\n", f"work[at + span];\n{barrier}\n", 1)
    save = f"out[(size_t)group * {n} + t] = work[t];\nout[(size_t)group * {n} + t + {n} / 2] = work[t + {n} / 2];"
    if what == "fourier" and draw.chance(0.3, "power"):
        save = (
            f"power[(size_t)group * {n} + t] = dot(work[t], work[t]);\n"
            f"power[(size_t)group * {n} + t + {n} / 2] = dot(work[t + {n} / 2], work[t + {n} / 2]);"
        )
    inner = f"{load}{barrier}\n{passes}{save}"
    body = f"{habits.near} {pair} work[{n}];\nconst int t = get_local_id(0);\n"
    if batched:
        body += (
            f"for (int group = get_group_id(0); group < batches; group += get_num_groups(0)) {{\n"
            f"{inner}\n{barrier}\n}}\n"
        )
    else:
        body += f"const int group = min((int)get_group_id(0), batches - 1);\n{inner}"
    names = [
        habits.takes(pair, "in"),
        habits.gives(pair, "out"),
        habits.gives("float", "power"),
        f"{draw.choose((habits.fixed, f'const {habits.space}'))} float2 *table",
    ]
    names += [habits.number("batches", "int")]

    def launch(d: Draw, w: Wish) -> Sized:
        count = groups(w, half, 1 << 17)
        batches = within_memory(max(1, w.data // size), size * 24)
        done = batches if batched else count
        buffers = {"in": batches * size, "out": batches * size, "power": batches * size, "table": size}
        fills = {"in": ("randint", 0, 12289)} if what == "integers" else {}
        return sized(
            count * half,
            half,
            done * half * bits * (60.0 if turn == "full" else 22.0),
            buffers,
            {"batches": batches},
            fills,
        )

    attribute = f"__attribute__((reqd_work_group_size({half}, 1, 1)))" if draw.chance(0.4) else ""
    return draft(habits, "transform_group", names, body, launch, before=before, attribute=attribute)
