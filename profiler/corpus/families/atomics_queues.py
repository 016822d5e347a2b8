"""Atomics: floating-point sums, bit sets, counters of events, and queues that items fetch their work from."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression
from profiler.corpus.families.atomics import keys_below
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out, literal
from profiler.corpus.writing.ndrange import affordable, line, sized, slack


@family("atomic_float_add", group="atomics")
def atomic_float_add(draw: Draw) -> Draft:
    """Floats are added by comparing and exchanging their bits until nobody has come between."""
    hand = Hand(draw)
    place = draw.choose(("key", "one of few", "stencil", "several first"), "place")
    style = draw.choose(("union", "as", "exchange"), "style")
    inner = {
        "union": "union { uint u; float f; } before, after;\ndo {\nbefore.f = *to;\nafter.f = before.f + value;\n} "
        "while (atomic_cmpxchg((volatile __global uint*)to, before.u, after.u) != before.u);",
        "as": "uint seen = as_uint(*to), old;\ndo {\nold = seen;\n"
        "seen = atomic_cmpxchg((volatile __global uint*)to, old, as_uint(as_float(old) + value));\n"
        "} while (seen != old);",
        "exchange": "float rest = value;\nwhile ((rest = atomic_xchg(to, atomic_xchg(to, 0.0f) + rest)) != 0.0f) {\n}",
    }[style]
    helper = f"static void add_to(volatile __global float* to, float value)\n{{\n{inner}\n}}\n"
    mapped = hand.mapping("float", 0.4)
    value = mapped("x[i]")
    lines = {
        "key": f"add_to(&out[key[i]], {value});",
        "one of few": f"add_to(&out[i % {draw.choose((1, 4, 32, 1024))}], {value});",
        "stencil": f"const int k = key[i];\nconst float w = 0.25f * {value};\nadd_to(&out[k], w);\n"
        "add_to(&out[max(k - 1, 0)], w);\nadd_to(&out[max(k - stride, 0)], w);",
        "several first": f"add_to(&out[key[i]], {value});",
    }[place]
    many = draw.choose((2, 4, 8, 16)) if place == "several first" else 1
    if place == "several first":
        lines = f"float sum = 0.0f;\nfor (int r = 0; r < {many}; ++r) {{\nsum += {mapped(f'x[i * {many} + r]')};\n}}\n"
        lines += "add_to(&out[key[i]], sum);"
    cover = hand.cover("i", "n", lambda _: lines)
    keyed = place != "one of few"
    buffers = [hand.reads("float", "x"), "volatile __global float* out", *([hand.reads("int", "key")] * keyed)]
    head = hand.signature("add_floats", [*buffers, *hand.counts("n"), *(["const int stride"] * (place == "stencil"))])

    def launch(draw: Draw, wish: Wish) -> Sized:
        size = line(wish, 4 * many + 8)
        (n,) = cover.fit(size, affordable(max(1, wish.data // many), 4 * many + 8))
        keys = draw.log_integer(1, 1 << 20) if keyed else 1024
        fills = {"out": Fill("zeros")} | ({"key": keys_below(draw, keys)} if keyed else {})
        scalars = {"n": n} | ({"stride": draw.log_integer(1, 2048)} if place == "stencil" else {})
        lengths = {"x": n * many, "out": keys} | ({"key": n} if keyed else {})
        cost = {"stencil": 80, "several first": 30 + 3 * many}.get(place, 28)
        return sized(size, cover.done(size, (n,)) * cost + size.items, lengths, scalars, fills)

    return Draft(lay_out(f"{helper}{head}\n{{\n{cover.text}\n}}"), "add_floats", launch, in_place=("out",))


@family("counters_queues", group="atomics")
def counters_queues(draw: Draw) -> Draft:
    """Bit sets, counters of events, and items that fetch their next piece of work from a shared counter."""
    hand = Hand(draw)
    form = draw.choose(("bit set", "events", "queue", "queue of pieces", "first comer"), "form")
    kind = draw.choose(("float", "int"), "type") if form not in ("bit set", "first comer") else "uint"
    depth = draw.integer(1, 3)
    formula = expression(draw, ["v", "x[i]"], kind, depth)
    work = f"{kind} v = x[i];\nfor (int r = 0; r < rounds; ++r) {{\nv = {formula};\n}}\n"
    in_place: tuple[str, ...] = ()
    cover = None
    piece = draw.choose((2, 4, 16, 64)) if form == "queue of pieces" else 1
    buffers = [hand.reads(kind, "x")]
    if form == "bit set":
        change = draw.choose(("atomic_or", "atomic_xor"))
        skip = draw.chance(0.4, "looks first")
        text = "const uint v = x[i];\nconst uint bit = 1u << (v & 31);\n"
        put = f"{change}(&bits[v >> 5], bit);"
        text += f"if (!(bits[v >> 5] & bit)) {{\n{put}\n}}" if skip else put
        cover = hand.cover("i", "n", lambda _: text)
        buffers.append(hand.writes("uint", "bits"))
        in_place = ("bits",) if skip else ()
    elif form == "first comer":
        text = "const uint v = x[i];\nout[i] = atomic_cmpxchg(&bits[v], 0u, (uint)i + 1u) == 0u;"
        cover = hand.cover("i", "n", lambda _: text)
        buffers += [hand.writes("uint", "bits"), hand.writes("uint", "out")]
        in_place = ("bits",)
    elif form == "events":
        limits = [draw.real(0.5, 1.5) if kind == "float" else draw.integer(1, 15) for _ in "<>"]
        tests = [f"v {sign} {literal(kind, limit)}" for sign, limit in zip("<>", limits, strict=True)]
        text = work + "\n".join(f"if ({t}) {{\natomic_inc(&events[{k}]);\n}}" for k, t in enumerate(tests))
        cover = hand.cover("i", "n", lambda _: text)
        buffers.append(hand.writes("int", "events"))
    else:
        fetch = f"atomic_add(next, {piece})" if piece > 1 else "atomic_inc(next)"
        inner = f"for (uint i = job; i < min(job + {piece}u, (uint)n); ++i) {{\n{work}out[i] = v;\n}}"
        inner = inner if piece > 1 else f"const uint i = job;\n{work}out[i] = v;"
        if draw.chance(0.5):
            loop = f"uint job;\nwhile ((job = {fetch}) < (uint)n) {{\n{inner}\n}}"
        else:
            loop = f"for (uint job = {fetch}; job < (uint)n; job = {fetch}) {{\n{inner}\n}}"
        text = loop
        buffers += [hand.writes(kind, "out"), "volatile __global uint* next"]
        in_place = ("next",)
    uses_rounds = "rounds" in text
    if cover:
        text = cover.text
    head = hand.signature("count_work", [*buffers, *hand.counts("n"), *(["const int rounds"] * uses_rounds)])

    def launch(draw: Draw, wish: Wish) -> Sized:
        size = line(wish, 8)
        n = affordable(wish.data, 12)
        if cover:
            (n,) = cover.fit(size, n)
        rounds = draw.log_integer(1, 64)
        scalars = {"n": n} | ({"rounds": rounds} if uses_rounds else {})
        lengths: dict[str, int] = {"x": slack(draw, n)}
        fills: dict[str, Fill] = {}
        if form in ("bit set", "first comer"):
            universe = draw.log_integer(32, 1 << 22)
            fills = {"x": keys_below(draw, universe), "bits": Fill("zeros")}
            lengths |= {"bits": -(-universe // 32) if form == "bit set" else universe}
            lengths |= {"out": n} if form == "first comer" else {}
        elif form == "events":
            lengths["events"] = 2
        else:
            lengths |= {"out": n, "next": 1}
            fills = {"next": Fill("zeros")}
        done = cover.done(size, (n,)) if cover else n
        operations = done * (14 + (rounds * 5 * depth if uses_rounds else 0)) + size.items * (12 if not cover else 1)
        return sized(size, operations, lengths, scalars, fills)

    return Draft(lay_out(f"{head}\n{{\n{text}\n}}"), "count_work", launch, in_place=in_place)
