"""`make faults`: each fault many times, with an editor attached that asks for hints all the while.

`make faults ARGS="--times 50 --only store"` brings about those faults whose names hold a word; exit status 1 if
anything was lost, left or not answered.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from tests.faults.scenarios import SCENARIOS
from tests.faults.trial import Tally, trial

_ROW = "{:<30} {:>5} {:>7} {:>10} {:>13} {:>13} {:>8}  {}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=50, help="how often each fault is brought about (50)")
    parser.add_argument("--seed", type=int, default=1, help="of the random moments")
    parser.add_argument("--only", default="", help="faults whose names hold this")
    arguments = parser.parse_args()
    kernelcast = str(Path(sys.executable).with_name("kernelcast"))
    head = ("Fault", "times", "hints", "longest", "memory", "files", "seconds", "problems")
    print(_ROW.format(*head), flush=True)
    problems: list[str] = []
    for scenario in SCENARIOS:
        if arguments.only not in scenario.name:
            continue
        with tempfile.TemporaryDirectory(prefix="kernelcast-faults-", ignore_cleanup_errors=True) as home:
            tally = asyncio.run(trial(kernelcast, Path(home), scenario, arguments.times, arguments.seed))
        print(_row(tally), flush=True)
        problems += [f"{tally.scenario}: {each}" for each in tally.problems]
    for problem in problems[:100]:
        print(problem)
    return 1 if problems else 0


def _row(tally: Tally) -> str:
    before, after = tally.before, tally.after
    memory = f"{before.memory_mb:.0f} > {after.memory_mb:.0f} MB" if before and after else "-"
    files = f"{before.files} > {after.files}" if before and after else "-"
    longest = f"{tally.longest_s * 1e3:.0f} ms" if tally.hints else "-"
    wrong = str(len(tally.problems)) if tally.problems else "none"
    return _ROW.format(tally.scenario, tally.times, tally.hints, longest, memory, files, f"{tally.took_s:.0f}", wrong)


if __name__ == "__main__":
    sys.exit(main())
