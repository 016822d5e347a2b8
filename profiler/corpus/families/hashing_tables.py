"""Tables and filters that are found by hashes, searches for a hash, and checksums."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.hashing import mixer, mixing, odd_constant
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import hand, loop
from profiler.corpus.writing.sizes import Fills, draft, sized
from profiler.corpus.writing.walk import walk


@family("table_probes", "hashing")
def table_probes(draw: Draw) -> Draft:
    """Generate looking up or inserting keys in a table with open addressing, a bounded number of probes each."""
    habits = hand(draw)
    way = walk(draw, habits)
    step = draw.choose(
        (
            "slot = (slot + 1) & mask;",
            "slot = (slot + p + 1) & mask;",
            "slot = (slot + jump) & mask;",
            "slot = stir(slot + p) & mask;",
        ),
        "step",
    )
    form = draw.choose(("find", "find", "count", "insert", "value", "cuckoo", "bucket"), "form")
    most = draw.choose((4, 16, 64), "probes")
    head = "const uint key = keys[i];\nuint slot = stir(key) & mask;\n"
    if "jump" in step:
        head += "const uint jump = (stir(key ^ 0x5bd1u) | 1u);\n"
    if form == "insert":
        walking = f"""for (int p = 0; p < {most}; p++) {{
    const uint old = atomic_cmpxchg(&table[slot], 0u, key);
    if (old == 0u || old == key)
        break;
    {step}
}}
out[i] = slot;"""
    elif form == "cuckoo":
        walking = (
            "const uint other = stir(key + 77u) & mask;\n"
            "out[i] = table[slot] == key ? slot : table[other] == key ? other : mask + 1u;"
        )
    elif form == "bucket":
        step = "found |= table[(slot & ~15u) + (p & 15)] == key ? 1u << (p & 15) : 0u;"
        walking = f"uint found = 0u;\n{loop(draw, 'p', '0', str(most), step)}out[i] = found;"
    else:
        hit = {"find": "found = slot;", "count": "found = p + 1;", "value": "found = values[slot];"}[form]
        stop = draw.choose(("break;", "p = {most};"), "leave").format(most=most)
        walking = f"""uint found = 0u;
