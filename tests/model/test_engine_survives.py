"""Whatever stands in the editor at a given moment, the engine gives an answer or a named problem, and soon."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

from model.device_catalog import find_builtin
from model.engine import Engine, FileForecast

SECONDS_PER_TEXT = 2.0
SECONDS_OF_FUZZING = 15.0
SEED = 20_240

Mutation = Callable[[random.Random, bytes], bytes]


class TooSlow(BaseException):
    """One text held the engine for longer than an editor may wait."""


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """A hard end, so that an endless loop in the engine fails the test and does not hang it."""

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.1)  # again, should it ring where Python drops exceptions
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def truncated(chance: random.Random, text: bytes) -> bytes:
    return text[: chance.randrange(len(text) + 1)]


def without_a_part(chance: random.Random, text: bytes) -> bytes:
    start = chance.randrange(len(text) + 1)
    return text[:start] + text[start + chance.choice((1, 1, 2, 5, 20, 100, 400)) :]


def with_a_part_twice(chance: random.Random, text: bytes) -> bytes:
    start, length = chance.randrange(len(text) + 1), chance.choice((1, 5, 20, 100, 400))
    to = chance.randrange(len(text) + 1)
    return text[:to] + text[start : start + length] + text[to:]


def with_random_bytes(chance: random.Random, text: bytes) -> bytes:
    start = chance.randrange(len(text) + 1)
    return text[:start] + chance.randbytes(chance.choice((1, 1, 3, 30))) + text[start + 1 :]


_WORDS = rb"""
    ( ) { } [ ] ; , * & -> . /* */ // " ' \ # / % = == ? : << >> /0 %0 0x 0 1 -1 0. 1e999 99999999999999999999
    #define~ #if~ #else #endif #include~ int~ float4~ __kernel~ void~ __global~ struct~ typedef~ for(;;) while(1) if(
    return~ break; switch( case~ sizeof~ goto~ do~ .xyzw .s0123 //~kernelcast:~global= get_global_id(0) barrier(1);
"""
_TOKENS = [
    *(word.replace(b"~", b" ") for word in _WORDS.split()), b"\0", b"\r", b"\n", b"\xff", "\U0001f600".encode()
]  # fmt: skip


def with_a_stray_token(chance: random.Random, text: bytes) -> bytes:
    start = chance.randrange(len(text) + 1)
    return text[:start] + chance.choice(_TOKENS) + text[start + chance.choice((0, 0, 1, 4)) :]


def with_names_exchanged(chance: random.Random, text: bytes) -> bytes:
    words = text.split(b" ")
    if len(words) < 2:
        return text
    a, b = chance.randrange(len(words)), chance.randrange(len(words))
    words[a], words[b] = words[b], words[a]
    return b" ".join(words)


MUTATIONS: tuple[Mutation, ...] = (
    truncated,
    without_a_part,
    with_a_part_twice,
    with_random_bytes,
    with_a_stray_token,
    with_a_stray_token,
    with_names_exchanged,
)


def mutations(seed: int, texts: list[bytes]) -> Iterator[bytes]:
    """Endlessly many mistyped versions of `texts`; the same ones for the same seed."""
    chance = random.Random(seed)
    while True:
        text = chance.choice(texts)
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            text = chance.choice(MUTATIONS)(chance, text)
        yield text


def survives(engine: Engine, text: bytes) -> FileForecast:
    device = find_builtin("generic-cpu")
    assert device is not None
    with alarm(SECONDS_PER_TEXT):
        return engine.forecast(text.decode("utf-8", "replace"), None, device)


def test_no_mistyped_text_makes_the_engine_raise_or_hang(request: pytest.FixtureRequest) -> None:
    folder = request.config.rootpath / "tests" / "kernels"
    texts = [file.read_bytes() for file in sorted(folder.glob("*.cl"))]
    assert texts
    engine, until = Engine(), time.monotonic() + SECONDS_OF_FUZZING
    for number, text in enumerate(mutations(SEED, texts)):
        if time.monotonic() > until:
            break
        try:
            answer = survives(engine, text)
        except BaseException:
            print(f"text {number} of seed {SEED}:\n{text.decode('utf-8', 'replace')}")
            raise
        assert all(f.prediction is not None or f.problem is not None for f in answer.forecasts)
