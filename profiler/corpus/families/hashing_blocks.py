"""Blocks of words through rounds, and trees of digests."""

from __future__ import annotations

import re

from profiler.corpus.draw import Draw
from profiler.corpus.families.hashing import BITS, mixer, mixing, odd_constant
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import hand, loop
from profiler.corpus.writing.sizes import draft, sized, within_memory
from profiler.corpus.writing.walk import walk


@family("block_rounds", "hashing")
def block_rounds(draw: Draw) -> Draft:
    """Blocks of words through rounds of additions, rotations and exclusive ors, as stream ciphers do."""
    habits, kind = hand(draw), draw.choose(("uint", "uint", "ulong"), "type")
    words = draw.choose((2, 4, 8, 16), "words")
    way = walk(draw, habits)
    bits = BITS[kind]
    turns = [draw.integer(3, bits - 3) for _ in range(4)]
    rounds = draw.choose(("rounds", "rounds", "8", "20", "12"), "rounds")
    form = draw.choose(
        ("array", "array", "macro", "vector") if words in (4, 16) else ("array", "macro") if words > 2 else ("array",),
        "form",
    )
    before = ""
    if words == 2:
        a, b = odd_constant(draw, kind), odd_constant(draw, kind)
        one = draw.choose(
            (
                (
                    f"s[0] += rotate(s[1], ({kind}){turns[0]}) ^ (s[1] + {a} * ({kind})r);\n"
                    f"s[1] += rotate(s[0], ({kind}){turns[1]}) ^ {b};"
                ),
                f"s[0] += s[1];\ns[1] = rotate(s[1], ({kind}){turns[0]}) ^ s[0];",
                (
                    f"s[0] += ((s[1] << 4) ^ (s[1] >> 5)) + (s[1] ^ ({a} * ({kind})r));\n"
                    f"s[1] += ((s[0] << 4) ^ (s[0] >> 5)) + (s[0] ^ {b});"
                ),
            ),
            "two_words",
        )
    elif form == "vector":
        wide = f"{kind}4"
        one = f"a += b;\nd = rotate(d ^ a, ({wide})({turns[0]}));\nc += d;\nb = rotate(b ^ c, ({wide})({turns[1]}));\n"
        one += draw.choose(("b = b.yzwx;\nc = c.zwxy;\nd = d.wxyz;", "a = a.yzwx;", "d = d.s3012;\nb ^= c;"), "shuffle")
    else:
        quarter = "a += b; d ^= a; d = rotate(d, {t0}); c += d; b ^= c; b = rotate(b, {t1});"
        if draw.chance(0.5, "twice"):
            quarter += " a += b; d ^= a; d = rotate(d, {t2}); c += d; b ^= c; b = rotate(b, {t3});"
        quarter = quarter.format(**{f"t{k}": f"({kind}){turn}" for k, turn in enumerate(turns)})
        stride = words // 4
        columns = [tuple(c + stride * r for r in range(4)) for c in range(stride)]
        slanted = (
            [tuple((c + r) % stride + stride * r for r in range(4)) for c in range(stride)]
            if stride > 1
            else [(3, 2, 1, 0)]
        )
        places = columns + (slanted if draw.chance(0.7, "diagonals") else [])
        if form == "macro":
            macro = quarter
            for name in "abcd":
                macro = re.sub(rf"\b{name}\b", f"({name})", macro)
            before = f"#define MIX(a, b, c, d) {macro}"
            one = "\n".join(f"MIX(s[{p}], s[{q}], s[{r}], s[{t}])" for p, q, r, t in places)
        else:
            inline = quarter.replace(" ", " ")
            lines = []
            for place in places:
                text = inline
                for name, at in zip("abcd", place, strict=True):
                    text = re.sub(rf"\b{name}\b", f"s[{at}]", text)
                lines.append(text.replace("; ", ";\n"))
            one = "\n".join(lines)
    walking = loop(draw, "r", "0", rounds, one)
    if form == "vector":
        v = f"{kind}4"
        load = (
            f"{v} a = vload4(4 * i, data), b = vload4(4 * i + 1, data), c = "
            f"({v})(key[0], key[1], key[2], key[3]), d = ({v})(i, 1, 2, 3);\n"
        )
        store = "vstore4(a ^ c, 4 * i, out);\nvstore4(b ^ d, 4 * i + 1, out);"
        body = way.write(load + walking + store)
    else:
        start = draw.choose(
            (
                f"s[k] = data[(size_t)i * {words} + k];",
                f"s[k] = key[k & 3] + ({kind})i * {odd_constant(draw, kind)};",
                "s[k] = key[k & 3] ^ ({k})(i + k);",
            ),
            "start",
        ).replace("({k})", f"({kind})")
        ends = draw.choose(
            (
                f"out[(size_t)i * {words} + k] = s[k];",
                f"out[(size_t)i * {words} + k] = s[k] ^ data[(size_t)i * {words} + k];",
            ),
            "store",
        )
        body = way.write(
            f"{kind} s[{words}];\n"
            f"{loop(draw, 'k', '0', str(words), start)}{walking}{loop(draw, 'k', '0', str(words), ends)}"
        )
    names = [habits.takes(kind, "data"), habits.takes(kind, "key"), habits.gives(kind, "out")]
    names += [habits.number("rounds", "int"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        stride = 16 if form == "vector" else words
        each = stride * BITS[kind] // 4
        size = way.size(w, each, max(1, within_memory(w.data, each / stride) // stride))
        times = d.log_integer(1, 256) if rounds == "rounds" else int(rounds)
        buffers = {"data": size.count * stride, "key": 4, "out": size.count * stride}
        cost = words * 3.0 * times * (1 if words > 2 else 3)
        return sized(
            size.global_size,
            size.local_size,
            size.done * (4 * words + cost),
            buffers,
            {"rounds": times, "n": size.count},
            {},
        )

    return draft(habits, "mix_blocks", names, body, launch, before=before)


@family("hash_tree_level", "hashing")
def hash_tree_level(draw: Draw) -> Draft:
    """Each parent's digest from its children's, or a leaf's way up to the root."""
    habits, kind = hand(draw), draw.choose(("uint", "ulong", "uint"), "type")
    words = draw.choose((1, 2, 4, 8), "words")
    way = walk(draw, habits)
    function = draw.chance(0.5, "helper")
    arity = draw.choose((2, 2, 4), "arity")
    rounds = draw.choose((1, 4, 16), "rounds")
    form = draw.choose(("level", "level", "path"), "form")
    stir = "d[k] = stir(d[k]);" if function else mixing(draw, "d[k]", kind, draw.integer(2, 5)).strip()
    mix_words = f"d[k] ^= d[(k + 1) % {words}];\n" if words > 1 else ""
    stirring = (
        loop(draw, "r", "0", str(rounds), loop(draw, "k", "0", str(words), mix_words + stir))
        if rounds > 1
        else loop(draw, "k", "0", str(words), mix_words + stir)
    )
    clear = loop(draw, "k", "0", str(words), f"d[k] = {odd_constant(draw, kind)};")
    if form == "level":
        absorb = loop(draw, "k", "0", str(words), f"d[k] ^= nodes[(({arity} * (size_t)i + c) * {words}) + k];")
        inner = f"{kind} d[{words}];\n{clear}{loop(draw, 'c', '0', str(arity), absorb + stirring)}"
        inner += loop(draw, "k", "0", str(words), f"out[(size_t)i * {words} + k] = d[k];")
    else:
        absorb = loop(draw, "k", "0", str(words), f"d[k] += nodes[(size_t)sibling * {words} + k];")
        up = (
            "const uint sibling = (base + at) ^ 1u;\n"
            f"{absorb}{stirring}base = (base + n_leaves) & (2 * n_leaves - 1);\nat >>= 1;"
        )
        up = f"const uint sibling = (at ^ 1u) + base;\n{absorb}{stirring}at >>= 1;\nbase += wide;\nwide >>= 1;"
        inner = (
            f"{kind} d[{words}];\n{clear}uint at = (uint)i % leaves, base = 0, wide = leaves;\n"
            f"{loop(draw, 'l', '0', 'levels', up)}"
        )
        inner += loop(draw, "k", "0", str(words), f"out[(size_t)i * {words} + k] = d[k];")
    names = [
        habits.takes(kind, "nodes"),
        habits.gives(kind, "out"),
        habits.number("leaves", "uint"),
        habits.number("levels", "int"),
        habits.number("n"),
    ]
    before = mixer(draw, kind) if function else ""

    def launch(d: Draw, w: Wish) -> Sized:
        unit = words * BITS[kind] // 8
        if form == "level":
            size = way.size(w, unit * (arity + 1), max(1, w.data // (arity * words)))
            buffers, levels, leaves = {"nodes": size.count * arity * words, "out": size.count * words}, arity, 2
        else:
            size = way.size(w, unit * 2)
            levels = min(d.integer(1, 20), max(1, within_memory(w.data, unit * 6).bit_length() - 1))
            leaves = 1 << levels
            buffers = {"nodes": 2 * leaves * words, "out": size.count * words}
        work = size.done * words * levels * (3.0 + 6 * rounds)
        return sized(
            size.global_size, size.local_size, work, buffers, {"leaves": leaves, "levels": levels, "n": size.count}, {}
        )

    return draft(habits, "tree_level", names, way.write(inner), launch, before=before)
