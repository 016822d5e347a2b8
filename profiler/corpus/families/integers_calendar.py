"""Integers with a meaning: dates and clocks, and sums that check blocks of data."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.arrays import Array, Elements, Value, Values, line_draft
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.literals import BITS
from profiler.corpus.writing.walk import walk


@family("calendar_arithmetic", group="integers")
def calendar_arithmetic(draw: Draw) -> Draft:
    """Days to dates and back, weekdays, leap years, hours and minutes out of seconds, differences and roundings."""
    habits = hand(draw)
    type_ = draw.choose(("int", "int", "uint", "long"), "type")
    form = draw.choose(
        ("date", "days", "weekday", "clock", "leap", "month_loop", "age", "rounded", "week", "easter"), "form"
    )
    early = draw.chance(0.4, "helper")
    packed = draw.choose(("packed", "apart"), "result")
    before = ""
    leap = draw.choose(
        ("(y % 4 == 0 && y % 100 != 0) || y % 400 == 0", "(y & 3) == 0 && (y % 25 != 0 || (y & 15) == 0)")
    )
    if early:
        before = f"static int is_leap({type_} y)\n{{\n    return {leap};\n}}\n"
        leap = "is_leap(y)"
    lines, results = [f"const {type_} t = when[i];"], ["r"]
    high = 40000
    match form:
        case "date":
            # Years that begin in March have the leap day at their end.
            lines += [f"{type_} z = t + 719468;", f"{type_} era = z / 146097, day = z - era * 146097;"]
            lines += [f"{type_} year = (day - day / 1460 + day / 36524 - day / 146096) / 365;"]
            lines += [f"{type_} left = day - (365 * year + year / 4 - year / 100), m = (5 * left + 2) / 153;"]
            results = ["year + era * 400 + (m > 9)", "m < 10 ? m + 3 : m - 9", "left - (153 * m + 2) / 5 + 1"]
        case "days":
            lines += [
                f"{type_} y = t / 372 + 1900, m = t / 31 % 12 + 1, d = t % 31 + 1;",
                "if (m < 3) {\ny -= 1;\nm += 12;\n}",
            ]
            results = ["365 * y + y / 4 - y / 100 + y / 400 + (153 * m - 457) / 5 + d - 306"]
        case "weekday":
            lines.append(f"{type_} d = (t + {draw.integer(1, 6)}) % 7;")
            results = [draw.choose(("d", "d == 0 || d == 6", "d < 5 ? t : t + 7 - d", "t - d"))]
        case "clock":
            high = 1 << 30
            lines.append(f"{type_} s = t % 60, m = t / 60 % 60, h = t / 3600 % 24;")
            results = ["h", "m", "s", *(["t / 86400"] if draw.chance(0.5) else [])]
            if draw.chance(0.3):
                results = [
                    draw.choose(("h * 10000 + m * 100 + s", "h >= 9 && h < 17 && m != 30", "(h + 12) % 24 * 60 + m"))
                ]
        case "leap":
            lines.append(f"{type_} y = t % 3000 + 1;")
            results = [draw.choose((f"({leap})", f"365 + ({leap})", f"({leap}) ? 29 : 28"))]
        case "month_loop":
            lines.append(f"{type_} left = t % 366, m = 0, y = t / 366 + 1970;\nconst int feb = 28 + ({leap});")
            length = "(m == 1 ? feb : 30 + ((m + (m < 7)) & 1))"
            lines.append(f"while (m < 11 && left >= {length}) {{\nleft -= {length};\nm++;\n}}")
            results = ["m + 1", "left + 1"]
        case "age":
            lines.append(f"{type_} born = t - t / 3, years = (t - born) * 100 / 36525;")
            results = [
                draw.choose(
                    ("years", "years >= 18", "years / 10", "years < 6 ? 0 : years < 18 ? 1 : years < 65 ? 2 : 3")
                )
            ]
        case "rounded":
            high = 1 << 30
            step = draw.choose((60, 300, 900, 3600, 86400))
            results = [
                draw.choose(
                    (
                        f"t / {step} * {step}",
                        f"(t + {step // 2}) / {step} * {step}",
                        f"t - t % {step}",
                        f"{step} - t % {step}",
                    )
                )
            ]
        case "week":
            lines.append(f"{type_} d = (t + 3) % 7, day = t - d + 3;")
            results = ["(day % 1461 / 7) % 53 + 1", "d + 1"]
        case _:
            lines += [f"{type_} y = t % 2000 + 1600, a = y % 19, b = y / 100, c = y % 100, d = b / 4, e = b % 4;"]
            lines += [f"{type_} g = (8 * b + 13) / 25, h = (19 * a + b - d - g + 15) % 30;"]
            lines += [f"{type_} j = (a + 11 * h) / 319, k = c / 4, m = c % 4;"]
            lines += [f"{type_} n4 = (2 * e + 2 * k - m - h + j + 32) % 7;"]
            results = ["(h - j + n4 + 90) / 25", "(h - j + n4 + 19) % 32"]
    values: list[Value] = []
    if draw.chance(0.25, "zone"):
        values.append(Value("zone", type_, lambda d: d.integer(0, 50000)))
        lines[0] = f"const {type_} t = when[i] + zone;"
    if draw.chance(0.25, "adjusted") and len(results) == 1:
        results = [expression(draw, [f"({type_})({results[0]})"], type_, 1)]
    arrays = [Array("when", type_, fill=("randint", 0, high))]
    if packed == "packed" and len(results) > 1:
        shifts = [f"(({type_})({r}) << {8 * k})" for k, r in enumerate(reversed(results))]
        lines.append(f"out[i] = {' | '.join(shifts)};")
        arrays.append(Array("out", type_, True))
    else:
        kinds = [draw.choose((type_, "uchar", "short")) if len(results) > 1 else type_ for _ in results]
        lines += [f"out{k}[i] = ({kind})({r});" for k, (kind, r) in enumerate(zip(kinds, results, strict=True))]
        arrays += [Array(f"out{k}", kind, True) for k, kind in enumerate(kinds)]
    each = 60.0 if form in ("date", "easter", "month_loop") else 20.0
    return line_draft(
        draw, habits, Elements(f"calendar_{form}", arrays, "\n".join(lines), values, lambda _: each, before)
    )


@family("checking_sums", group="integers")
def checking_sums(draw: Draw) -> Draft:
    """Each item runs over a block of bytes or words: remainders of polynomials, rolling sums, parities."""
    habits = hand(draw)
    element = draw.choose(("uchar", "uchar", "uint", "ushort"), "element")
    result = draw.choose(("uint", "uint", "ushort", "ulong"), "result")
    bits = BITS[result[1:]]
    width = BITS[element[1:]]
    form = draw.choose(("polynomial", "reflected", "table", "pair", "sum", "parity", "multiply", "nibbles"), "form")
    fixed = draw.choose((4, 16, 64, 256))
    length_form = draw.choose(("argument", "literal", "lengths"), "length")
    length = {"argument": "length", "literal": str(fixed), "lengths": "len"}[length_form]
    most = 256
    number = f"0x{draw.integer(1, (1 << min(bits, 32)) - 1) | 1:x}{'UL' if result == 'ulong' else 'u'}"
    start = draw.choose(("0", number, f"({result})~0"))
    lines = ["const int len = min((int)lens[i], 256);"] if length_form == "lengths" else []
    place = draw.choose(("i * {s} + k", "i + k * n"), "layout").format(s="256" if length_form != "literal" else fixed)
    lines.append(f"{result} c = {start};")
    low = "c = (c & 1) ? (c >> 1) ^ {p} : c >> 1;"
    top = f"c = (c >> {bits - 1} & 1) ? (c << 1) ^ {{p}} : c << 1;"
    branch = draw.choose(("ternary", "mask"), "bit_step")
    if branch == "mask":
        low, top = "c = (c >> 1) ^ (-(c & 1) & {p});", f"c = (c << 1) ^ (-(c >> {bits - 1} & 1) & {{p}});"
    arrays = [Array("data", element, per=most if length_form != "literal" else fixed), Array("out", result, True)]
    raised = max(0, bits - width)
    inner = {
        "polynomial": f"c ^= ({result})data[@] << {raised};\nfor (int b = 0; b < 8; b++) {top.format(p=number)}",
        "reflected": f"c ^= data[@];\nfor (int b = 0; b < 8; b++) {{\n{low.format(p=number)}\n}}",
        "table": "c = (c >> 8) ^ table[(c ^ data[@]) & 255];",
        "nibbles": "c ^= data[@];\nc = (c >> 4) ^ table[c & 15];\nc = (c >> 4) ^ table[c & 15];",
        "pair": f"c = (c + data[@]) % {draw.choose((255, 251, 65521 if bits > 16 else 241))};\nd = (d + c) % 65521;",
        "sum": f"c {draw.choose(('+=', '^='))} data[@]{draw.choose(('', ' << (k & 7)', ' * (k + 1)'))};",
        "parity": "c ^= data[@];\nc = (c << 1) | (popcount(c) & 1);",
        "multiply": f"c = (c ^ data[@]) * {draw.choose(('16777619u', '31', '65599'))};",
    }[form].replace("@", place)
    if form == "pair":
        lines.append("uint d = 1;")
    if form in ("table", "nibbles"):
        size = 256 if form == "table" else 16
        space = draw.choose((habits.fixed, ""), "table_space")
        arrays.append(Array("table", result, length=lambda s, g: size, space=space))
    unroll = draw.choose(("", "", "#pragma unroll 4\n"))
    lines.append(f"{unroll}for (int k = 0; k < {length}; k++) {{\n{inner}\n}}")
    end = {"pair": f"out[i] = ({result})((d << 16) | c);"}.get(
        form, draw.choose(("out[i] = c;", "out[i] = ~c;", "out[i] = c ^ (c >> 7);"))
    )
    lines.append(end)
    values = [Value("length", "int", lambda d: d.log_integer(1, 256))] if length_form == "argument" else []
    if length_form == "lengths":
        fill = ("skewed", 1, 257) if draw.chance(0.4) else ("randint", 1, 257)
        arrays.append(Array("lens", draw.choose(("int", "ushort")), fill=fill))
    once = 30.0 if form in ("polynomial", "reflected") else 6.0

    def operations(given: Values) -> float:
        return once * float(given.get("length", fixed if length_form == "literal" else 100))

    way = walk(draw, habits, exact="n" not in place.split())
    return line_draft(draw, habits, Elements(f"check_{form}", arrays, "\n".join(lines), values, operations), way)