for (int p = 0; p < {most}; p++) {{
    const uint entry = table[slot];
    if (entry == key) {{
        {hit}
        {stop}
    }} else if (entry == 0u) {{
        break;
    }}
    {step.replace("slot = (slot + p", "slot = (slot + (uint)p")}
}}
out[i] = found;"""
    text = way.write(head + walking)
    names = [habits.takes("uint", "keys"), f"{'volatile ' if form == 'insert' else 'const '}{habits.space} uint *table"]
    names += [
        habits.takes("uint", "values"),
        habits.gives("uint", "out"),
        habits.number("mask", "uint"),
        habits.number("n"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(w, 8)
        slots = 1 << d.integer(4, 22)
        span = max(2, min(1 << 30, int(slots * d.log_real(0.25, 16))))
        keys = d.choose((("randint", 1, span + 1), ("skewed", 1, span + 1), ("sorted", 1, span + 1)))
        full = d.choose((("randint", 0, 2), ("randint", 0, span + 1), ("randint", 1, span + 1)))
        fills: Fills = {"keys": keys, "table": ("zeros",) if form == "insert" else full}
        buffers = {"keys": size.count, "table": slots, "values": slots, "out": size.count}
        work = size.done * (14.0 + 6 * most * (0.4 if form != "cuckoo" else 0))
        return sized(size.global_size, size.local_size, work, buffers, {"mask": slots - 1, "n": size.count}, fills)

    return draft(
        habits,
        "probe",
        names,
        text,
        launch,
        before=mixer(draw, "uint"),
        in_place=("table",) if form == "insert" else (),
    )


@family("bloom_filters", "hashing")
def bloom_filters(draw: Draw) -> Draft:
    """Bits set or asked for at several hashes of each key, and sketches that count."""
    habits = hand(draw)
    way = walk(draw, habits)
    hashes = draw.choose(("2", "3", "4", "7", "hashes"), "hashes")
    form = draw.choose(("set", "ask", "ask_early", "blocked", "count_min", "minhash"), "form")
    two = draw.chance(0.5, "two_hashes")
    h = "(a + (uint)j * b)" if two else "stir(key + (uint)j * 0x9e3779b9u)"
    head = "const uint key = keys[i];\n" + (
        "const uint a = stir(key);\nconst uint b = stir(a ^ key) | 1u;\n" if two else ""
    )
    if form == "set":
        text = loop(draw, "j", "0", hashes, f"const uint h = {h} & mask;\natomic_or(&bits[h >> 5], 1u << (h & 31u));")
    elif form == "ask":
        step = f"const uint h = {h} & mask;\nall &= bits[h >> 5] >> (h & 31u);"
        text = f"uint all = 1u;\n{loop(draw, 'j', '0', hashes, step)}out[i] = all;"
    elif form == "ask_early":
        text = f"uint in = 1u;\nfor (int j = 0; j < {hashes}; j++) {{\n    const uint h = {h} & mask;\n"
        text += (
            "    if (!((bits[h / 32] >> (h % 32)) & 1u)) {\n        in = 0u;\n        break;\n    }\n}\nout[i] = in;"
        )
    elif form == "blocked":
        step = f"const uint h = {h} & 511u;\nall &= bits[(block << 4) + (h >> 5)] >> (h & 31u);"
        text = (
            "const uint block = (stir(key) & mask) >> 9;\nuint all = 1u;\n"
            f"{loop(draw, 'j', '0', hashes, step)}"
            "out[i] "
            "= all & 1u;"
        )
    elif form == "count_min":
        text = (
            "uint least = 0xffffffffu;\n"
            f"{loop(draw, 'j', '0', hashes, f'least = min(least, bits[{h} & (mask >> 5)]);')}out[i] = least;"
        )
    else:
        text = f"{loop(draw, 'j', '0', hashes, f'out[(size_t)i * {hashes} + j] = {h};')}"
    wide = hashes if form == "minhash" else "1"
    names = [
        habits.takes("uint", "keys"),
        f"{habits.space} uint *bits",
        habits.gives("uint", "out"),
        habits.number("mask", "uint"),
    ]
    names += [habits.number("hashes", "int"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        count = d.integer(1, 16) if hashes == "hashes" else int(hashes)
        size = way.size(w, 8 + (4 * count if wide != "1" else 0))
        power = d.integer(10, 28)
        fills: Fills = {"keys": d.choose((("randint", 0, 1 << 30), ("skewed", 0, 1 << 20), ("iota",)))}
        fills |= {"bits": d.choose((("zeros",), ("randint", 0, 1 << 31), ("const", (1 << 31) - 1)))}
        buffers = {"keys": size.count, "bits": 1 << (power - 5), "out": size.count * (count if wide != "1" else 1)}
        scalars = {"mask": (1 << power) - 1, "hashes": count, "n": size.count}
        return sized(size.global_size, size.local_size, size.done * (8.0 + 14 * count), buffers, scalars, fills)

    return draft(habits, "bloom", names, way.write(head + text), launch, before=mixer(draw, "uint"))


@family("hash_searches", "hashing")
def hash_searches(draw: Draw) -> Draft:
    """Each item tries numbers until a hash is small enough, or the bound of its tries is reached."""
    habits, kind = hand(draw), draw.choose(("uint", "uint", "ulong"), "type")
    way = walk(draw, habits)
    rounds = draw.choose((1, 2, 8, 32), "rounds")
    test = draw.choose(("h < limit", "(h & limit) == 0", "h % 1021 == 7", "clz(h) >= 12", "popcount(h) < 8"), "test")
    words = draw.choose((0, 2, 4), "state_words")
    mix = mixing(draw, "h", kind, draw.integer(2, 6))
    if words:
        mix = (
            f"{kind} s[{words}];\n"
            f"{loop(draw, 'k', '0', str(words), f's[k] = h + ({kind})k * {odd_constant(draw, kind)};')}"
        )
        mix += loop(
            draw,
            "r",
            "0",
            str(rounds),
            (
                f"s[r % {words}] ^= s[(r + 1) % {words}] * {odd_constant(draw, kind)};\n"
                f"h ^= rotate(s[r % {words}], ({kind})7);"
            ),
        )
    elif rounds > 1:
        mix = loop(draw, "r", "0", str(rounds), mix)
    start = draw.choose(
        ("({k})i * tries + t", "seed + ({k})i + ({k})t * 65537u", "({k})i ^ (({k})t << 20)"), "nonce"
    ).format(k=kind)
    form = draw.choose(("break", "while", "all_counted", "flag"), "form")
    inside = "\n".join("    " + text for text in f"{kind} h = {start};\n{mix}".strip().split("\n"))
    if form == "all_counted":
        text = f"uint wins = 0;\nfor (uint t = 0; t < tries; t++) {{\n{inside}\n    wins += {test};\n}}\nout[i] = wins;"
    elif form == "while":
        text = (
            f"uint t = 0;\nint found = 0;\nwhile (!found && t < tries) {{\n"
            f"{inside}\n    found = {test};\n    t++;\n}}\nout[i] = t;"
        )
    else:
        note = "atomic_inc(hits);" if form == "flag" else "best = t;"
        text = (
            f"uint best = tries;\nfor (uint t = 0; t < tries; ++t) {{\n{inside}\n"
            f"    if ({test}) {{\n        {note}\n        break;\n    }}\n}}\nout[i] = best;"
        )
    names = [
        habits.gives("uint", "out"),
        f"{habits.space} int *hits",
        habits.number("tries", "uint"),
        habits.number("seed", "uint"),
    ]
    names += [habits.number("limit", kind), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(w, 4)
        tries = d.log_integer(1, 5000)
        bits = d.integer(4, 24)
        limit = (1 << ((32 if kind == "uint" else 63) - bits)) if "<" in test else (1 << bits) - 1
        work = size.done * min(tries, 1 << bits) * (8.0 + 6 * rounds)
        scalars = {"tries": tries, "seed": d.integer(0, 1 << 30), "limit": limit, "n": size.count}
        return sized(size.global_size, size.local_size, work, {"out": size.count, "hits": 1}, scalars)

    return draft(habits, "search", names, way.write(text), launch)
