"""Bits and digits put together and taken apart: packed fields and decimal digits."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.arrays import Array, Elements, line_draft
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.literals import BITS, literal

WIDTHS = ((8,) * 4, (5, 6, 5), (10, 10, 10, 2), (4,) * 8, (1, 7, 8), (11, 11, 10), (3, 5, 8), (12, 12), (2,) * 8)
DIGIT_FORMS = (
    *("to_text", "from_text", "to_packed", "from_packed", "sum"),
    *("reverse", "palindrome", "dabble", "check", "count"),
)


@family("packed_fields", group="integers")
def packed_fields(draw: Draw) -> Draft:
    """Several small numbers in one word: packed, unpacked, changed in place, by shifts, casts or structures' bytes."""
    habits = hand(draw)
    word = draw.choose(("uint", "uint", "ulong", "ushort"), "word")
    bits = BITS[word[1:]]
    widths = draw.choose([w for w in WIDTHS if sum(w) <= bits], "widths")
    way = draw.choose(("pack", "unpack", "change", "repack", "bytes"), "way")
    element = draw.choose(("uchar", "ushort", "int", "float"), "element")
    count = len(widths)
    shifts = [sum(widths[:k]) for k in range(count)]
    scale = "" if element != "float" else " * 7.0f"
    lines: list[str] = []
    arrays: list[Array] = []
    layout = draw.choose(("together", "apart"), "layout")

    def part(k: int) -> str:
        return f"parts[i * {count} + {k}]" if layout == "together" else f"part{k}[i]"

    def field(k: int, source: str = "w") -> str:
        mask = (1 << widths[k]) - 1
        if draw.chance(0.2):
            return f"({source} / {1 << shifts[k]}) % {mask + 1}"
        return f"({source} >> {shifts[k]}) & 0x{mask:x}" if shifts[k] else f"{source} & 0x{mask:x}"

    is_read = way == "pack"
    if way in ("pack", "unpack"):
        kinds = [Array("parts", element, not is_read, per=count)] if layout == "together" else []
        kinds = kinds or [Array(f"part{k}", element, not is_read) for k in range(count)]
        arrays += kinds
    match way:
        case "pack":
            style = draw.choose(("one", "steps", "masked"), "style")
            terms = [f"(({word})({part(k)}{scale}) & 0x{(1 << widths[k]) - 1:x})" for k in range(count)]
            if style == "masked":
                terms = [f"(({word})min((int)({part(k)}{scale}), {(1 << widths[k]) - 1}))" for k in range(count)]
            if style == "steps":
                lines.append(f"{word} w = 0;")
                lines += [
                    f"w {draw.choose(('|=', '+=', '^='))} {t} << {s};" for t, s in zip(terms, shifts, strict=True)
                ]
            else:
                lines.append(f"{word} w = {' | '.join(f'({t} << {s})' for t, s in zip(terms, shifts, strict=True))};")
            lines.append("words[i] = w;")
        case "unpack":
            lines.append(f"const {word} w = words[i];")
            finish = draw.choose(("", " + 1", "signed", "scaled"), "finish")
            for k in range(count):
                value = field(k)
                if finish == "signed":
                    value = f"((int)({value}) ^ {1 << (widths[k] - 1)}) - {1 << (widths[k] - 1)}"
                elif finish == "scaled":
                    value = f"({value}) * {literal('float', 1 / ((1 << widths[k]) - 1))}"
                elif finish:
                    value = f"({value}){finish}"
                lines.append(f"{part(k)} = ({element})({value});")
        case "change":
            lines.append(f"{word} w = words[i];")
            for k in draw.sample(range(count), draw.integer(1, min(3, count))):
                mask = ((1 << widths[k]) - 1) << shifts[k]
                new = expression(draw, ["w"], word, 2)
                hexed = f"({word})0x{mask:x}{'UL' if word == 'ulong' else 'u'}"
                lines.append(f"w = (w & ~{hexed}) | ((({word}){new} << {shifts[k]}) & {hexed});")
            lines.append("words[i] = w;")
        case "repack":
            order = draw.shuffled(range(count))
            lines.append(f"const {word} w = words[i];\n{word} r = 0;")
            place = 0
            for k in order:
                lines.append(f"r |= ({word})({field(k)}) << {place};")
                place += widths[k]
            lines.append("other[i] = r;")
            arrays.append(Array("other", word, True))
        case _:
            lanes = bits // 8
            view = draw.choose(("as", "shifts"))
            lines.append(f"const {word} w = words[i];")
            if view == "as":
                lines.append(
                    f"uchar{lanes} b = as_uchar{lanes}(w);\nb = {expression(draw, ['b'], f'uchar{lanes}', 2)};"
                )
                swap = "".join(f"{k:x}" for k in draw.shuffled(range(lanes)))
                lines.append(f"other[i] = as_{word}(b.s{swap});")
            else:
                terms = [f"((w >> {8 * k} & 0xff) << {bits - 8 - 8 * k})" for k in range(lanes)]
                lines.append(f"other[i] = {' | '.join(terms)};")
            arrays.append(Array("other", word, True))
    arrays.append(Array("words", word, way in ("pack", "change"), fill=("randint", 0, min(1 << 30, 1 << bits))))
    return line_draft(draw, habits, Elements(f"{way}_fields", arrays, "\n".join(lines)))


