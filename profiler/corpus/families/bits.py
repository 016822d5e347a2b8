"""Bit work on single words: counting, spreading, reversing, mixing and shifting of bits."""

from __future__ import annotations

from collections.abc import Mapping

from model.launch.launch import Fill
from profiler.corpus.composing.coverage import Coverage, draw_coverage
from profiler.corpus.composing.drafting import Buffer, Parameter, Parts, Scalar, drafted, each, flat, just, times
from profiler.corpus.composing.hand import Hand
from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, family

WORDS = ("uint", "uint", "ulong", "int", "ushort", "uchar")
WIDTHS = {"uint": 32, "int": 32, "ulong": 64, "ushort": 16, "uchar": 8}
ANY = Fill("randint", (0, 1 << 31))


def _words(type_: str) -> Fill:
    return Fill("randint", (0, 1 << min(31, WIDTHS[type_])))


def _ending(draw: Draw, hand: Hand, cover: Coverage, type_: str, value: str) -> tuple[str, list[Parameter]]:
    """Store one value for each element in one way or another."""
    out, i = hand.name("output"), cover.index
    kind = draw.choose(("store", "store", "store", "narrow", "accumulate", "atomic", "mixed"), "ending")
    if kind == "atomic":
        word = draw.choose(("atomic_add", "atomic_xor", "atomic_max", "atomic_or"))
        slots = draw.choose((1, 1, 16, 256))
        where = f"{out} + ({i} & {slots - 1})" if slots > 1 else out
        return f"{word}({where}, (uint)({value}));", [Buffer(out, "uint", just(slots), Fill("zeros"), True)]
    if kind == "narrow":
        return f"{out}[{i}] = (uchar)({value});", [Buffer(out, "uchar", each, None, True)]
    sign = {"accumulate": "^=", "mixed": "="}.get(kind, "=")
    mixed = f"({value}) + {out}[{i}] / 2" if kind == "mixed" else value
    return f"{out}[{i}] {sign} {mixed};", [Buffer(out, type_, each, None, True)]


