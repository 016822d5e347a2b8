"""`make soak`: hours of typing and hundreds of killed processes, in minutes.

`make soak ARGS="typing --files 200 --edits 50000"` prints what the server's memory is after every 5,000 edits, and
`make soak ARGS="kills --kills 500"` kills the server, its children and their children in turn while an editor types
and measures. Without arguments both. Exit status 1 if anything was not answered, lost or left, or memory grew.
Kills are written to a file as they happen; a run that was broken off goes on where it was.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from statistics import median

from tests.soak.kill_run import Kill, KillRun
from tests.soak.typing_run import GROWTH_MB, SETTLED_AFTER, Sample, Typed, typing_run

_SAMPLE = "{:>7} {:>9} {:>8} {:>9} {:>9} {:>11} {:>6} {:>8}"
_KILLED = "{:<16} {:>6} {:>8} {:>8} {:>7} {:>9} {:>8}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", help="typing, kills (both)")
    parser.add_argument("--seed", type=int, default=1, help="of all that is left to chance (1)")
    parser.add_argument("--files", type=int, default=200, help="open at once (200)")
    parser.add_argument("--edits", type=int, default=50_000, help="in all (50,000)")
    parser.add_argument("--every", type=int, default=5000, help="edits between two looks at memory (5,000)")
    parser.add_argument("--kills", type=int, default=500, help="in all (500)")
    parser.add_argument("--editors", type=int, default=4, help="at work while processes are killed (4)")
    parser.add_argument("--progress", type=Path, default=Path(".cache/soak"), help="folder of what was seen so far")
    arguments = parser.parse_args()
    runs = {"typing": _typing, "kills": _kills}
    chosen = arguments.what or list(runs)
    if unknown := set(chosen) - set(runs):
        parser.error(f"no such run: {', '.join(sorted(unknown))}")
    kernelcast = str(Path(sys.executable).with_name("kernelcast"))
    status = 0
    for name in chosen:
        with tempfile.TemporaryDirectory(prefix="kernelcast-soak-", ignore_cleanup_errors=True) as home:
            status = max(status, runs[name](kernelcast, Path(home), arguments))
    return status


def _typing(kernelcast: str, home: Path, arguments: argparse.Namespace) -> int:
    head = ("edits", "requests", "seconds", "server", "its own", "predictor", "files", "threads")
    print(_SAMPLE.format(*head), flush=True)
    typed = asyncio.run(
        typing_run(
            kernelcast, home, number=arguments.files, edits=arguments.edits, seed=arguments.seed,
            every=arguments.every, tell=_tell_sample,
        )
    )  # fmt: skip
    return _told(typed)


def _tell_sample(sample: Sample) -> None:
    megabytes = (f"{each:.1f} MB" for each in (sample.server_mb, sample.own_mb, sample.predictor_mb))
    seconds = f"{sample.seconds:.0f}"
    print(_SAMPLE.format(sample.edits, sample.requests, seconds, *megabytes, sample.files, sample.threads), flush=True)


def _told(typed: Typed) -> int:
    print(
        f"{typed.edits} edits, {typed.requests} requests, {typed.empty} answers about hints without any, the longest "
        f"answer after {typed.longest_s * 1e3:.0f} ms; "
        f"{typed.growth_mb:+.1f} MB since {SETTLED_AFTER} edits (at most {GROWTH_MB:g} allowed)"
    )
    problems = [*typed.problems]
    if typed.growth_mb > GROWTH_MB:
        problems.append(f"the server's memory grew by {typed.growth_mb:.1f} MB")
    for problem in problems[:100]:
        print(problem)
    return 1 if problems else 0


def _kills(kernelcast: str, home: Path, arguments: argparse.Namespace) -> int:
    file = arguments.progress / f"kills-of-seed-{arguments.seed}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    before = [Kill(**json.loads(line)) for line in file.read_text().splitlines()] if file.exists() else []
    kills = [kill for kill in before if kill.number < arguments.kills]
    numbers = sorted(set(range(arguments.kills)) - {kill.number for kill in kills})
    print(f"{len(kills)} of {arguments.kills} kills stand in {file}", flush=True)

    def tell(kill: Kill) -> None:
        kills.append(kill)
        with file.open("a") as progress:
            progress.write(json.dumps(asdict(kill)) + "\n")
        for problem in kill.problems:
            print(f"kill {kill.number} ({kill.role}): {problem}", flush=True)

    asyncio.run(_kill_all(kernelcast, home, numbers, arguments, tell))
    _tell_kills(kills)
    problems = sum(len(kill.problems) for kill in kills)
    print(f"{len(kills)} kills, {problems or 'no'} problems")
    return 1 if problems or len(kills) < arguments.kills else 0


async def _kill_all(
    kernelcast: str, home: Path, numbers: list[int], arguments: argparse.Namespace, tell: Callable[[Kill], None]
) -> None:
    async with asyncio.TaskGroup() as together:
        for place in range(arguments.editors):
            (home / str(place)).mkdir()
            run = KillRun(kernelcast, home / str(place), arguments.seed)
            together.create_task(run.kill(numbers[place :: arguments.editors], tell))


def _tell_kills(kills: list[Kill]) -> None:
    print(_KILLED.format("killed", "times", "median", "longest", "hints", "measured", "refused"))
    for role, times in Counter(kill.role for kill in kills).most_common():
        own = [kill for kill in kills if kill.role == role]
        well = [kill.until_well_s for kill in own]
        print(
            _KILLED.format(
                role, times, f"{median(well):.1f} s", f"{max(well):.1f} s", sum(kill.hints for kill in own),
                sum(kill.measured for kill in own), sum(kill.refused for kill in own),
            )
        )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
