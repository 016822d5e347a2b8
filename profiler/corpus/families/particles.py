"""Bodies that act on each other: all pairs, pairs within a distance, neighbour lists and cells."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import Hand, hand, loop
from profiler.corpus.writing.sizes import Fills, draft, fitting_local, groups, sized, within_memory
from profiler.corpus.writing.walk import walk

LAYOUTS = {"packed": 4.0, "separate": 2.0, "three": 1.0}


def position(layout: str, at: str) -> str:
    """Generate the place of one body as a vector of four; the fourth is its mass or charge."""
    if layout == "packed":
        return f"pos[{at}]"
    if layout == "three":
        return f"(float4)(vload3({at}, xyz), mass[{at}])"
    return f"(float4)(px[{at}], py[{at}], pz[{at}], mass[{at}])"


def positions(habits: Hand) -> list[str]:
    """Parameters for all layouts; those that a kernel does not name are dropped."""
    return [habits.takes("float4", "pos"), *(habits.takes("float", name) for name in ("px", "py", "pz", "mass", "xyz"))]


def position_lengths(count: int) -> dict[str, int]:
    return {"pos": count, "px": count, "py": count, "pz": count, "mass": count, "xyz": 3 * count}


def pair_law(draw: Draw) -> tuple[str, float]:
    """Statements that add to `force` (float4) what a body at `p` does to one at `q`; a rough cost."""
    law = draw.choose(
        (
            "gravity",
            "gravity_native",
            "charges",
            "lennard",
            "spring",
            "gauss",
            "soft_sphere",
            "yukawa",
            "energy",
            "count",
        ),
        "law",
    )
    delta = draw.choose(
        (
            "const float4 d = p - q;\nconst float r2 = d.x * d.x + d.y * d.y + d.z * d.z;\n",
            "float4 d = p - q;\nd.w = 0.0f;\nconst float r2 = dot(d, d);\n",
        ),
        "distance",
    )
    text = {
        "gravity": "const float inv = rsqrt(r2 + soft);\nforce += d * (p.w * inv * inv * inv);",
        "gravity_native": (
            "const float inv = native_rsqrt(r2 + soft);\nconst float s = p.w * inv * inv * inv;\n"
            "force.x += d.x * s;\nforce.y += d.y * s;\nforce.z += d.z * s;"
        ),
        "charges": "const float r = sqrt(r2 + soft);\nforce += d * (q.w * p.w / (r * r * r));",
        "lennard": (
            "const float s2 = 1.0f / (r2 + soft);\nconst float s6 = s2 * s2 * s2;\n"
            "force += d * (s6 * (2.0f * s6 - 1.0f) * s2);"
        ),
        "spring": "const float r = sqrt(r2 + soft);\nforce += d * ((r - 1.0f) / r);",
        "gauss": "force += d * exp(-r2);",
        "soft_sphere": "const float r = sqrt(r2 + soft);\nif (r < cutoff)\n    force += d * ((cutoff - r) / r);",
        "yukawa": "const float r = sqrt(r2 + soft);\nforce += d * (native_exp(-r) / (r2 + soft));",
        "energy": "force.w += p.w * q.w * rsqrt(r2 + soft);",
        "count": "force.w += r2 < cutoff ? 1.0f : 0.0f;",
    }[law]
    return delta + text, 40.0 if law in ("gauss", "yukawa") else 24.0


def store_force(draw: Draw) -> str:
    return draw.choose(
        (
            "out[i] = force;",
            "out[i] = force * 0.01f;",
            "vel[i] = 0.9f * vel[i] + 0.01f * force;\nout[i] = vel[i];",
            "out[i] = (float4)(force.x, force.y, force.z, q.w);",
            "scalars[i] = force.x * force.x + force.y * force.y + force.w;",
            "vstore3(force.xyz, i, scalars);",
        ),
        "store",
    )


def outputs(habits: Hand) -> list[str]:
    return [habits.gives("float4", "out"), habits.gives("float4", "vel"), habits.gives("float", "scalars")]


def output_lengths(count: int) -> dict[str, int]:
    return {"out": count, "vel": count, "scalars": 3 * count}


NUMBERS = {"soft": 0.01, "cutoff": 0.5}


@family("all_pairs", "particles")
def all_pairs(draw: Draw) -> Draft:
    """Each body feels all others; straight from global memory."""
    habits = hand(draw)
    way = walk(draw, habits)
    layout = draw.weighted(LAYOUTS, "layout")
    law, cost = pair_law(draw)
    skip = draw.choose(("", "", "if (j != (int)i) {{\n{law}\n}}"), "self")
    each = f"const float4 p = {position(layout, 'j')};\n" + (skip.format(law=law) if skip else law)
    cut = draw.chance(0.2, "own_cutoff")
    if cut:
        each = f"const float4 p = {position(layout, 'j')};\nif (fabs(p.x - q.x) < cutoff) {{\n{law}\n}}"
    form = draw.choose(("plain", "plain", "blocks_of_four", "half"), "form")
    if form == "blocks_of_four":
        walking = loop(draw, "k", "0", "sources / 4", loop(draw, "j", "4 * k", "4 * k + 4", each))
    elif form == "half":
        walking = loop(draw, "j", "(int)i % sources", "sources", each)
    else:
        walking = loop(draw, "j", "0", "sources", each)
    body = way.write(
        f"const float4 q = {position(layout, 'i')};\nfloat4 force = (float4)(0.0f);\n{walking}{store_force(draw)}"
    )
    names = [*positions(habits), *outputs(habits), habits.number("sources", "int"), habits.number("soft", "float")]
    names += [habits.number("cutoff", "float"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(w, 80)
        sources = d.log_integer(4, 1 << 16)
        count = max(size.count, sources)
        scalars = {**NUMBERS, "sources": sources, "n": size.count}
        work = size.done * (10 + cost * sources * (0.5 if form == "half" else 1))
        return sized(
            size.global_size, size.local_size, work, position_lengths(count) | output_lengths(size.count), scalars
        )

    return draft(habits, "attract", names, body, launch)


@family("tiled_pairs", "particles")
def tiled_pairs(draw: Draw) -> Draft:
    """All pairs, the bodies that act being read into local memory a tile at a time."""
    habits = hand(draw)
    fixed = draw.choose((0, 32, 64, 128, 256), "tile")
    tile = str(fixed) if fixed else "(int)get_local_size(0)"
    layout = draw.weighted(LAYOUTS, "layout")
    law, cost = pair_law(draw)
    barrier = "barrier(CLK_LOCAL_MEM_FENCE);"
    split = draw.chance(0.25, "split_tile")
    bodies = draw.choose((1, 1, 2, 4), "bodies_an_item")
    read = "tile[j]" if not split else "(float4)(tx[j], ty[j], tz[j], tm[j])"
    write = (
        f"tile[t] = {position(layout, 'min(first + t, sources - 1)')};"
        if not split
        else (
            f"const float4 s = {position(layout, 'min(first + t, sources - 1)')};\n"
            "tx[t] = s.x;\nty[t] = s.y;\ntz[t] = s.z;\ntm[t] = s.w;"
        )
    )
    split = split and bool(fixed)
    if not split:
        read, write = "tile[j]", f"tile[t] = {position(layout, 'min(first + t, sources - 1)')};"
    if bodies == 1:
        one = loop(draw, "j", "0", tile, f"const float4 p = {read};\n{law}")
        start = (
            "const int i = min((int)get_global_id(0), n - 1);\n"
            f"const float4 q = {position(layout, 'i')};\nfloat4 force = (float4)(0.0f);\n"
        )
        end = store_force(draw)
    else:
        step = f"const float4 q = qs[b];\nfloat4 force = forces[b];\n{law}\nforces[b] = force;"
        one = loop(draw, "j", "0", tile, f"const float4 p = {read};\n{loop(draw, 'b', '0', str(bodies), step)}")
        start = (
            f"float4 qs[{bodies}], forces[{bodies}];\nfor (int b = 0; b < {bodies}; b++) {{\n"
            f"    qs[b] = {position(layout, f'min((int)get_global_id(0) * {bodies} + b, n - 1)')};\n"
            f"    forces[b] = (float4)(0.0f);\n}}\n"
        )
        end = (
            f"for (int b = 0; b < {bodies}; b++) {{\n"
            f"    out[min((int)get_global_id(0) * {bodies} + b, n - 1)] = forces[b];\n}}"
        )
    arrays = f"{habits.near} float4 tile[{fixed}];\n" if fixed else ""
    if split:
        arrays = "".join(f"{habits.near} float {name}[{fixed}];\n" for name in ("tx", "ty", "tz", "tm"))
    body = (
        f"const int t = get_local_id(0);\n{arrays}{start}for (int first = 0; first < sources; first += {tile}) {{\n"
        f"{write}\n{barrier}\n{one}{barrier}\n}}\n{end}"
    )
    names = [*positions(habits), *outputs(habits), habits.number("sources", "int"), habits.number("soft", "float")]
    names += [habits.number("cutoff", "float"), habits.number("n", "int")]
    names += [] if fixed else [habits.shares("float4", "tile")]
    required = f"__attribute__((reqd_work_group_size({fixed}, 1, 1)))" if fixed and draw.chance(0.4) else ""

    def launch(d: Draw, w: Wish) -> Sized:
        local = fixed or fitting_local(w)
        items = groups(w, local) * local
        sources = d.log_integer(1, 1 << 14)
        n = within_memory(w.data, 140)
        rounds = -(-sources // local) * local
        lengths = position_lengths(max(n, sources)) | output_lengths(n)
        work = items * bodies * (cost * rounds + 10.0)
        return sized(items, local, work, lengths, {**NUMBERS, "sources": sources, "n": n}, {}, {"tile": 16 * local})

    return draft(habits, "attract_tiled", names, body, launch, attribute=required)


@family("neighbour_list_forces", "particles")
def neighbour_list_forces(draw: Draw) -> Draft:
    """Generate forces over a list of neighbours of each body, dense, padded or by offsets."""
    habits = hand(draw)
    way = walk(draw, habits, exact=False)
    layout = draw.weighted(LAYOUTS, "layout")
    law, cost = pair_law(draw)
    form = draw.choose(("padded", "padded_columns", "offsets", "counted", "ends_early"), "form")
    test = draw.choose(
        (
            "",
            "if (fast_distance(p.xyz, q.xyz) < cutoff) {{\n{law}\n}}",
            "if (fabs(p.x - q.x) + fabs(p.y - q.y) < cutoff) {{\n{law}\n}}",
        ),
        "test",
    )
    inner = f"const float4 p = {position(layout, 'j')};\n" + (test.format(law=law) if test else law)
    at = {"padded_columns": "k * n + i", "offsets": "k"}.get(form, "(size_t)i * most + k")
    if form == "ends_early":
        walking = f"for (int k = 0; k < most; k++) {{\nconst int j = near[{at}];\nif (j < 0)\n    break;\n{inner}\n}}\n"
    else:
        first, end = {"offsets": ("starts[i]", "starts[i + 1]"), "counted": ("0", "min(counts[i], most)")}.get(
            form, ("0", "most")
        )
        walking = loop(draw, "k", first, end, f"const int j = near[{at}];\n{inner}")
    body = way.write(
        f"const float4 q = {position(layout, 'i')};\nfloat4 force = (float4)(0.0f);\n{walking}{store_force(draw)}"
    )
    names = [
        *positions(habits),
        habits.takes("int", "near"),
        habits.takes("int", "starts"),
        habits.takes("int", "counts"),
        *outputs(habits),
    ]
    names += [
        habits.number("most", "int"),
        habits.number("soft", "float"),
        habits.number("cutoff", "float"),
        habits.number("n"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        pairs = within_memory(w.data, 12)
        most = min(pairs, d.log_integer(1, 256))
        size = way.size(w, 120, max(1, pairs // most))
        count = size.count
        least = -max(1, count // 12) if form == "ends_early" else 0
        near = (
            ("clustered", 0, count, d.log_integer(1, 2000))
            if least == 0 and d.chance(0.5)
            else ("randint", least, count)
        )
        fills: Fills = {
            "near": near,
            "starts": ("csr_rows", count * most, round(d.real(0, 1), 2)),
            "counts": ("randint", 0, most + 1),
        }
        lengths = (
            position_lengths(count)
            | output_lengths(count)
            | {"near": count * most, "starts": count + 1, "counts": count}
        )
        scalars = {**NUMBERS, "most": most, "n": count}
        work = size.done * (10.0 + most * (cost + 6) * (0.5 if form == "counted" else 1))
        return sized(size.global_size, size.local_size, work, lengths, scalars, fills)

    return draft(habits, "pair_forces", names, body, launch)
