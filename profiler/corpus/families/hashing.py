"""Mixing of bits over keys, blocks and trees."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import hand, loop
from profiler.corpus.writing.sizes import Fills, draft, sized, within_memory
from profiler.corpus.writing.walk import walk

BITS = {"uint": 32, "ulong": 64}


def odd_constant(draw: Draw, kind: str) -> str:
    """Generate a large odd multiplier."""
    high, low = draw.integer(1 << 30, (1 << 32) - 1), draw.integer(0, (1 << 31) - 1) * 2 + 1
    return f"0x{low | 1 << 31:08x}u" if kind == "uint" else f"0x{high:08x}{low:08x}ul"


def mixing(draw: Draw, h: str, kind: str, steps: int) -> str:
    """Statements that stir the integer variable `h`, each of which can be undone."""
    bits, lines = BITS[kind], []
    for _ in range(steps):
        shift, turn = draw.integer(3, bits // 2 + 3), draw.integer(1, bits - 1)
        lines.append(
            draw.choose(
                (
                    f"{h} ^= {h} >> {shift};",
                    f"{h} *= {odd_constant(draw, kind)};",
                    f"{h} += {h} << {draw.integer(2, 12)};",
                    f"{h} ^= {h} << {draw.integer(3, 17)};",
                    f"{h} = rotate({h}, ({kind}){turn});",
                    f"{h} = ({h} << {turn}) | ({h} >> {bits - turn});",
                    f"{h} = ({h} + {odd_constant(draw, kind)}) ^ ({h} << {draw.integer(5, 19)});",
                    f"{h} = ~{h} + ({h} << {draw.integer(4, 21)});",
                )
            )
        )
    return "\n".join(lines) + "\n"


def mixer(draw: Draw, kind: str, name: str = "stir") -> str:
    """Generate a function that stirs one integer."""
    lines = "".join(f"    {text}\n" for text in mixing(draw, "h", kind, draw.integer(2, 7)).strip().split("\n"))
    inline = draw.choose(("", "inline ", "static inline "))
    inline = "static " + inline if inline == "inline " else inline
    return f"{inline}{kind} {name}({kind} h)\n{{\n{lines}    return h;\n}}\n"


@family("key_hashes", "hashing")
def key_hashes(draw: Draw) -> Draft:
    """Generate a hash of each key of some bytes or words, one after another or interleaved."""
    habits, kind = hand(draw), draw.choose(("uint", "uint", "ulong"), "type")
    unit = draw.choose(("uchar", "uchar", "uint", "char", "ushort", "uint4"), "key_type")
    way = walk(draw, habits)
    fixed = draw.choose((0, 0, 4, 16, 20, 64), "fixed_length")
    length = str(fixed) if fixed else "length"
    at = draw.choose(
        (f"(size_t)i * {length} + k", "(size_t)k * n + i" if way.kind != "exact" else f"(size_t)i * {length} + k"), "at"
    )
    word = f"({kind})keys[{at}]" if unit != "uint4" else f"({kind})(keys[{at}].x ^ keys[{at}].w)"
    take = draw.choose(
        ("h ^= w;", "h += w;", "h = h * 31 + w;", "h = (h ^ w) * {m};", "h = rotate(h, ({k})5) ^ w;"), "take"
    )
    take = take.format(m=odd_constant(draw, kind), k=kind)
    round_ = mixing(draw, "h", kind, draw.choose((0, 1, 2, 3))).strip()
    ends = draw.choose(("", "zero"), "ends") if unit != "uint4" else ""
    inner = f"const {kind} w = {word};\n{take}\n{round_}"
    if ends == "zero":
        inside = "\n".join(
            "    " + text for text in inner.replace(f"\n{take}", f"\nif (w == 0)\n    break;\n{take}").split("\n")
        )
        walking = f"for (int k = 0; k < {length}; k++) {{\n{inside}\n}}\n"
    else:
        walking = loop(draw, "k", "0", length, inner)
    last = mixing(draw, "h", kind, draw.choose((0, 2, 4))) if draw.chance(0.6, "finish") else ""
    store = draw.choose(
        ("out[i] = h;", "out[i] = h % buckets;", "atomic_inc(&counts[h % buckets]);", "out[i] = h & (buckets - 1);"),
        "store",
    )
    body = way.write(f"{kind} h = {draw.choose((odd_constant(draw, kind), 'seed', '0'))};\n{walking}{last}{store}")
    names = [habits.takes(unit, "keys"), habits.gives(kind, "out"), habits.gives("int", "counts")]
    names += [
        habits.number("length", "int"),
        habits.number("seed", "uint"),
        habits.number("buckets", "uint"),
        habits.number("n"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        long = fixed or d.log_integer(1, 1024)
        each = long * {"uint4": 16, "uint": 4, "ushort": 2}.get(unit, 1)
        size = way.size(w, each + 8, max(1, within_memory(w.data, each / long + 8) // long))
        buckets = 1 << d.integer(4, 20)
        fills: Fills = {"keys": ("randint", 1 if d.chance(0.5) else 0, 128)}
        buffers = {"keys": size.count * long, "out": size.count, "counts": buckets}
        scalars = {"length": long, "seed": d.integer(1, 1 << 30), "buckets": buckets, "n": size.count}
        cost = 5 + 2 * len(round_.split("\n"))
        return sized(size.global_size, size.local_size, size.done * (6.0 + cost * long), buffers, scalars, fills)

    return draft(habits, "hash_keys", names, body, launch)


@family("table_substitution", "hashing")
def table_substitution(draw: Draw) -> Draft:
    """Bytes replaced from a table that lies in constant, global or local memory, over some rounds."""
    habits = hand(draw)
    way = walk(draw, habits, exact=draw.chance(0.6))
    where = draw.choose(("argument", "literal", "global", "local"), "table")
    entry = draw.choose(("uchar", "uint"), "entry") if where != "literal" else "uchar"
    rounds = draw.choose(("1", "rounds", "rounds", "10"), "rounds")
    before = ""
    if where == "literal":
        values = draw.shuffled(range(64 if draw.chance(0.5) else 256))
        rows = [", ".join(map(str, values[k : k + 16])) for k in range(0, len(values), 16)]
        before = f"{habits.fixed} {entry} table[{len(values)}] = {{\n    " + ",\n    ".join(rows) + "\n};"
        mask = str(len(values) - 1)
    else:
        mask = "255"
    t = "cached" if where == "local" else "table"
    shifts = [draw.choose((0, 8, 16, 24)) for _ in range(4)] if draw.chance(0.5) else [0, 8, 16, 24]
    parts = [f"(uint){t}[(x >> {shift}) & {mask}]" for shift in shifts]
    form = draw.choose(("bytes", "xor", "feedback"), "form")
    if form == "bytes" and entry == "uchar":
        one = "x = " + " | ".join(f"({p} << {8 * k})" for k, p in enumerate(parts)) + ";"
    elif form == "feedback":
        one = f"x = {t}[x & {mask}] ^ (x >> 8) ^ (x << 11);"
    else:
        one = "x = " + " ^ ".join(f"rotate({p}, {8 * k}u)" if k else p for k, p in enumerate(parts)) + ";"
    one += draw.choose(("", "\nx ^= key[r & 3];", "\nx = rotate(x, 7u) + (uint)r;"), "key")
    inner = (
        "uint x = data[i];\n"
        f"{loop(draw, 'r', '0', rounds, one)}out[i] = {draw.choose(('x', 'x ^ data[i]', 'x & 0xffffu'))};"
    )
    head = ""
    if where == "local":
        head = (
            f"{habits.near} {entry} cached[256];\n"
            "for (int k = get_local_id(0); k < 256; k += get_local_size(0))\n    cached[k] = table[k];\n"
        )
        head += "barrier(CLK_LOCAL_MEM_FENCE);\n"
    space = habits.fixed if where == "argument" else f"const {habits.space}"
    names = [] if where == "literal" else [f"{space} {entry} *table"]
    names += [habits.takes("uint", "data"), habits.takes("uint", "key"), habits.gives("uint", "out")]
    names += [habits.number("rounds", "int"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(w, 8)
        times = d.log_integer(1, 100) if rounds == "rounds" else int(rounds)
        fills: Fills = {"table": ("randint", 0, 256), "data": ("randint", 0, d.choose((64, 1 << 31)))}
        buffers = {"table": 256, "data": size.count, "key": 4, "out": size.count}
        work = size.done * (4.0 + 18 * times) + (size.global_size * 4 if where == "local" else 0)
        return sized(size.global_size, size.local_size, work, buffers, {"rounds": times, "n": size.count}, fills)

    return draft(habits, "substitute", names, head + way.write(inner), launch, before=before)
