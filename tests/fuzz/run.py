"""`make fuzz`: mistyped, spoilt and malicious texts through the engine, and files while they are being edited.

Each input may take 2 s of CPU for every version of at most 64 KB, and 1 GB of memory; after every edit the engine must
say what a fresh one says. `make fuzz ARGS="--inputs 100000"`; `--start` goes on where a run of the same seed was left.
With `--protocol`: messages and states of documents to the real server instead (`--protocol --help` tells its options).
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.fleet import Fleet, Plan
from tests.fuzz.inputs import KINDS, load, make
from tests.fuzz.judge import MAX_CPU_S, Verdict, judge
from tests.fuzz.protocol import run as protocol
from tests.fuzz.sources import all_sources, own_sources

KEPT_OF_A_FAULT = 30  # inputs that are saved of each: slowness has many causes and one name
PROGRESS_EVERY_S = 10.0


@dataclass
class Tally:
    """What a run has found so far."""

    plan: Plan
    folder: Path
    inputs: int = 0
    kernels: int = 0
    predictions: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    slowest: list[tuple[float, int]] = field(default_factory=list)
    largest: list[tuple[float, int]] = field(default_factory=list)

    def add(self, number: int, verdict: Verdict) -> None:
        self.inputs += 1
        self.kernels += verdict.kernels
        self.predictions += verdict.predictions
        self.slowest = sorted([*self.slowest, (verdict.cpu_s, number)], reverse=True)[:5]
        self.largest = sorted([*self.largest, (verdict.peak_mb, number)], reverse=True)[:5]
        if verdict.problem:
            self._keep(number, verdict)

    def _keep(self, number: int, verdict: Verdict) -> None:
        fault = verdict.problem.splitlines()[0]
        self.faults[fault] += 1
        if self.faults[fault] > KEPT_OF_A_FAULT:
            return
        file = self.folder / f"{self.plan.seed}-{number}.json"
        make(self.plan.sources, self.plan.seed, number, self.plan.kinds).save(file)
        print(f"{fault}\n  again: {sys.executable} -m tests.fuzz.run --again {file}", flush=True)

    def report(self) -> str:
        slowest = ", ".join(f"{cpu_s:.2f} s (input {number})" for cpu_s, number in self.slowest)
        largest = ", ".join(f"{peak_mb:.0f} MB (input {number})" for peak_mb, number in self.largest)
        lines = [
            f"{self.inputs} inputs of seed {self.plan.seed}: {self.kernels} kernels, {self.predictions} predictions",
            f"slowest versions: {slowest}",
            f"largest processes: {largest}",
            *(f"{count} x {fault}" for fault, count in self.faults.most_common()),
        ]
        return "\n".join([*lines, "" if self.faults else "no faults"])


def main() -> int:
    if "--protocol" in sys.argv:
        return protocol.main([each for each in sys.argv[1:] if each != "--protocol"])
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--inputs", type=int, default=2000, help="how many (2000)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same inputs (1)")
    parser.add_argument("--start", type=int, default=0, help="number of the first input (0)")
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) - 1), help="processes")
    parser.add_argument(
        "--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="texts, sequences of edits, or both"
    )
    parser.add_argument("--own", action="store_true", help="only this project's kernels; nothing is downloaded")
    parser.add_argument("--failures", type=Path, default=Path(".cache/fuzz"), help="folder for inputs that failed")
    parser.add_argument("--again", type=Path, nargs="+", help="judge saved inputs instead")
    arguments = parser.parse_args()
    if arguments.again:
        return max(_again(file) for file in arguments.again)

    sources = own_sources() if arguments.own else all_sources()
    for reason in sources.missing:
        print(f"left out: {reason}")
    plan = Plan(sources, arguments.seed, arguments.start, arguments.start + arguments.inputs, tuple(arguments.kinds))
    files = f"{len(sources.own)} files of this project and {len(sources.foreign)} of packages"
    print(f"seed {plan.seed}, inputs {plan.start} to {plan.stop - 1}, from {files}")
    tally = Tally(plan, arguments.failures)
    began = shown = time.monotonic()
    for number, verdict in Fleet(plan, arguments.workers).verdicts():
        tally.add(number, verdict)
        if time.monotonic() - shown > PROGRESS_EVERY_S:
            shown = time.monotonic()
            rate = tally.inputs / (shown - began)
            print(f"{tally.inputs} of {arguments.inputs}, {rate:.0f}/s, {tally.faults.total()} faulty", flush=True)
    print(tally.report())
    return 1 if tally.faults else 0


def _again(file: Path) -> int:
    one = load(file)
    verdict = judge(one)
    print(
        f"{file}: {one.kind}, {one.size_bytes} bytes; {verdict.cpu_s:.2f} s of {MAX_CPU_S:g}, {verdict.peak_mb:.0f} MB"
    )
    print(verdict.problem or "all is well")
    return 1 if verdict.problem else 0


if __name__ == "__main__":
    sys.exit(main())
