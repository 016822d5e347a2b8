"""Checksums of streams, rounds with keys, and bits moved within words."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.hashing import mixer, odd_constant
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import hand, loop
from profiler.corpus.writing.sizes import Fills, draft, sized, within_memory
from profiler.corpus.writing.walk import walk


@family("checksums", "hashing")
def checksums(draw: Draw) -> Draft:
    """Generate sums over pieces of a stream: by polynomial (by bit or table), modulo a prime, in rolling windows."""
    habits = hand(draw)
    way = walk(draw, habits)
    form = draw.choose(
        ("bitwise", "table", "nibbles", "modular", "lazy_modular", "rolling", "parity", "xor_words", "match"), "form"
    )
    poly = f"0x{draw.integer(1 << 31, (1 << 32) - 1):08x}u"
    prime = draw.choose((251, 65521, 8191, 127))
    at = "data[begin + k]"
    bit = draw.choose(
        (f"c = c & 1u ? (c >> 1) ^ {poly} : c >> 1;", f"c = (c >> 1) ^ ({poly} & (0u - (c & 1u)));"), "bit"
    )
    each = {
        "bitwise": f"c ^= {at};\n{loop(draw, 'b', '0', '8', bit)}",
        "table": f"c = table[(c ^ {at}) & 255u] ^ (c >> 8);",
        "nibbles": f"c ^= {at};\nc = table[c & 15u] ^ (c >> 4);\nc = table[c & 15u] ^ (c >> 4);",
        "modular": f"c = (c + {at}) % {prime}u;\ns = (s + c) % {prime}u;",
        "lazy_modular": f"c += {at};\ns += c;\nif ((k & 31) == 31) {{\n    c %= {prime}u;\n    s %= {prime}u;\n}}",
        "rolling": f"c = c * 257u + {at};\ns = max(s, c ^ (c >> 15));",
        "parity": f"c ^= {at};\ns += popcount(c);",
        "xor_words": f"c ^= rotate((uint){at}, (uint)k & 31u);",
        "match": f"c = (c << 1 | 1u) & table[{at} & 255];\ns += c >> 31;",
    }[form]
    store = draw.choose(
        ("out[i] = c ^ s;", "out[i] = ~c + s;", "out[i] = (s << 16) | (c & 0xffffu);", "atomic_xor(&out[0], c ^ s);"),
        "store",
    )
    piece = draw.choose(("piece", "piece", "64", "256"), "piece")
    overlap = draw.chance(0.25, "overlap")
    begin = "i" if overlap else f"i * {piece}"
    text = (
        f"const size_t begin = (size_t){begin};\nuint c = {draw.choose(('0u', '0xffffffffu', '1u'))}, s = 0u;\n"
        f"{loop(draw, 'k', '0', piece, each)}{store}"
    )
    near = draw.chance(0.5, "constant_table")
    unit = draw.choose(("uchar", "uint"), "data_type")
    names = [
        habits.takes(unit, "data"),
        f"{habits.fixed if near else 'const ' + habits.space} uint *table",
        habits.gives("uint", "out"),
    ]
    names += [habits.number("piece", "int"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        long = d.log_integer(1, 2048) if piece == "piece" else int(piece)
        whole = 1 if overlap else long
        each_bytes = whole * (4 if unit == "uint" else 1)
        size = way.size(w, each_bytes + 4, max(1, within_memory(w.data, 6) // whole))
        buffers = {"data": size.count * whole + long, "table": 256, "out": size.count}
        cost = {"bitwise": 34.0, "modular": 30.0, "nibbles": 12.0}.get(form, 7.0)
        fills: Fills = {"data": ("randint", 0, 256), "table": ("randint", 0, 1 << 31)}
        return sized(
            size.global_size,
            size.local_size,
            size.done * (5 + cost * long),
            buffers,
            {"piece": long, "n": size.count},
            fills,
        )

    return draft(habits, "checksum", names, way.write(text), launch)


@family("keyed_rounds", "hashing")
def keyed_rounds(draw: Draw) -> Draft:
    """Halves that are mixed in turn (Feistel), products in finite fields, powers modulo a number."""
    habits = hand(draw)
    way = walk(draw, habits)
    form = draw.choose(("halves", "halves", "field_bits", "field_tables", "power", "multiply_mod", "inverse"), "form")
    rounds = draw.choose(("rounds", "16", "8"), "rounds")
    if form == "halves":
        f = draw.choose(
            (
                "(r * keys[k & 15]) ^ rotate(r, 9u)",
                "stir(r + keys[k & 15])",
                "mul_hi(r, keys[k & 15] | 1u) + r",
                "(r ^ keys[k & 15]) + (r << 3)",
            ),
            "function",
        )
        swap = draw.choose(
            ("const uint t = l ^ ({f});\nl = r;\nr = t;", "l ^= {f};\nconst uint t = l;\nl = r;\nr = t;"), "swap"
        ).format(f=f)
        pair = draw.chance(0.5, "pair")
        load = (
            "uint l = data[2 * i], r = data[2 * i + 1];\n"
            if pair
            else "uint l = data[i] >> 16, r = data[i] & 0xffffu;\n"
        )
        store = "out[2 * i] = r;\nout[2 * i + 1] = l;" if pair else "out[i] = (l << 16) ^ r;"
        text = f"{load}{loop(draw, 'k', '0', rounds, swap)}{store}"
    elif form == "field_bits":
        inner = "if (b & 1u)\n    p ^= a;\na = (a << 1) ^ (a & 128u ? 283u : 0u);\nb >>= 1;"
        step = "uint p = 0u, a = x, b = keys[k & 15] & 255u;\n" + loop(draw, "j", "0", "8", inner) + "x = p ^ 1u;"
        text = f"uint x = data[i] & 255u;\n{loop(draw, 'k', '0', rounds, step)}out[i] = x;"
    elif form == "field_tables":
        step = "x = x == 0u ? keys[k & 15] & 255u : powers[(logs[x] + logs[keys[k & 15] & 255u]) % 255u] & 255u;"
        text = f"uint x = data[i] & 255u;\n{loop(draw, 'k', '0', rounds, step)}out[i] = x;"
    elif form == "power":
        text = (
            "ulong b = data[i] % modulus, p = 1ul;\nfor (uint e = exponent; e > 0u; e >>= 1) {\n"
            "    if (e & 1u)\n        p = p * b % modulus;\n    b = b * b % modulus;\n}\nout[i] = (uint)p;"
        )
    elif form == "multiply_mod":
        text = (
            "ulong p = data[i];\n"
            f"{loop(draw, 'k', '0', rounds, 'p = (p * (keys[k & 15] | 1u) + k) % modulus;')}out[i] = (uint)p;"
        )
    else:
        text = (
            "int a = (int)(data[i] % modulus), m = (int)modulus, x = 1, y = 0;\n"
            "for (int k = 0; k < 48 && a > 1 && m > 0; k++) {\n    const int q = a / m, t = m;\n"
            "    m = a % m;\n    a = t;\n    const int u = y;\n"
            "    y = (int)((uint)x - (uint)q * (uint)y);\n    x = u;\n}\nout[i] = (uint)x;"
        )
    names = [
        habits.takes("uint", "data"),
        habits.takes("uint", "keys"),
        habits.takes("uint", "logs"),
        habits.takes("uint", "powers"),
    ]
    names += [
        habits.gives("uint", "out"),
        habits.number("rounds", "int"),
        habits.number("exponent", "uint"),
        habits.number("modulus", "uint"),
        habits.number("n"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        pairs = 2 if "2 * i" in text else 1
        size = way.size(w, 8 * pairs, max(1, w.data // pairs))
        times = d.log_integer(1, 200) if rounds == "rounds" else int(rounds)
        fills: Fills = {
            "data": ("randint", 0, 1 << 31),
            "logs": ("randint", 0, 255),
            "powers": ("randint", 1, 256),
            "keys": ("randint", 1, 1 << 20),
        }
        buffers = {"data": size.count * pairs, "keys": 16, "logs": 256, "powers": 256, "out": size.count * pairs}
        cost = {
            "halves": 6.0 * times,
            "field_bits": 50.0 * times,
            "power": 1200.0,
            "inverse": 600.0,
            "multiply_mod": 25.0 * times,
        }
        scalars = {
            "rounds": times,
            "exponent": d.log_integer(3, 1 << 30),
            "modulus": d.choose((10007, 65537, 1000003, 2147483647)),
            "n": size.count,
        }
        return sized(
            size.global_size, size.local_size, size.done * cost.get(form, 10.0 * times), buffers, scalars, fills
        )

    return draft(habits, "keyed", names, way.write(text), launch, before=mixer(draw, "uint") if "stir" in text else "")


@family("bit_permutations", "hashing")
def bit_permutations(draw: Draw) -> Draft:
    """Bits moved within words: reversal, interleaving, exchanges by masks, packing and transposing."""
    habits = hand(draw)
    way = walk(draw, habits)
    swaps = [(1, "0x55555555u"), (2, "0x33333333u"), (4, "0x0f0f0f0fu"), (8, "0x00ff00ffu"), (16, "0x0000ffffu")]
    one_swap = "x = ((x >> {s}) & {m}) | ((x & {m}) << {s});"
    form = draw.choose(
        ("reverse", "swaps", "spread", "gather", "transpose", "unpack", "gray", "reverse_loop", "delta", "select"),
        "form",
    )
    if form in ("reverse", "swaps"):
        chosen = swaps if form == "reverse" else [draw.choose(swaps) for _ in range(draw.integer(1, 6))]
        text = "uint x = data[i];\n" + "\n".join(one_swap.format(s=s, m=m) for s, m in chosen) + "\nout[i] = x;"
    elif form == "spread":
        both = draw.chance(0.6)
        spread = "\n".join(f"{{v}} = ({{v}} | ({{v}} << {s})) & {m};" for s, m in reversed(swaps[:4]))
        text = f"uint x = data[i] & 0xffffu;\n{spread.format(v='x')}\n"
        text += f"uint y = data[i] >> 16;\n{spread.format(v='y')}\nout[i] = x | (y << 1);" if both else "out[i] = x;"
    elif form == "gather":
        text = (
            "uint x = data[i] & 0x55555555u;\n"
            + "\n".join(f"x = (x | (x >> {s})) & {m};" for s, m in swaps[1:]).replace("x >> 2)", "x >> 1)", 1)
            + "\nout[i] = x;"
        )
    elif form == "transpose":
        size = draw.choose((8, 16))
        text = (
            f"uint r[{size}];\n{loop(draw, 'k', '0', str(size), 'r[k] = data[i] >> (k & 31) ^ (uint)k;')}uint x = 0u;\n"
        )
        step = loop(draw, "j", "0", str(size), "x ^= ((r[j] >> k) & 1u) << ((k + j) & 31);")
        text += f"{loop(draw, 'k', '0', str(size), step)}out[i] = x;"
    elif form == "unpack":
        bits = draw.choose((1, 3, 5, 7, 11))
        text = (
            f"const uint at = (uint)i * {bits}u % (words * 32u - 32u);\nconst uint low = data[at >> 5] >> (at & 31u);\n"
        )
        text += (
            "const uint high = (at & 31u) ? data[(at >> 5) + 1] << (32u - (at & 31u)) : 0u;\n"
            f"out[i] = (low | high) & {(1 << bits) - 1}u;"
        )
    elif form == "gray":
        text = (
            "uint x = data[i];\n"
            + draw.choose(("x ^= x >> 1;", "x ^= x >> 16;\nx ^= x >> 8;\nx ^= x >> 4;\nx ^= x >> 2;\nx ^= x >> 1;"))
            + "\nout[i] = x;"
        )
    elif form == "reverse_loop":
        turns = str(draw.choose((8, 16, 32)))
        turned = loop(draw, "k", "0", turns, "y = (y << 1) | (x & 1u);\nx >>= 1;")
        text = f"uint x = data[i], y = 0u;\n{turned}out[i] = y;"
    elif form == "delta":
        steps = "".join(
            f"t = ((x >> {s}) ^ x) & (mask[{k}] & {m});\nx ^= t ^ (t << {s});\n"
            for k, (s, m) in enumerate(draw.shuffled(swaps))
        )
        text = f"uint x = data[i], t;\n{steps}out[i] = x;"
    else:
        text = (
            "uint x = data[i];\nuint kept = 0u, at = 0u;\nfor (uint m = mask[0]; m != 0u; m &= m - 1u) {\n"
            "    kept |= ((x >> (31 - clz(m & (0u - m)))) & 1u) << at;\n    at++;\n}\nout[i] = kept;"
        )
    repeat = draw.chance(0.3, "repeated") and "uint x = data[i];" in text and form in ("reverse", "swaps", "gray")
    if repeat:
        middle = text.replace("uint x = data[i];\n", "").replace(
            "\nout[i] = x;", f"\nx += {odd_constant(draw, 'uint')};"
        )
        text = f"uint x = data[i];\n{loop(draw, 'turn', '0', 'turns', middle)}out[i] = x;"
    names = [
        habits.takes("uint", "data"),
        habits.takes("uint", "mask"),
        habits.gives("uint", "out"),
        habits.number("words", "uint"),
    ]
    names += [habits.number("turns", "int"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(w, 8)
        turns = d.log_integer(1, 300)
        fills: Fills = {"data": ("randint", 0, 1 << 31), "mask": ("randint", 0, 1 << 31)}
        words = max(2, size.count)
        buffers = {"data": words + 1, "mask": 8, "out": size.count}
        cost = {"transpose": 900.0, "select": 160.0, "reverse_loop": 90.0}.get(form, 20.0) * (turns if repeat else 1)
        return sized(
            size.global_size,
            size.local_size,
            size.done * cost,
            buffers,
            {"words": words, "turns": turns, "n": size.count},
            fills,
        )

    return draft(habits, "permute_bits", names, way.write(text), launch)
