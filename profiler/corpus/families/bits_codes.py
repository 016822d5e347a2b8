"""Codes over bits: Morton order, bit slices, packing at odd widths, prefix codes, checks, deltas, numbers in text."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.composing.coverage import draw_coverage
from profiler.corpus.composing.drafting import Buffer, Parameter, Parts, Scalar, drafted, each, flat, just, times
from profiler.corpus.composing.hand import Hand
from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, family

WORDS = Fill("randint", (0, 1 << 30))


@family("morton_codes", group="bits")
def morton_codes(draw: Draw) -> Draft:
    """Coordinates' bits woven into one number, and back."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    dimensions = draw.choose((2, 3), "dimensions")
    cover = draw_coverage(draw, hand)
    x, out, i = hand.name("input"), hand.name("output"), cover.index
    masks = {
        2: (("8", "0x00ff00ff"), ("4", "0x0f0f0f0f"), ("2", "0x33333333"), ("1", "0x55555555")),
        3: (("16", "0x030000ff"), ("8", "0x0300f00f"), ("4", "0x030c30c3"), ("2", "0x09249249")),
    }[dimensions]
    join = draw.choose(("|", "^"))
    way = draw.choose(("masks", "loop", "multiply"), "spreading")
    if way == "loop":
        bits = 16 if dimensions == 2 else 10
        spread = f"uint r = 0;\nfor (int b = 0; b < {bits}; b++) r |= ((v >> b) & 1u) << ({dimensions} * b);\nreturn r;"
    elif way == "multiply" and dimensions == 3:
        spread = (
            "v = (v * 0x00010001u) & 0xFF0000FFu;\nv = (v * 0x00000101u) & 0x0F00F00Fu;\n"
            "v = (v * 0x00000011u) & 0xC30C30C3u;\nreturn (v * 5u) & 0x49249249u;"
        )
    else:
        spread = "\n".join(f"v = (v {join} (v << {s})) & {m}u;" for s, m in masks) + "\nreturn v;"
    gather = "\n".join(
        [f"v &= {masks[-1][1]}u;"]
        + [
            f"v = (v {join} (v >> {s})) & {m}u;"
            for (s, _), (_, m) in zip(reversed(masks), [*list(reversed(masks))[1:], ("0", "0xffff")], strict=True)
        ]
    )
    helper = f"{hand.inline}uint spread(uint v)\n{{\nv &= {'0xffff' if dimensions == 2 else '0x3ff'}u;\n{spread}\n}}"
    axes = "xyz"[:dimensions]
    source = draw.choose(("floats", "integers", "index", "separate", "decode"), "source")
    parameters: list[Parameter] = []
    kind = f"float{2 if dimensions == 2 else 4}"
    if source == "floats":
        grid = hand.constant("grid", draw.choose(("64.0f", "256.0f", "500.0f")))
        parameters.append(Buffer(x, kind, each))
        read = f"{kind} p = {x}[{i}];\n" + "\n".join(f"uint c{a} = (uint)(p.{a} * {grid});" for a in axes)
    elif source == "integers":
        parameters.append(Buffer(x, f"uint{2 if dimensions == 2 else 4}", each, Fill("randint", (0, 1024))))
        read = "\n".join(f"uint c{a} = {x}[{i}].{a};" for a in axes)
    elif source == "separate":
        words = [draw.choose(("int", "ushort")) for _ in axes]
        parameters += [
            Buffer(hand.name(f"p{a}"), w, each, Fill("randint", (0, 1024))) for a, w in zip(axes, words, strict=True)
        ]
        read = "\n".join(f"uint c{a} = {hand.name(f'p{a}')}[{i}];" for a in axes)
    else:
        read = f"uint cx = (uint){i} & 1023u;\nuint cy = ((uint){i} >> 10) & 1023u;"
        read += f"\nuint cz = (uint){i} >> 20;" if dimensions == 3 else ""
    code = " | ".join(f"(spread(c{a}) << {k})" if k else f"spread(c{a})" for k, a in enumerate(axes))
    if source == "decode":
        parameters.append(Buffer(x, "uint", each, WORDS))
        helper = f"{hand.inline}uint gather(uint v)\n{{\n{gather}\nreturn v;\n}}"
        read, code = (
            f"uint m = {x}[{i}];",
            " + ".join(f"gather(m >> {k})" if k else "gather(m)" for k, _ in enumerate(axes)),
        )
    sink = draw.choose(("store", "pair", "cell"), "result")
    if sink == "cell":
        shift = draw.choose((0, 3, 6, 9))
        parameters.append(Buffer(out, "int", just(1 << 12), Fill("zeros"), True))
        end = f"atomic_inc({out} + (({code}) >> {shift} & 4095u));"
    else:
        type_ = "uint" if sink == "store" else "uint2"
        parameters.append(Buffer(out, type_, each, None, True))
        end = f"{out}[{i}] = {code};" if sink == "store" else f"{out}[{i}] = (uint2)({code}, (uint){i});"
    return drafted(draw, hand, Parts(("morton", source), cover, parameters, f"{read}\n{end}", flat(40), helpers=helper))