def _one_word(
    draw: Draw,
    forms: Mapping[str, str],
    title: str,
    *,
    types: tuple[str, ...] = WORDS,
    operations: float = 20,
    helpers: str = "",
) -> Draft:
    """`forms` are statements that turn a word `{v}` of type `{t}` with `{n}` bits into another."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    type_ = draw.choose(types, "type")
    cover = draw_coverage(draw, hand)
    x, v, i = hand.name("input"), hand.name("value"), cover.index
    form = draw.choose(tuple(forms), "form")
    bits = WIDTHS[type_]
    names = {"t": type_, "v": v, "n": str(bits), "h": str(bits // 2), "k": str(draw.integer(1, bits - 1))}
    text = forms[form]
    for key, value in names.items():
        text = text.replace(f"<{key}>", value)
    repeats = draw.weighted({1: 5.0, 4: 1.0, 16: 1.0}, "words_an_element")
    start = f"{x}[{i}]"
    ending, outputs = _ending(draw, hand, cover, type_, v if repeats == 1 else "total")
    helper = helpers
    if draw.chance(0.4, "helper"):
        helper += f"\n{hand.inline}{type_} {form}_bits({type_} {v})\n{{\n{text}\nreturn {v};\n}}"
        text = f"{v} = {form}_bits({v});"
    if repeats == 1:
        body = f"{type_} {v} = {start};\n{text}\n{ending}"
    else:
        at = draw.choose((f"{x}[{i} * {repeats} + j2]", f"{x}[({i} << {repeats.bit_length() - 1}) | j2]"))
        join = draw.choose(("total ^= ", "total += "))
        loop = f"for (int j2 = 0; j2 < {repeats}; j2++) {{\n{type_} {v} = {at};\n{text}\n{join}{v};\n}}"
        body = f"{type_} total = 0;\n{loop}\n{ending}"
    parameters = [Buffer(x, type_, times(repeats), _words(type_)), *outputs]
    parts = Parts(
        (title, form), cover, parameters, body, flat(operations * repeats), helper,
        data_per_element=lambda _: float(repeats),
    )  # fmt: skip
    return drafted(draw, hand, parts)


@family("popcount_sum", group="bits")
def popcount_sum(draw: Draw) -> Draft:
    """Return how many bits are set."""
    forms = {
        "builtin": "<v> = popcount(<v>);",
        "kernighan": "int ones = 0;\nwhile (<v>) {\n<v> &= <v> - 1;\nones++;\n}\n<v> = ones;",
        "shift": "int ones = 0;\nfor (int b = 0; b < <n>; b++) ones += (<v> >> b) & 1;\n<v> = ones;",
        "until_zero": (
            "int ones = 0;\n<t> rest = <v> & (<t>)0x7fffffff;\n"
            "while (rest != 0) { ones += rest & 1; rest >>= 1; }\n<v> = ones;"
        ),
        "swar": "<v> = <v> - ((<v> >> 1) & (<t>)0x55555555);\n"
        "<v> = (<v> & (<t>)0x33333333) + ((<v> >> 2) & (<t>)0x33333333);\n"
        "<v> = (<v> + (<v> >> 4)) & (<t>)0x0f0f0f0f;\n<v> = (<v> + (<v> >> 8)) & 0xff;",
        "nibbles": "const uchar ones_of[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};\nint ones = 0;\n"
        "for (int b = 0; b < <n>; b += 4) ones += ones_of[(<v> >> b) & 15];\n<v> = ones;",
        "parity": "<v> ^= <v> >> 4;\n<v> ^= <v> >> 2;\n<v> ^= <v> >> 1;\n<v> &= 1;",
        "trailing": "int z = 0;\nwhile (z < <n> && ((<v> >> z) & 1) == 0) z++;\n<v> = z;",
        "leading": "<v> = clz(<v>);",
        "rank": "<v> = popcount((<t>)(<v> & (((<t>)1 << <k>) - 1)));",
    }
    return _one_word(draw, forms, "popcount", operations=15)


@family("gray_code", group="bits")
def gray_code(draw: Draw) -> Draft:
    """Binary to Gray and back, and other codes that differ in one bit."""
    forms = {
        "encode": "<v> ^= <v> >> 1;",
        "decode": "for (<t> m = <v> >> 1; m; m >>= 1) <v> ^= m;",
        "decode_steps": "<v> ^= <v> >> 4;\n<v> ^= <v> >> 2;\n<v> ^= <v> >> 1;",
        "decode_loop": "for (int s = <n> / 2; s > 0; s >>= 1) <v> ^= <v> >> s;",
        "next": "<v> ^= (popcount(<v>) & 1) ? ((<v> & -<v>) << 1) : 1;",
        "bits": (
            "<t> r = 0;\nfor (int b = 0; b < <n> - 1; b++) {\n"
            "r |= (((<v> >> b) ^ (<v> >> (b + 1))) & 1) << b;\n}\n<v> = r;"
        ),
        "difference": "<t> w = <v> + 1;\n<v> = (<v> ^ (<v> >> 1)) ^ (w ^ (w >> 1));",
        "round_trip": "<t> g = <v> ^ (<v> >> 1);\nfor (int s = 1; s < <n>; s <<= 1) g ^= g >> s;\n<v> = g + <v>;",
    }
    return _one_word(draw, forms, "gray", types=("uint", "ulong", "ushort", "uchar"))


@family("bit_reverse", group="bits")
def bit_reverse(draw: Draw) -> Draft:
    """Generate the order of bits turned round, whole or in parts."""
    masks = (("0x55555555", 1), ("0x33333333", 2), ("0x0f0f0f0f", 4), ("0x00ff00ff", 8))
    swaps = "\n".join(
        f"<v> = ((<v> >> {s}) & (<t>){m}) | ((<v> & (<t>){m}) << {s});" for m, s in masks[: draw.integer(1, 4)]
    )
    forms = {
        "loop": "<t> r = 0;\nfor (int b = 0; b < <n>; b++) {\nr = (r << 1) | (<v> & 1);\n<v> >>= 1;\n}\n<v> = r;",
        "swaps": swaps,
        "some_bits": (
            "<t> r = 0;\nfor (int b = 0; b < <k>; b++) if (<v> & ((<t>)1 << b)) r |= (<t>)1 << (<k> - 1 - b);\n<v> = r;"
        ),
        "table": "const uchar rev[16] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};\n<t> r = 0;\n"
        "for (int b = 0; b < <n>; b += 4) r = (r << 4) | rev[(<v> >> b) & 15];\n<v> = r;",
        "nibble_swap": "<v> = (<t>)((<v> >> 4) & (<t>)0x0f0f0f0f) | (<t>)((<v> & (<t>)0x0f0f0f0f) << 4);",
        "rotate": "<v> = rotate(<v>, (<t>)<k>) ^ rotate(<v>, (<t>)1);",
        "shuffle": "<v> = ((<v> & (<t>)0x22222222) << 1) | ((<v> >> 1) & (<t>)0x22222222) | (<v> & (<t>)0x99999999);",
        "lowest": "<v> = (<v> & -<v>) | (<v> >> <h>);",
    }
    return _one_word(draw, forms, "reverse")


@family("endian_swap", group="bits")
def endian_swap(draw: Draw) -> Draft:
    """Generate the order of bytes turned round."""
    forms = {
        "shifts": "<v> = ((<v> >> 24) & 0xff) | ((<v> >> 8) & 0xff00) | ((<v> << 8) & 0xff0000) | (<v> << 24);",
        "rotates": "<v> = (rotate(<v>, (<t>)8) & (<t>)0x00ff00ff) | (rotate(<v>, (<t>)24) & (<t>)0xff00ff00);",
        "bytes": "uchar4 b = as_uchar4((uint)<v>);\n<v> = as_uint(b.wzyx);",
        "loop": "<t> r = 0;\nfor (int b = 0; b < <n>; b += 8) r = (r << 8) | ((<v> >> b) & 0xff);\n<v> = r;",
        "halves": "<v> = ((<v> & (<t>)0x00ff00ff) << 8) | ((<v> >> 8) & (<t>)0x00ff00ff);",
        "words": "ushort2 w = as_ushort2((uint)<v>);\n<v> = as_uint((ushort2)(w.y, w.x));",
        "half_words": "<v> = (<v> << <h>) | (<v> >> <h>);",
        "some": "if (<v> & 1) <v> = ((<v> & 0xff) << 8) | ((<v> >> 8) & 0xff);",
        "copy": (
            "uchar4 b = as_uchar4((uint)<v>);\nuchar4 c = (uchar4)(b.s3, b.s2, b.s1, b.s0);\n"
            "<v> = c.x + ((uint)c.y << 8) + ((uint)c.z << 16) + ((uint)c.w << 24);"
        ),
    }
    return _one_word(draw, forms, "swap", types=("uint", "ulong", "int"))


@family("hash_rounds", group="bits")
def hash_rounds(draw: Draw) -> Draft:
    """Generate rounds of shifts, rotations, products and exclusive ors, drawn anew for each kernel."""
    steps = (
        "<v> ^= <v> >> {a};", "<v> ^= <v> << {a};", "<v> *= (<t>){m};", "<v> += <v> << {a};",
        "<v> = rotate(<v>, (<t>){a});",
        "<v> = ~<v> + (<v> << {a});", "<v> += (<t>){m};", "<v> = (<v> ^ {c}) * (<t>){m};", "<v> -= <v> >> {a};",
        "w += rotate(<v>, (<t>){a}) ^ w;\n<v> ^= w;", "w = w * (<t>){m} + <v>;\n<v> = rotate(w, (<t>){a});",
    )  # fmt: skip
    made = {}
    for name, rounds in (("once", 1), ("rounds", draw.choose((2, 3, 4, 8))), ("loop", draw.choose((4, 10, 16, 64)))):
        lines = [
            draw.choose(steps).format(a=draw.integer(1, 7), c=draw.choose((61, 0x2545, 0x9E37)), m=draw.choose(
                ("0x45d9f3bu", "0x85ebca6bu", "2654435761u", "0x27d4eb2du", "16777619u", "69069u", "33u")))
            for _ in range(draw.integer(3, 9))
        ]  # fmt: skip
        text = "\n".join(lines)
        made[name] = {
            "once": text,
            "rounds": "\n".join([text] * rounds),
            "loop": f"for (int r = 0; r < {rounds}; r++) {{\n{text}\n}}",
        }[name]
        made[name] = f"<t> w = <v>;\n{made[name]}\n<v> ^= w;"
    return _one_word(draw, made, "mix", types=("uint", "uint", "ulong", "ushort"), operations=60)


@family("shift_register", group="bits")
def shift_register(draw: Draw) -> Draft:
    """Linear feedback shift registers and cellular automata, stepped many times for each word."""
    steps = draw.choose((8, 16, 32, 64, 100, 256), "steps")
    forms = {
        "galois": "<t> low = <v> & 1;\n<v> >>= 1;\nif (low) <v> ^= (<t>)0xb400;",
        "galois_masked": "<v> = (<v> >> 1) ^ ((<t>)(-(<v> & 1)) & (<t>)0xd0000001u);",
        "fibonacci": (
            "<t> bit = ((<v> >> 0) ^ (<v> >> 2) ^ (<v> >> 3) ^ (<v> >> 5)) & 1;\n<v> = (<v> >> 1) | (bit << (<n> - 1));"
        ),
        "xorshift": "<v> ^= <v> << 3;\n<v> ^= <v> >> 5;\n<v> ^= <v> << 1;",
        "parity": "<v> = (<v> << 1) | (popcount(<v> & (<t>)0x8e) & 1);",
        "rule_30": "<v> = (<v> << 1) ^ (<v> | (<v> >> 1));",
        "rule_90": "<v> = (<v> << 1) ^ (<v> >> 1);",
        "rule_110": "<v> = (<v> | (<v> << 1)) ^ (<v> & (<v> << 1) & (<v> >> 1));",
        "pair": "<t> s = <v> ^ (<v> << 4);\n<v> = s ^ (s >> 3) ^ (<v> >> 2);",
    }
    counted = {k: f"for (int s2 = 0; s2 < {steps}; s2++) {{\n{text}\n}}" for k, text in forms.items()}
    counted |= {
        f"{k}_until": f"int s2 = 0;\ndo {{\n{text}\n}} while (++s2 < {steps} && (<v> & 0xf) != 5);"
        for k, text in forms.items()
    }
    return _one_word(draw, counted, "lfsr", types=("uint", "ulong", "ushort"), operations=5.0 * steps)


@family("hamming_distance", group="bits")
def hamming_distance(draw: Draw) -> Draft:
    """Differing bits between codes of one or several words: pairs, one against all, the nearest of a list."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    type_ = draw.choose(("uint", "ulong", "uint4", "uint2", "ulong2"), "type")
    words = draw.choose((1, 2, 4, 8, 16), "words")
    cover = draw_coverage(draw, hand)
    x, y, out, i, d, j = (hand.name(n) for n in ("input", "second input", "output", "index", "distance2", "loop"))
    many = draw.choose(("pairs", "one_code", "nearest", "within"), "against")
    ones = {
        "uint4": "ones.x + ones.y + ones.z + ones.w", "uint2": "ones.x + ones.y", "ulong2": "ones.s0 + ones.s1",
    }.get(type_)  # fmt: skip
    layout = draw.choose(("aos", "soa"), "layout") if many == "pairs" and cover.count else "aos"
    mine = f"{x}[{i} * {words} + {j}]" if layout == "aos" else f"{x}[{j} * (int){cover.count} + {i}]"

    def compare(other: str) -> str:
        if ones:
            inside = f"{type_} ones = popcount({mine} ^ {other});\n{d} += {ones};"
        else:
            inside = f"{d} += popcount({mine} ^ {other});"
        return hand.loop(j, "0", str(words), inside, unroll=draw.choose((0, 0, words)))

    if many == "pairs":
        other = mine.replace(f"{x}[", f"{y}[", 1)
        body = f"int {d} = 0;\n{compare(other)}\n{out}[{i}] = {d};"
        second = Buffer(y, type_, lambda s: (s.bound + 1) * words, Fill("randint", (0, 1 << 30)))
        extra: list[Parameter] = []
    elif many == "one_code":
        body = f"int {d} = 0;\n{compare(f'{y}[{j}]')}\n{out}[{i}] = {d};"
        second = Buffer(y, type_, just(words), Fill("randint", (0, 1 << 30)), is_constant=draw.chance(0.4))
        extra = []
    else:
        codes = hand.name("codes")
        q = "c2"
        keep = {
            "nearest": f"if ({d} < best) {{\nbest = {d};\nwhich = {q};\n}}",
            "within": f"if ({d} <= {words * 14}) which++;",
        }[many]
        body = (
            f"int best = 1 << 20, which = 0;\nfor (int {q} = 0; {q} < {codes}; {q}++) {{\nint {d} = 0;\n"
            f"{compare(f'{y}[{q} * {words} + {j}]')}\n{keep}\n}}\n{out}[{i}] = which;"
        )
        second = Buffer(y, type_, lambda s: s.of(codes) * words, Fill("randint", (0, 1 << 30)))
        extra = [Scalar(codes, "int", lambda draw2: draw2.log_integer(1, 300))]
    first = Buffer(x, type_, lambda s: (s.bound + 1) * words, Fill("randint", (0, 1 << 30)))
    parameters: list[Parameter] = [first, second, Buffer(out, "int", each, None, True), *extra]
    work = (lambda s: 5.0 * words * s.of(hand.name("codes"))) if extra else flat(5.0 * words)
    parts = Parts(("hamming", many), cover, parameters, body, work, data_per_element=lambda _: float(words))
    return drafted(draw, hand, parts)
