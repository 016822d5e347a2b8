"""Ways in which a text goes wrong: each takes chance, a text, and a second text to take parts from."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from tests.fuzz.bombs import BOMBS

Mutation = Callable[[random.Random, bytes, bytes], bytes]

_TOKEN = re.compile(rb"[A-Za-z_]\w*|\.?\d[\w.]*|\"[^\"\n]*\"|//[^\n]*|[ \t]+|[^\w\s]+|\s", re.ASCII)
_NAME = re.compile(rb"[A-Za-z_]\w*", re.ASCII)
_NUMBER = re.compile(rb"(?<![\w.])\.?\d[\w.]*", re.ASCII)
_STRAY = rb"""
    ( ) { } [ ] ; , * & -> . /* */ // " ' \ # ## / % = == ? : << >> /0 %0 0x 0 1 -1 0. 1e999 99999999999999999999 1.0h
    #define~ #if~ #ifdef~ #elif~ #else #endif #include~ #undef~ #pragma~ #line~ int~ float4~ half~ __kernel~
    kernel~void~ __global~ __local~ struct~ typedef~ union~ enum~{ for(;;) while(1) if( return~ break; continue;
    switch( case~
    default: sizeof~ goto~ do~ .xyzw .s0123 .hi .odd get_global_id(0) get_local_size(9) barrier(1); atomic_inc( vload4(
    //~kernelcast:~global= //~kernelcast: __attribute__(( reqd_work_group_size(0,0,0) image2d_t~ async_work_group_copy(
"""
_STRAYS = [word.replace(b"~", b" ") for word in _STRAY.split()] + [
    b"\0", b"\r", b"\n", b"\r\n", b"\f", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", "\U0001f600\u2028\u0301".encode(),
    b"\\\n",
]  # fmt: skip
_NUMBERS = (
    b"0 1 2 3 7 16 31 32 33 64 255 256 1024 65536 2147483647 2147483648 4294967295 4294967296 9223372036854775807 1e30 "
    b"18446744073709551616 -1 -2147483648 0.0f 1e-45f 1e38f 0x7fffffff 0xffffffffffffffffu 077 08 0b1 1.5e+ 0x1p-3 1ull"
).split()
_KEYS = (b"global", b"local", b"name", b"n", b"N", b"fill.x", b"fill.first", b"-DN", b"-I", b"p.member", b"global.x",
         b"fill.x.start", b"fill.x[0]", b"fill.x[9].y", b"fill.x[", b"fill.x[N]", b"x[1]")  # fmt: skip
_VALUES = (
    b"(N, N)", b"(1,1,1,1)", b"0", b"-1", b"auto", b"N*N", b"N//0", b"2**64", b"9**9**9", b"((((1", b"randint:0:N",
    b"uniform:1:0", b"csr_rows:N", b"const:nan", b"1e308*10", b"ceil_div(N,0)", b"min()", b"'", b"\"a b", b"%", b"N=N",
    b"mask:0.5", b"mask:2", b"choice:1@3,2", b"choice:,@", b"choice:N@N@N", b"csr_lengths:N:1",
)  # fmt: skip


def tokens(text: bytes) -> list[bytes]:
    return _TOKEN.findall(text)


def _place(chance: random.Random, text: bytes) -> int:
    return chance.randrange(len(text) + 1)


def truncated(chance: random.Random, text: bytes, _other: bytes) -> bytes:
    return text[: _place(chance, text)]


def beheaded(chance: random.Random, text: bytes, _other: bytes) -> bytes:
    return text[_place(chance, text) :]


def without_a_part(chance: random.Random, text: bytes, _other: bytes) -> bytes:
    start = _place(chance, text)
    return text[:start] + text[start + chance.choice((1, 1, 2, 5, 20, 100, 400)) :]


def with_a_part_twice(chance: random.Random, text: bytes, _other: bytes) -> bytes:
    start, to = _place(chance, text), _place(chance, text)
    return text[:to] + text[start : start + chance.choice((1, 5, 20, 100, 400, 4000))] + text[to:]


def with_random_bytes(chance: random.Random, text: bytes, _other: bytes) -> bytes:
    start = _place(chance, text)
    return text[:start] + chance.randbytes(chance.choice((1, 1, 3, 30))) + text[start + 1 :]


def with_a_stray_word(chance: random.Random, text: bytes, _other: bytes) -> bytes:
    start = _place(chance, text)
    return text[:start] + chance.choice(_STRAYS) + text[start + chance.choice((0, 0, 1, 4)) :]


def with_tokens_moved(chance: random.Random, text: bytes, other: bytes) -> bytes:
    """Exchanged, dropped, doubled, or replaced by one of the other text."""
    words = tokens(text)
    if not words:
        return text
    foreign = tokens(other[:4096]) or [b""]
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        a, b = chance.randrange(len(words)), chance.randrange(len(words))
        match chance.randrange(4):
            case 0:
                words[a], words[b] = words[b], words[a]
            case 1:
                words[a] = b""
            case 2:
                words[a] += b" " + words[a]
            case _:
                words[a] = chance.choice(foreign)
    return b"".join(words)


def without_a_bracket(chance: random.Random, text: bytes, _other: bytes) -> bytes:
    brackets = [m.start() for m in re.finditer(rb"[(){}\[\];]", text)]
    if not brackets:
        return text
    at = chance.choice(brackets)
    return text[:at] + chance.choice((b"", b"", b"{", b"}", b"(", b")")) + text[at + 1 :]


def spliced(chance: random.Random, text: bytes, other: bytes) -> bytes:
    a, b = _place(chance, text), _place(chance, other)
    return text[:a] + other[b : b + 8192]


def with_another_number(chance: random.Random, text: bytes, _other: bytes) -> bytes:
    return _exchanged(chance, text, _NUMBER, chance.choice(_NUMBERS))


def with_another_name(chance: random.Random, text: bytes, _other: bytes) -> bytes:
    """One place, or all places, of a name get another that the text knows."""
    names = [m[0] for m in _NAME.finditer(text)]
    if not names:
        return text
    old, new = chance.choice(names), chance.choice(names)
    if chance.random() < 0.5:
        return _exchanged(chance, text, re.compile(rb"\b" + old + rb"\b"), new)
    return re.sub(rb"\b" + old + rb"\b", lambda _: new, text)


def _exchanged(chance: random.Random, text: bytes, what: re.Pattern[bytes], by: bytes) -> bytes:
    places = [m.span() for m in what.finditer(text)]
    if not places:
        return text
    start, end = chance.choice(places)
    return text[:start] + by + text[end:]


def with_a_macro(chance: random.Random, text: bytes, _other: bytes) -> bytes:
    """A name of the text becomes a macro: of nothing, of other parts of the text, of itself, or with parameters."""
    names = [m[0] for m in _NAME.finditer(text)] or [b"x"]
    name, other, third = (chance.choice(names) for _ in range(3))
    words = tokens(text)
    at = chance.randrange(len(words) or 1)
    part = b"".join(words[at : at + chance.choice((1, 3, 10, 40))]).replace(b"\n", b" \\\n")
    head = chance.choice((name, name + b"(" + other + b")", name + b"(a, ...)", name + b"()", name + b"("))
    body = chance.choice(
        (b"", part, other, other + b" " + name, b"a##" + other, b"#" + other, third + b"(" + name + b")")
    )
    return _at_a_line(chance, text, b"#define " + head + b" " + body)


def with_conditions(chance: random.Random, text: bytes, _other: bytes) -> bytes:
    """Conditional directives put in or taken out, paired or not."""
    directives = [m.span() for m in re.finditer(rb"^[ \t]*#[ \t]*(?:if|el|endif)[^\n]*\n", text, re.MULTILINE)]
    if directives and chance.random() < 0.5:
        start, end = chance.choice(directives)
        return text[:start] + text[end:]
    names = [m[0] for m in _NAME.finditer(text)] or [b"x"]
    condition = chance.choice(
        (b"0", b"1", b"", b"defined", b"defined(", b"(", b"1/0", b"-1 << 70", b"'", b"1 ? 2", b"!" * 50)
    )
    name = chance.choice(names)
    opening = chance.choice(
        (b"#if " + condition, b"#ifdef " + name, b"#if " + name + b" > 1", b"#elif " + condition, b"#else")
    )
    text = _at_a_line(chance, text, opening)
    return _at_a_line(chance, text, b"#endif") if chance.random() < 0.7 else text


def _at_a_line(chance: random.Random, text: bytes, line: bytes) -> bytes:
    at = text.rfind(b"\n", 0, _place(chance, text) + 1) + 1
    return text[:at] + line + b"\n" + text[at:]


def with_an_annotation(chance: random.Random, text: bytes, other: bytes) -> bytes:
    """A line for a launch put in before some kernel, or one of those that are there spoilt."""
    found = [m.span() for m in re.finditer(rb"//[ \t]*kernelcast:[^\n]*", text)]
    if found and chance.random() < 0.6:
        start, end = chance.choice(found)
        spoil = chance.choice((with_tokens_moved, with_another_number, with_a_stray_word, truncated, with_a_part_twice))
        return text[:start] + spoil(chance, text[start:end], other).replace(b"\n", b" ") + text[end:]
    names = [m[0] for m in _NAME.finditer(text)] or [b"x"]
    items = []
    for _ in range(chance.randrange(6)):
        key = chance.choice((*_KEYS, *names[:20], b"fill." + chance.choice(names)))
        items.append(
            key + chance.choice((b"=", b"=", b"==", b" = ")) + chance.choice((*_VALUES, *_NUMBERS, *names[:20]))
        )
    return _at_a_line(chance, text, b"// kernelcast: " + b" ".join(items))


def with_a_bomb(chance: random.Random, text: bytes, _other: bytes) -> bytes:
    bomb = chance.choice(BOMBS)(chance.choice((3, 10, 30, 100, 300, 1000, 3000)))
    at = _place(chance, text)
    return chance.choice((bomb, text[:at] + bomb + text[at:], text + b"\n" + bomb, bomb + b"\n" + text))


def on_one_line(chance: random.Random, text: bytes, _other: bytes) -> bytes:
    """Very long lines, and line ends of other systems."""
    by = chance.choice((b" ", b"\r", b"\r\n", b"\\\n", b"\n\n\n", b"\v"))
    return text.replace(b"\n", by)


MUTATIONS: tuple[Mutation, ...] = (
    truncated, truncated, beheaded, without_a_part, with_a_part_twice, with_random_bytes, with_a_stray_word,
    with_a_stray_word, with_tokens_moved, with_tokens_moved, without_a_bracket, spliced, with_another_number,
    with_another_number, with_another_name, with_another_name, with_a_macro, with_a_macro, with_conditions,
    with_conditions, with_an_annotation, with_an_annotation, with_a_bomb, on_one_line,
)  # fmt: skip
