"""`make fuzz ARGS="--protocol"`: messages of the whole protocol, and states of documents, to the real server process.

Each request must get one answer, within 2 s unless it measures or asks the user; the server must neither end nor log a
fault, and after any edits its hints must stand where the editor has the kernel. `--start` goes on where a run was left.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

from tests.fuzz.protocol.compose import Composer
from tests.fuzz.protocol.document import CODECS
from tests.fuzz.protocol.script import Script, load
from tests.fuzz.protocol.session import ANSWER_S, Report, play
from tests.fuzz.protocol.shrink import kind_of, shrunk
from tests.fuzz.protocol.states import Author
from tests.fuzz.protocol.texts import Texts
from tests.fuzz.sources import Sources, all_sources, own_sources

KINDS = ("messages", "states")
LENGTH = {"messages": 2000, "states": 1500}  # of a session; a start takes as long as some hundred messages
_SHRUNK_OF_A_FAULT = 2
_MEMORY_BYTES = 4 << 30  # of a client and of its server, each


def script_of(sources: Sources, kind: str, seed: int, number: int, length: int = 0) -> Script:
    """Session `number` of `seed`, whichever others were made before."""
    name = f"{kind}-{seed}-{number}"
    chance = random.Random(name)
    if kind == "messages":
        return Composer(chance, Texts(sources)).session(name, length or LENGTH[kind])
    author = Author(chance, Texts(sources), chance.choice((*CODECS, "utf-16", "utf-16")))
    return author.session(name, length or LENGTH[kind])


@dataclass
class Tally:
    sessions: int = 0
    messages: int = 0
    states: int = 0
    answers: int = 0
    probes: int = 0
    starved: int = 0
    quick_s: list[float] = field(default_factory=list)
    slow_s: list[float] = field(default_factory=list)
    codes: Counter[int] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)

    def add(self, messages: int, states: int, report: Report) -> None:
        self.sessions += 1
        self.messages += messages
        self.states += states
        self.answers += report.answers
        self.probes += report.probes
        self.starved += report.starved
        self.quick_s += report.quick_s
        self.slow_s += report.slow_s
        self.codes += report.codes
        if report.fault:
            self.faults[kind_of(report.fault)] += 1

    def told(self) -> str:
        lines = [
            f"{self.sessions} sessions: {self.messages} messages, {self.states} states of documents, "
            f"{self.answers} answers, {self.probes} kernels found where the editor has them",
            f"answered: {_spread(self.quick_s)}",
            f"what may take longer: {_spread(self.slow_s)}",
            f"late by the clock alone, because the machine was busy: {self.starved} times",
            f"errors by code: {dict(self.codes.most_common())}",
            *(f"{count} x {fault}" for fault, count in self.faults.most_common()),
        ]
        return "\n".join([*lines, "" if self.faults else "no faults"])


def _spread(times_s: list[float]) -> str:
    if len(times_s) < 2:
        return f"{len(times_s)} requests"
    cuts = statistics.quantiles(times_s, n=1000, method="inclusive")
    parts = f"median {cuts[499] * 1e3:.1f} ms, 99 % within {cuts[989] * 1e3:.0f} ms, 99.9 % {cuts[998] * 1e3:.0f} ms"
    return f"{len(times_s)} requests, {parts}, longest {max(times_s) * 1e3:.0f} ms"


def _bounded() -> None:
    """What takes all of the memory is to end with a fault of its own, not with the machine's."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))


def _played(sources: Sources, kind: str, seed: int, number: int, answer_s: float) -> tuple[int, int, Report]:
    script = script_of(sources, kind, seed, number)
    return script.messages, script.states, play(script, answer_s)


def _reports(options: argparse.Namespace, sources: Sources, kind: str, tally: Tally) -> Iterator[tuple[int, Report]]:
    """Of sessions from `--start` on, until enough has been sent."""
    wanted = getattr(options, kind)
    number = options.start
    # Not forked: those would inherit what the shrinking of a session has open.
    with ProcessPoolExecutor(options.workers, get_context("spawn"), _bounded) as pool:
        under_way: dict[Future[tuple[int, int, Report]], int] = {}
        while getattr(tally, kind) < wanted or under_way:
            while getattr(tally, kind) + len(under_way) * LENGTH[kind] < wanted and len(under_way) < options.workers:
                job = pool.submit(_played, sources, kind, options.seed, number, options.answer_s)
                under_way[job] = number
                number += 1
            done, _ = wait(under_way, return_when=FIRST_COMPLETED)
            for job in done:
                messages, states, report = job.result()
                tally.add(messages, states, report)
                yield under_way.pop(job), report


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="fuzz --protocol", description=__doc__)
    parser.add_argument("--messages", type=int, default=5000, help="how many (5000)")
    parser.add_argument("--states", type=int, default=5000, help="states of documents (5000)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same sessions (1)")
    parser.add_argument("--start", type=int, default=0, help="number of the first session (0)")
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) - 1), help="servers at once")
    parser.add_argument("--answer-s", type=float, default=ANSWER_S, help=f"time for an answer ({ANSWER_S:g})")
    parser.add_argument("--own", action="store_true", help="only this project's kernels; nothing is downloaded")
    parser.add_argument("--failures", type=Path, default=Path(".cache/fuzz"), help="folder for sessions that failed")
    parser.add_argument("--again", type=Path, nargs="+", help="play saved sessions instead")
    options = parser.parse_args(arguments)
    if options.again:
        return max(_again(file, options.answer_s) for file in options.again)
    sources = own_sources() if options.own else all_sources()
    has_failed = False
    for kind in KINDS:
        tally, began, shown = Tally(), time.monotonic(), 0.0
        for number, report in _reports(options, sources, kind, tally):
            if report.fault:
                _keep(options, sources, kind, number, report, tally)
            if time.monotonic() - shown > 10:
                shown = time.monotonic()
                rate = getattr(tally, kind) / (shown - began)
                print(f"{getattr(tally, kind)} {kind} of {getattr(options, kind)}, {rate:.0f}/s, session {number}, "
                      f"{tally.faults.total()} faulty", flush=True)  # fmt: skip
        if tally.sessions:
            print(f"{kind}, seed {options.seed}: {tally.told()}", flush=True)
        has_failed = has_failed or bool(tally.faults)
    return 1 if has_failed else 0


def _keep(options: argparse.Namespace, sources: Sources, kind: str, number: int, report: Report, tally: Tally) -> None:
    """The session that failed, as short as it can be had soon."""
    script = script_of(sources, kind, options.seed, number)
    file: Path = options.failures / f"{script.name}.json"
    print(f"session {number} of seed {options.seed}: {report.fault}", flush=True)
    if tally.faults[kind_of(report.fault)] <= _SHRUNK_OF_A_FAULT:
        script = shrunk(script, report.fault, 40)
    script.save(file)
    print(
        f"  {len(script.steps)} steps, again: {sys.executable} -m tests.fuzz.run --protocol --again {file}", flush=True
    )


def _again(file: Path, answer_s: float) -> int:
    report = play(load(file), answer_s)
    print(f"{file}: {report.fault or 'all is well'}")
    return 1 if report.fault else 0


if __name__ == "__main__":
    sys.exit(main())