@family("decimal_digits", group="integers")
def decimal_digits(draw: Draw) -> Draft:
    """Numbers to digits and back: packed decimal, text, digit sums, reversed, other bases."""
    habits = hand(draw)
    type_ = draw.choose(("uint", "uint", "int", "ulong"), "type")
    digits = draw.choose((2, 4, 5, 8, 10), "digits")
    base = draw.weighted({10: 5.0, 8: 0.7, 16: 1.0, 36: 0.7, 60: 0.5}, "base")
    form = draw.choose(DIGIT_FORMS, "form")
    loops = draw.choose(("for", "while", "unrolled"), "loops")
    by = literal(type_, base)

    def repeated(body: str, count: int = digits) -> str:
        if loops == "unrolled":
            return "\n".join("{\n" + body.replace("@", str(k)) + "\n}" for k in range(count))
        text = body.replace("@", "k")
        if loops == "while":
            return f"int k = 0;\nwhile (k < {count}) {{\n{text}\nk++;\n}}"
        return f"for (int k = 0; k < {count}; k++) {{\n{text}\n}}"

    fill = ("randint", 0, min(base**digits, 1 << 31))
    number, text_in = Array("numbers", type_, fill=fill), Array("text", "uchar", per=digits, fill=("randint", 48, 58))
    out = Array("out", type_, True)
    lines = [f"{type_} v = numbers[i];"]
    arrays = [number, out]
    match form:
        case "to_text":
            letter = f"{draw.choose(('48', chr(39) + '0' + chr(39)))} + d"
            letter = letter if base <= 10 else "(d < 10 ? 48 + d : 87 + d)"
            place = f"i * {digits} + {digits - 1} - @"
            lines.append(repeated(f"const {type_} d = v % {by};\nv /= {by};\ntext[{place}] = (uchar)({letter});"))
            arrays = [number, Array("text", "uchar", True, per=digits)]
        case "from_text":
            lines = [f"{type_} v = 0;", repeated(f"v = v * {by} + (text[i * {digits} + @] - 48);"), "out[i] = v;"]
            arrays = [text_in, out]
        case "to_packed":
            lines += [
                f"{type_} r = 0;",
                repeated(f"r |= (v % {by} & 15) << (4 * @);\nv /= {by};", min(digits, 8)),
                "out[i] = r;",
            ]
        case "from_packed":
            lines += [
                f"{type_} r = 0, p = 1;",
                repeated(f"r += (v >> (4 * @) & 15) * p;\np *= {by};", min(digits, 8)),
                "out[i] = r;",
            ]
        case "sum":
            lines += [f"{type_} s = 0;", repeated(f"s += v % {by};\nv /= {by};"), "out[i] = s;"]
        case "reverse":
            lines += [f"{type_} r = 0;", repeated(f"r = r * {by} + v % {by};\nv /= {by};"), "out[i] = r;"]
        case "palindrome":
            lines += [f"{type_} r = 0, t = v;", f"while (t > 0) {{\nr = r * {by} + t % {by};\nt /= {by};\n}}"]
            lines.append(f"out[i] = {draw.choose(('r == v', 'r == v ? v : 0', 'r - v'))};")
        case "dabble":
            step = "for (int j = 0; j < 32; j += 4) {\nif ((r >> j & 15) > 4) r += 3u << j;\n}"
            lines = ["uint v = (uint)numbers[i] & 0xffff, r = 0;"]
            lines.append(f"for (int b = 15; b >= 0; b--) {{\n{step}\nr = (r << 1) | (v >> b & 1);\n}}\nout[i] = r;")
        case "check":
            doubled = (
                "int d = text[i * {n} + @] - 48;\nif (((@) & 1) == 0) {{\nd *= 2;\nif (d > 9) d -= 9;\n}}\ns += d;"
            )
            lines = ["int s = 0;", repeated(doubled.format(n=digits)), f"out[i] = s % {draw.choose((10, 11, 97))};"]
            arrays = [text_in, out]
        case _:
            tests = [f"v >= {base**k}" for k in range(1, digits) if base**k < 1 << 31]
            flat = " + ".join(f"({t})" for t in tests) or "0"
            loop = f"int c = 1;\nwhile (v >= {by}) {{\nv /= {by};\nc++;\n}}\nout[i] = c;"
            lines.append(draw.choose((f"out[i] = 1 + {flat};", loop)))
    each = {"dabble": 600.0, "count": 20.0}.get(form, 9.0 * digits)
    return line_draft(draw, habits, Elements(f"digits_{form}", arrays, "\n".join(lines), (), lambda _: each))
