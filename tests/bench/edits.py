"""Edits in a long file: how soon the forecasts of all its kernels are there again, by kind of edit."""

from __future__ import annotations

import random
import re
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from generate import generate_file

from model.device import Device
from model.engine import Engine

LINES, KERNELS = 9000, 100
ROUNDS = 3  # of each kind: near the top, in the middle, near the end

Change = Callable[[str, int], str]  # the text of one kernel, a number that makes it new


@dataclass(frozen=True, slots=True)
class Taken:
    """Times of one kind of edit, in milliseconds, and how many kernels its edits change."""

    kind: str
    times_ms: list[float]

    @property
    def p50_ms(self) -> float:
        return statistics.median(self.times_ms)

    @property
    def p95_ms(self) -> float:
        return statistics.quantiles(self.times_ms, n=20, method="inclusive")[-1]


def _behind(pattern: str, added: Callable[[int], str]) -> Change:
    """Type something behind the first match of `pattern`."""

    def change(kernel: str, number: int) -> str:
        return re.sub(pattern, lambda at: at[0] + added(number), kernel, count=1, flags=re.MULTILINE)

    return change


_STEP = r"^ +v [-+*/]?= [^;]*;"

INSIDE: dict[str, Change] = {
    "a character in an expression": _behind(r"\d\.\d+(?=f)", lambda number: str(number % 10)),
    "a statement on a new line": _behind(_STEP, lambda number: f"\n    v += {number}.5f;"),
    "an empty line": _behind(_STEP, lambda _: "\n"),
    "a line deleted": lambda kernel, _: re.sub(_STEP + r"\n", "", kernel, count=1, flags=re.MULTILINE),
    "a comment": _behind(_STEP, lambda number: f" // see {number}"),
    "an opening brace": _behind(_STEP, lambda number: f" if (v > {number}.0f) {{"),
    "a closing brace": _behind(_STEP, lambda _: " }"),
    "an open parenthesis": _behind(_STEP, lambda number: f" v = fmax({number}.0f, SQUARE("),
    "a local renamed": lambda kernel, number: re.sub(r"\bv\b", f"v{number}", kernel),
    "an annotation": _behind(r"^// kernelcast:", lambda number: f" name=n{number}"),
    "a block pasted": _behind(_STEP, lambda number: f"\n    for (int q = 0; q < {number}; q++) {{\n   v *= 2;\n    }}"),
}  # fmt: skip


def _exchanged(old: str, new: str) -> Change:
    return lambda text, number: text.replace(old, new.format(number=number), 1)


ELSEWHERE: dict[str, Change] = {
    "a line above all kernels": lambda text, number: "\n" * (1 + number % 2) + text,
    "a comment opened above all, and closed": lambda text, number: ("" if number % 2 else "/*") + text,
    "a helper that an eighth of them call": _exchanged("x ^= x >> 16", "x ^= x >> {number}"),
    "a type that an eighth of them use": _exchanged("int kind;", "int kind[{number}];"),
    "a macro that a quarter of them call": _exchanged("(pitch) + (col)", "(pitch) + {number} * (col)"),
}


def edits_ms(device: Device, *, seed: int = 1) -> tuple[float, list[Taken], list[Taken]]:
    """The time of a full analysis, those of edits inside one kernel by kind, and those of edits that concern several.

    Every edit starts from the same text; taking it back is not timed.
    """
    text = generate_file(LINES, KERNELS, seed)
    full_ms = min(_ms(Engine(), text, device) for _ in range(2))
    engine = Engine()
    _ms(engine, text, device)
    parts = re.split(r"(?m)^(?=// kernelcast:|__kernel __attribute)", text)
    rng = random.Random(seed)
    inside = []
    for kind, change in INSIDE.items():
        times = []
        for number in range(ROUNDS * 4):
            place = rng.randrange(len(parts) // ROUNDS) + number % ROUNDS * (len(parts) // ROUNDS) + 1
            edited = change(parts[min(place, len(parts) - 1)], 100 + number)
            state = "".join([*parts[:place], edited, *parts[place + 1 :]])
            times.append(_ms(engine, state, device))
            _ms(engine, text, device)
        inside.append(Taken(kind, times))
    elsewhere = []
    for kind, whole in ELSEWHERE.items():
        elsewhere.append(Taken(kind, [_ms(engine, whole(text, number), device) for number in range(2, 2 + ROUNDS)]))
        _ms(engine, text, device)
    return min(full_ms, _ms(Engine(), text, device)), inside, elsewhere


def _ms(engine: Engine, text: str, device: Device) -> float:
    begun = time.perf_counter()
    engine.forecast(text, None, device)
    return 1e3 * (time.perf_counter() - begun)