@family("bit_slices", group="bits")
def bit_slices(draw: Draw) -> Draft:
    """Bits of neighbouring words gathered into planes, spread out again, transposed in blocks, or packed as flags."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    cover = draw_coverage(draw, hand)
    x, out, i, j = (hand.name(n) for n in ("input", "output", "index", "loop"))
    count = draw.choose((8, 16, 32), "width")
    type_ = draw.choose({8: ("uchar", "uint"), 16: ("ushort", "uint"), 32: ("uint", "int")}[count], "type")
    word = {8: "uchar", 16: "ushort", 32: "uint"}[count]
    kind = draw.choose(
        ("pack_flags", "pack_compare", "unpack", "plane", "transpose", "planes_of_one", "majority"), "what"
    )
    unroll = draw.choose((0, 0, 1, count))
    first = draw.choose((f"{x}[{i} * {count} + {j}]", f"{x}[(size_t){i} * {count} + {j}]"))
    level = draw.integer(1, 12)
    inputs, outputs, in_type, out_type = count, 1, type_, word
    if kind == "pack_flags":
        core = (
            f"{word} r = 0;\n"
            + hand.loop(j, "0", str(count), f"r |= ({word})(({first} & 1) << {j});", unroll=unroll)
            + f"\n{out}[{i}] = r;"
        )
    elif kind == "pack_compare":
        in_type = draw.choose(("float", "int", "uchar"))
        test = f"{first} > {'1.1f' if in_type == 'float' else level}"
        act = draw.choose((f"if ({test}) r |= ({word})(1u << {j});", f"r = ({word})((r << 1) | ({test} ? 1 : 0));"))
        core = f"{word} r = 0;\n" + hand.loop(j, "0", str(count), act, unroll=unroll) + f"\n{out}[{i}] = r;"
    elif kind == "unpack":
        inputs, outputs, in_type, out_type = 1, count, word, draw.choose(("uchar", "int", "float"))
        core = f"{word} v = {x}[{i}];\n" + hand.loop(
            j, "0", str(count), f"{out}[{i} * {count} + {j}] = (v >> {j}) & 1;", unroll=unroll
        )
    elif kind == "plane":
        plane = draw.integer(0, 7)
        core = (
            f"{word} r = 0;\n"
            + hand.loop(j, "0", str(count), f"r |= ({word})((({first} >> {plane}) & 1) << {j});", unroll=unroll)
            + f"\n{out}[{i}] = r;"
        )
    elif kind == "transpose":
        outputs = count
        core = f"for (int b = 0; b < {count}; b++) {{\n{word} r = 0;\n" + hand.loop(
            j, "0", str(count), f"r |= ({word})((({first} >> b) & 1) << {j});", unroll=unroll
        )
        core += f"\n{out}[{i} * {count} + b] = r;\n}}"
    elif kind == "planes_of_one":
        planes = draw.choose((2, 3, 4))
        outputs = planes
        stores = "\n".join(f"{out}[{i} * {planes} + {p}] = p{p};" for p in range(planes))
        act = "\n".join(f"p{p} |= ({word})(((t >> {p}) & 1u) << {j});" for p in range(planes))
        core = "\n".join(f"{word} p{p} = 0;" for p in range(planes)) + "\n"
        core += hand.loop(j, "0", str(count), f"const uint t = {first};\n{act}", unroll=unroll) + f"\n{stores}"
    else:
        core = f"int votes = 0;\n{word} r = 0;\nfor (int b = 0; b < 8; b++) {{\nvotes = 0;\n"
        core += hand.loop(j, "0", str(count), f"votes += ({first} >> b) & 1;", unroll=unroll)
        core += f"\nif (votes > {count // 2}) r |= ({word})(1 << b);\n}}\n{out}[{i}] = r;"
    squared = kind in {"transpose", "majority"}
    parameters: list[Parameter] = [
        Buffer(x, in_type, times(inputs), None if in_type == "float" else Fill("randint", (0, 128))),
        Buffer(out, out_type, times(outputs), None, True),
    ]
    work = flat(4.0 * count * (count if squared else 2))
    parts = Parts(("bits", kind), cover, parameters, core, work, data_per_element=lambda _: float(count))
    return drafted(draw, hand, parts)


@family("odd_width_packing", group="bits")
def odd_width_packing(draw: Draw) -> Draft:
    """Numbers of 3 to 27 bits in a stream of words: read out, or put in."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    width = draw.choose((3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 17, 20, 27), "bits")
    cover = draw_coverage(draw, hand)
    x, out, i, j = (hand.name(n) for n in ("input", "output", "index", "loop"))
    bits = hand.constant("bits", str(width))
    mask = draw.choose((f"((1u << {bits}) - 1u)", hex((1 << width) - 1)))
    kind = draw.choose(("unpack", "unpack", "unpack_wide", "pack", "unpack_bytes", "unpack_scaled"), "what")
    parameters: list[Parameter] = []
    read = (
        f"const ulong first_bit = (ulong){i} * {bits};\n"
        "const uint word = (uint)(first_bit >> 5), shift = (uint)(first_bit & 31);\n"
    )
    ends = {
        "branch": f"uint v = {x}[word] >> shift;\nif (shift + {bits} > 32) v |= {x}[word + 1] << (32 - shift);",
        "wide": f"ulong both = (ulong){x}[word] | ((ulong){x}[word + 1] << 32);\nuint v = (uint)(both >> shift);",
        "ternary": f"uint v = ({x}[word] >> shift) | (shift + {bits} > 32 ? {x}[word + 1] << (32 - shift) : 0u);",
    }
    form = draw.choose(tuple(ends), "straddling")
    stream = Buffer(x, "uint", lambda s: s.bound * width // 32 + 2, WORDS)
    per = 1
    if kind in {"unpack", "unpack_wide"}:
        sign = draw.choose(("", f"int w = (int)(v << {32 - width}) >> {32 - width};\n"), "sign")
        parameters = [stream, Buffer(out, "int" if sign else draw.choose(("uint", "int")), each, None, True)]
        body = f"{read}{ends[form]}\nv &= {mask};\n{sign}{out}[{i}] = {'w' if sign else 'v'};"
    elif kind == "unpack_scaled":
        parameters = [
            stream,
            Buffer(out, "float", each, None, True),
            Scalar("scale", "float", lambda d: round(d.log_real(0.001, 1), 4)),
        ]
        parameters.append(Scalar("offset2", "float", lambda d: round(d.real(-1, 1), 3)))
        body = f"{read}{ends[form]}\n{out}[{i}] = {hand.add_product(f'(float)(v & {mask})', 'scale', 'offset2')};"
    elif kind == "unpack_bytes":
        parameters = [
            Buffer(x, "uchar", lambda s: s.bound * width // 8 + 6, Fill("randint", (0, 256))),
            Buffer(out, "uint", each, None, True),
        ]
        take = f"for (int {j} = 0; {j} < {(width + 14) // 8}; {j}++) v |= (ulong){x}[byte + {j}] << (8 * {j});"
        body = (
            f"const ulong first_bit = (ulong){i} * {bits};\nconst size_t byte = first_bit >> 3;\n"
            f"ulong v = 0;\n{take}\n{out}[{i}] = (uint)(v >> (first_bit & 7)) & {mask};"
        )
    else:
        per = draw.choose((8, 16, 32))
        words = -(-per * width // 32)
        parameters = [
            Buffer(x, "uint", times(per), Fill("randint", (0, 1 << width))),
            Buffer(out, "uint", times(words), None, True),
        ]
        body = (
            f"ulong held = 0;\nint have = 0, at2 = 0;\nfor (int {j} = 0; {j} < {per}; {j}++) {{\n"
            f"held |= (ulong)({x}[{i} * {per} + {j}] & {mask}) << have;\nhave += {bits};\nif (have >= 32) {{\n"
            f"{out}[{i} * {words} + at2] = (uint)held;\nat2++;\nheld >>= 32;\nhave -= 32;\n}}\n}}\n"
            f"if (have > 0) {out}[{i} * {words} + at2] = (uint)held;"
        )
    work = flat(12.0 * per)
    parts = Parts((kind, f"{width}bit"), cover, parameters, body, work, data_per_element=lambda _: float(per))
    return drafted(draw, hand, parts)


@family("cyclic_checks", group="bits")
def cyclic_checks(draw: Draw) -> Draft:
    """Check sums of blocks of bytes: CRCs by bits or by a table, Adler, Fletcher and simple ones."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    cover = draw_coverage(draw, hand)
    x, out, block, i, j = (hand.name(n) for n in ("input", "output", "block bytes", "index", "loop"))
    table = hand.name("table")
    width = draw.choose((8, 16, 32), "bits")
    type_ = {8: "uchar", 16: "ushort", 32: "uint"}[width]
    polynomial = {8: "0x8c", 16: "0xa001", 32: "0xedb88320u"}[width]
    kind = draw.choose(
        ("bitwise", "bitwise", "table", "table", "nibbles", "adler", "fletcher", "xor", "rotating", "multiply"), "kind"
    )
    reading = draw.choose(("bytes", "bytes", "words"), "reading")
    layout = draw.choose(("rows", "rows", "columns"), "layout") if cover.count else "rows"
    at = f"(size_t){i} * {block} + {j}" if layout == "rows" else f"(size_t){j} * {cover.count} + {i}"
    bits = draw.choose((f"c = (c & 1) ? ({type_})((c >> 1) ^ {polynomial}) : ({type_})(c >> 1);",
                        f"c = ({type_})((c >> 1) ^ ({polynomial} & (uint)(-(int)(c & 1))));"))  # fmt: skip
    steps = {
        "bitwise": f"c ^= b;\nfor (int k2 = 0; k2 < 8; k2++) {bits}",
        "table": f"c = ({type_})({table}[(c ^ b) & 0xff] ^ (c >> {min(8, width - 1)}));",
        "nibbles": (
            f"c = ({type_})({table}[(c ^ b) & 0xf] ^ (c >> 4));\n"
            f"c = ({type_})({table}[(c ^ (b >> 4)) & 0xf] ^ (c >> 4));"
        ),
        "adler": "low = (low + b) % 65521u;\nhigh = (high + low) % 65521u;",
        "fletcher": "low += b;\nhigh += low;",
        "xor": f"c ^= ({type_})(b << ({j} & 3));",
        "rotating": f"c = ({type_})((c << 3) | (c >> {width - 3}));\nc += b;",
        "multiply": f"c = ({type_})((c ^ b) * 16777619u);",
    }
    begin = f"{type_} c = ({type_})~0u;" if kind not in {"adler", "fletcher"} else "uint low = 1, high = 0;"
    value = (
        "c"
        if kind not in {"adler", "fletcher"}
        else draw.choose(("(high << 16) | low", "((high % 65535u) << 16) | (low % 65535u)"))
    )
    finish = f"({type_})~c" if value == "c" and draw.chance(0.5) else value
    if reading == "words":
        inner = (
            f"uint w = {x}[{at}];\nfor (int q2 = 0; q2 < 4; q2++) {{\n"
            f"const uint b = (w >> (8 * q2)) & 0xffu;\n{steps[kind]}\n}}"
        )
    else:
        inner = f"const uint b = {x}[{at}];\n{steps[kind]}"
    body = f"{begin}\n{hand.loop(j, '0', block, inner)}\n{out}[{i}] = {finish};"
    word = "uint" if reading == "words" else "uchar"
    parameters: list[Parameter] = [
        Buffer(x, word, lambda s: (s.bound + 1) * s.of(block), Fill("randint", (0, 256))),
        Buffer(out, "uint" if value != "c" else type_, each, None, True),
        Scalar(block, "int", lambda d: d.log_integer(4, 2048)),
    ]
    if kind in {"table", "nibbles"}:
        length = 256 if kind == "table" else 16
        parameters.append(
            Buffer(table, type_, just(length), Fill("randint", (0, 1 << min(width, 30))), is_constant=draw.chance(0.5))
        )
    dear = (40.0 if kind == "bitwise" else 8.0) * (4 if reading == "words" else 1)
    return drafted(
        draw, hand,
        Parts(("checksum", kind), cover, parameters, body, lambda s: dear * s.of(block),
              data_per_element=lambda scalars: float(scalars[block])),
    )  # fmt: skip
