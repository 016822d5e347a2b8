"""`make soak`: hours of typing and hundreds of killed processes, as far as that fits into minutes.

`make soak ARGS="typing --files 200 --edits 50000"` prints what the server's memory is after every 5,000 edits.
Exit status 1 if anything was not answered, lost or left, or memory grew.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from tests.soak.typing_run import GROWTH_MB, SETTLED_AFTER, Sample, Typed, typing_run

_ROW = "{:>7} {:>9} {:>8} {:>9} {:>9} {:>11} {:>6} {:>8}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("typing",), default="typing")
    parser.add_argument("--seed", type=int, default=1, help="of all that is left to chance (1)")
    parser.add_argument("--files", type=int, default=200, help="open at once (200)")
    parser.add_argument("--edits", type=int, default=50_000, help="in all (50,000)")
    parser.add_argument("--every", type=int, default=5000, help="edits between two looks at memory (5,000)")
    arguments = parser.parse_args()
    kernelcast = str(Path(sys.executable).with_name("kernelcast"))
    with tempfile.TemporaryDirectory(prefix="kernelcast-soak-", ignore_cleanup_errors=True) as home:
        return _typing(kernelcast, Path(home), arguments)


def _typing(kernelcast: str, home: Path, arguments: argparse.Namespace) -> int:
    head = ("edits", "requests", "seconds", "server", "its own", "predictor", "files", "threads")
    print(_ROW.format(*head), flush=True)
    typed = asyncio.run(
        typing_run(
            kernelcast, home, number=arguments.files, edits=arguments.edits, seed=arguments.seed,
            every=arguments.every, tell=_tell,
        )
    )  # fmt: skip
    return _told(typed)


def _tell(sample: Sample) -> None:
    megabytes = (f"{each:.1f} MB" for each in (sample.server_mb, sample.own_mb, sample.predictor_mb))
    print(
        _ROW.format(sample.edits, sample.requests, f"{sample.seconds:.0f}", *megabytes, sample.files, sample.threads),
        flush=True,
    )


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


if __name__ == "__main__":
    sys.exit(main())
