"""Compression-like streams: run lengths, deltas, prefix codes, bit planes."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.composing.blocks import Block
from profiler.corpus.composing.drafting import Buffer, just, times
from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, family


@family("run_lengths", group="bits")
def run_lengths(draw: Draw) -> Draft:
    """Generate runs of equal symbols in each block: counted, the longest found, encoded in pairs."""
    b = Block(draw, ("uchar", "int", "ushort", "uint"))
    size, j, i, out = b.length, b.j, b.i, b.out
    same = f"{b.at(j)} == last2"
    kinds = {
        "count": (
            f"int runs = 1;\n{b.type} last2 = {b.at('0')};",
            f"const {b.type} c2 = {b.at(j)};\nif (c2 != last2) runs++;\nlast2 = c2;",
            f"{out}[{i}] = runs;",
        ),
        "longest": (
            f"int run2 = 1, most = 1;\n{b.type} last2 = {b.at('0')};",
            f"if ({same}) {{\nrun2++;\nmost = max(most, run2);\n}} else {{\nrun2 = 1;\nlast2 = {b.at(j)};\n}}",
            f"{out}[{i}] = most;",
        ),
        "encode": (
            f"int run2 = 1, to2 = 0;\n{b.type} last2 = {b.at('0')};",
            (
                f"const {b.type} c2 = {b.at(j)};\nif (c2 == last2 && run2 < 255) run2++;\nelse {{\n"
                f"{out}[(size_t){i} * {size} * 2 + to2++] = last2;\n"
                f"{out}[(size_t){i} * {size} * 2 + to2++] = ({b.type})run2;\nlast2 = c2;\nrun2 = 1;\n}}"
            ),
            "",
        ),
        "bits": (
            f"uint map2 = 0;\n{b.type} last2 = {b.at('0')};",
            f"map2 = (map2 << 1) | ({b.at(j)} != last2);\nlast2 = {b.at(j)};",
            f"{out}[{i}] = map2;",
        ),
        "size": (
            f"int cost2 = 2, run2 = 1;\n{b.type} last2 = {b.at('0')};",
            f"if ({same}) {{ run2++; }}\nelse {{ cost2 += run2 > 127 ? 3 : 2; run2 = 1; last2 = {b.at(j)}; }}",
            f"{out}[{i}] = cost2;",
        ),
        "skip": (
            f"int runs = 0;\n{b.type} last2 = {b.at('0')};",
            f"if ({same}) continue;\nruns++;\nlast2 = {b.at(j)};",
            f"{out}[{i}] = runs;",
        ),
    }
    kind = draw.choose(tuple(kinds), "what")
    start, step, end = kinds[kind]
    loop = (
        b.hand.loop(j, "1", size, step)
        if kind == "skip" or draw.chance(0.6)
        else f"int {j} = 1;\nwhile ({j} < {size}) {{\n{step}\n{j}++;\n}}"
    )
    out_type = b.type if kind == "encode" else draw.choose(("int", "uint"))
    target = (
        Buffer(out, out_type, lambda s: (s.bound + 1) * s.of(size) * 2 + 2, None, True)
        if kind == "encode"
        else Buffer(out, out_type, lambda s: s.bound, None, True)
    )
    fill = draw.choose(
        (Fill("randint", (0, 2)), Fill("clustered", (0, 8, 1)), Fill("randint", (0, 8)), Fill("sorted", (0, 250)))
    )
    return b.finished(("runs", kind), f"{start}\n{loop}\n{end}", fill, [target], 6)


@family("delta_codes", group="bits")
def delta_codes(draw: Draw) -> Draft:
    """Differences of neighbours, zigzag, sums back, variable-length integers and their sizes."""
    b = Block(draw, ("int", "uint", "short", "uchar"))
    size, j, i, out = b.length, b.j, b.i, b.out
    at_out = b.symbol.replace(b.x, out).replace("block[", "to_block[")
    head = b.head.replace(f"const {b.type} *block = {b.x}", f"int *to_block = {out}") if b.head else ""
    put = at_out.format(j)
    zig = draw.choose(("(d2 << 1) ^ (d2 >> 31)", "d2 < 0 ? -2 * d2 - 1 : 2 * d2"))
    kinds = {
        "delta": ("int last2 = 0;", f"const int c2 = {b.at(j)};\n{put} = c2 - last2;\nlast2 = c2;", ""),
        "zigzag": (
            "int last2 = 0;",
            f"const int c2 = {b.at(j)};\nconst int d2 = c2 - last2;\n{put} = {zig};\nlast2 = c2;",
            "",
        ),
        "undo": ("int sum2 = 0;", f"sum2 += {b.at(j)};\n{put} = sum2;", ""),
        "second_order": (
            "int last2 = 0, before2 = 0;",
            f"const int c2 = {b.at(j)};\n{put} = c2 - 2 * last2 + before2;\nbefore2 = last2;\nlast2 = c2;",
            "",
        ),
        "bits_needed": (
            "int last2 = 0;\nuint all2 = 0;",
            f"const int c2 = {b.at(j)};\nall2 |= abs(c2 - last2);\nlast2 = c2;",
            f"{out}[{i}] = 32 - clz(all2);",
        ),
        "frame": (
            f"int low2 = {b.at('0')};",
            f"low2 = min(low2, (int){b.at(j)});",
            b.hand.loop("k2", "0", size, f"{at_out.format('k2')} = {b.at('k2')} - low2;"),
        ),
        "xor": ("int last2 = 0;", f"const int c2 = {b.at(j)};\n{put} = c2 ^ last2;\nlast2 = c2;", ""),
        "varint_size": (
            "int bytes2 = 0;",
            f"uint w2 = {b.at(j)};\ndo {{ bytes2++; w2 >>= 7; }} while (w2);",
            f"{out}[{i}] = bytes2;",
        ),
    }
    kind = draw.choose(tuple(kinds), "what")
    start, step, end = kinds[kind]
    rows = kind not in {"bits_needed", "varint_size"}
    body = (head if rows else "") + f"{start}\n{b.hand.loop(j, '0', size, step)}\n{end}"
    target = b.rows(out, "int") if rows else Buffer(out, "int", lambda s: s.bound, None, True)
    top = 250 if b.type == "uchar" else 30000
    fill = draw.choose((Fill("randint", (0, top)), Fill("sorted", (0, top)), Fill("clustered", (0, top, 8))))
    return b.finished(("delta", kind), body, fill, [target], 6)


@family("prefix_codes", group="bits")
def prefix_codes(draw: Draw) -> Draft:
    """Codes of varying length read from words bit by bit: unary, Golomb, Elias, by a tree or by a table."""
    b = Block(draw, ("uint", "uint", "ulong"), 256)
    size, j, i, out, table = b.length, b.j, b.i, b.out, b.hand.name("table")
    width = 32 if b.type == "uint" else 64
    k = draw.choose((1, 2, 3, 4))
    depth = draw.choose((4, 8, 10))
    outer = f"{b.type} w2 = {b.at(j)};\nint left2 = {width};"
    kinds = {
        "unary": (
            "int q2 = 0;\nwhile (left2 > 0 && (w2 & 1)) { q2++; w2 >>= 1; left2--; }\nw2 >>= 1;\nleft2--;\nsum2 += q2;"
        ),
        "golomb": (
            f"int q2 = 0;\nwhile (left2 > {k} && (w2 & 1)) {{ q2++; w2 >>= 1; left2--; }}\nw2 >>= 1;\n"
            f"sum2 += (q2 << {k}) | (int)(w2 & {(1 << k) - 1});\nw2 >>= {k};\nleft2 -= {k + 1};"
        ),
        "elias": (
            "int z2 = 0;\nwhile (left2 > 1 && !(w2 & 1)) { z2++; w2 >>= 1; left2--; }\n"
            "z2 = min(z2, left2 - 1);\nsum2 += (int)(w2 & ((1u << (z2 & 31)) - 1));\n"
            "w2 = z2 < 31 ? w2 >> (z2 + 1) : 0;\nleft2 -= z2 + 1;"
        ),
        "tree": (
            f"int n2 = 0, d2 = 0;\nwhile (left2 > 0 && d2 < {depth} && {table}[n2] > 3) {{\n"
            f"n2 = 2 * n2 + 1 + (int)(w2 & 1);\nw2 >>= 1;\nleft2--;\nd2++;\n}}\nsum2 += {table}[n2];\n"
            "w2 >>= 1;\nleft2--;"
        ),
        "table": (
            f"const int e2 = {table}[(int)(w2 & {(1 << depth) - 1})];\nsum2 += e2 >> 2;\n"
            "w2 >>= (e2 & 3) + 1;\nleft2 -= (e2 & 3) + 1;"
        ),
        "nibbles": (
            "const int n2 = (int)(w2 & 15);\nsum2 += n2 & 7;\nw2 >>= 4;\nleft2 -= 4;\nif (!(n2 & 8)) sum2 <<= 1;"
        ),
    }
    kind = draw.choose(tuple(kinds), "code")
    test = draw.choose(("left2 > 0", "left2 > 0 && w2 != 0"))
    inner = f"{outer}\nwhile ({test}) {{\n{kinds[kind]}\n}}"
    body = f"int sum2 = 0;\n{b.hand.loop(j, '0', size, inner)}\n{out}[{i}] = sum2;"
    if kind in {"tree", "table"}:
        b.parameters.append(
            Buffer(table, "int", just(2 << depth), Fill("randint", (0, 16)), is_constant=draw.chance(0.4))
        )
    return b.finished(
        ("decode", kind), body, Fill("randint", (0, 1 << 30)), [Buffer(out, "int", lambda s: s.bound, None, True)], 80
    )


@family("bit_plane_blocks", group="bits")
def bit_plane_blocks(draw: Draw) -> Draft:
    """Blocks of numbers quantised, their bits regrouped or counted plane by plane, as compressors do."""
    b = Block(draw, ("int", "uint", "ushort", "float"), 256)
    size, j, i, out = b.length, b.j, b.i, b.out
    planes = draw.choose((4, 8, 12, 16), "planes")
    raw = b.at(j)
    scale = draw.choose((64, 256, 1000))
    number = f"(uint)({raw} * {scale}.0f)" if b.type == "float" else f"(uint){raw}"
    twist = draw.choose(("u2", "u2 ^ (u2 >> 1)", "(u2 << 1) ^ (u2 >> 15)", "u2 - (u2 >> 2)"), "mapping")
    kinds = {
        "count_planes": (
            f"int ones2[{planes}];\nfor (int k2 = 0; k2 < {planes}; k2++) ones2[k2] = 0;",
            f"for (int k2 = 0; k2 < {planes}; k2++) ones2[k2] += (m2 >> k2) & 1;",
            (
                f"int sum2 = 0;\nfor (int k2 = 0; k2 < {planes}; k2++) sum2 += min(ones2[k2], {size} - "
                f"ones2[k2]);\n{out}[{i}] = sum2;"
            ),
            planes * 3,
        ),
        "words": (
            f"uint w2[{planes}];\nfor (int k2 = 0; k2 < {planes}; k2++) w2[k2] = 0;",
            f"for (int k2 = 0; k2 < {planes}; k2++) w2[k2] = (w2[k2] << 1) | ((m2 >> k2) & 1);",
            f"for (int k2 = 0; k2 < {planes}; k2++) {out}[{i} * {planes} + k2] = w2[k2];",
            planes * 3,
        ),
        "widest": ("uint all2 = 0;", "all2 |= m2;", f"{out}[{i}] = 32 - clz(all2);", 2),
        "cost": ("int sum2 = 0;", "sum2 += 32 - clz(m2 | 1u);", f"{out}[{i}] = sum2;", 3),
        "significance": (
            "int sum2 = 0;\nuint seen2 = 0;",
            (
                f"for (int k2 = {planes - 1}; k2 >= 0; k2--) {{\nif ((m2 >> k2) & 1) {{\nsum2 += k2;\n"
                "break;\n}\n}\nseen2 ^= m2;"
            ),
            f"{out}[{i}] = sum2 + (seen2 & 1);",
            planes,
        ),
        "parity": ("uint p2 = 0;", "p2 = (p2 << 1) ^ (popcount(m2) & 1u);", f"{out}[{i}] = p2;", 3),
    }
    kind = draw.choose(tuple(kinds), "what")
    start, step, end, dear = kinds[kind]
    read = f"const uint u2 = {number};\nconst uint m2 = {twist};"
    body = f"{start}\n{b.hand.loop(j, '0', size, f'{read}{chr(10)}{step}')}\n{end}"
    fill = draw.choose(
        (Fill("randint", (0, 1 << 14)), Fill("skewed", (0, 1 << 14)), Fill("clustered", (0, 1 << 14, 16)))
    )
    if b.type == "float":
        fill = Fill("uniform", (0.0, 4.0))
    target = Buffer(
        out, draw.choose(("int", "uint")), times(planes) if kind == "words" else lambda s: s.bound, None, True
    )
    return b.finished(("planes", kind), body, fill, [target], 4.0 + dear)
