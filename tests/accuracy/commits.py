"""How right `kernelcast diff` is on real changes: commits of repositories on this machine, both versions measured.

    python tests/accuracy/commits.py ROWS.jsonl --repository DIR ... --device pocl --minutes 30
    python tests/accuracy/commits.py ROWS.jsonl                         # only the scores of what is there

Each commit that touched a kernel is compared with its parent under launches that are inferred, predicted and measured
in turns. Rows are kept as they come, so that a call that was stopped goes on where it ended; nothing of a repository
but hashes of its commits and the names of kernels is written, and that into the file that is named. Repositories of
suites and programs that accuracy is reported on elsewhere are refused, and copies of their kernels left out.

A pair is clear if its measured ratio is known (the 95 % interval lies on one side of 1) and at least 5 % from 1. Of the
clear pairs `direction` counts predicted ratios on the right side of 1, `large` the same for those that differ by more
than 20 %, and `told` those for which the verdict says so. Of all that the verdicts call faster or slower, `right` are
measured to be that, and `false alarms` measured within 5 % of 1 or to be the opposite. `in interval` counts measured
ratios within the 80 % interval.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from statistics import median
from typing import Any

from profiler.corpus.origins.decontamination import is_exam_kernel, is_exam_path

THRESHOLD = 1.05
_LARGE = 1.2
_OPENCL = ("*.cl", "*.clh", "*.ocl", "*.opencl")
_HOSTS = ("*.py", "*.c", "*.cc", "*.cpp", "*.h", "*.hpp")
_MOST_HOSTS = 500
_KERNEL = r"(__kernel|kernel[[:space:]]+void)"
_LIMIT_S = 180.0  # of one commit on one device


@dataclass(frozen=True, slots=True)
class Row:
    """A changed kernel: `low` to `high` is predicted for the ratio of new to old, as are the measured ends."""

    commit: str
    kernel: str
    device: str
    launch: str
    ratio: float
    low: float
    high: float
    measured: float
    measured_low: float
    measured_high: float
    equal: bool | None

    @property
    def is_clear(self) -> bool:
        """Whether it was measured to be faster or slower, by enough to matter."""
        is_known = self.measured_high < 1 or self.measured_low > 1
        return is_known and abs(math.log(self.measured)) >= math.log(THRESHOLD)

    @property
    def verdict(self) -> int:
        """-1 for faster, 1 for slower, 0 where the predicted interval holds 1."""
        return -1 if self.high < 1 else 1 if self.low > 1 else 0

    @property
    def direction(self) -> int:
        return (self.measured > 1) - (self.measured < 1)

    @property
    def predicted_direction(self) -> int:
        return (self.ratio > 1) - (self.ratio < 1)


@dataclass(frozen=True, slots=True)
class Scores:
    """Counts over pairs, each with the number that it is of; errors are factors."""

    pairs: int
    clear: int
    direction: int
    large: int
    large_direction: int
    told: int
    verdicts: int
    right: int
    false_alarms: int
    in_interval: int
    error: float
    error_of_no_change: float


def scores(rows: Sequence[Row]) -> Scores:
    """Return how often predictions were right. Raises ValueError without rows."""
    if not rows:
        raise ValueError("no pair was predicted and measured")
    clear = [row for row in rows if row.is_clear]
    told = [row for row in rows if row.verdict]
    large = [row for row in clear if abs(math.log(row.measured)) > math.log(_LARGE)]
    right = [row for row in told if row.is_clear and row.verdict == row.direction]
    return Scores(
        pairs=len(rows),
        clear=len(clear),
        direction=sum(row.predicted_direction == row.direction for row in clear),
        large=len(large),
        large_direction=sum(row.predicted_direction == row.direction for row in large),
        told=sum(row.verdict == row.direction for row in clear),
        verdicts=len(told),
        right=len(right),
        false_alarms=sum(_is_false_alarm(row) for row in told),
        in_interval=sum(row.low <= row.measured <= row.high for row in rows),
        error=math.exp(median(abs(math.log(row.ratio / row.measured)) for row in rows)),
        error_of_no_change=math.exp(median(abs(math.log(row.measured)) for row in rows)),
    )


def _is_false_alarm(row: Row) -> bool:
    """Return whether a verdict is measured to be wrong; what the noise hides is neither right nor wrong."""
    near = max(row.measured_high, 1 / row.measured_low) < THRESHOLD
    return near or (row.is_clear and row.verdict != row.direction)


def table(by_device: dict[str, Sequence[Row]]) -> str:
    """Return the scores of each device as Markdown."""
    heads = (
        "Device", "Pairs", "Clear", "Direction", "Large", "Told", "Verdicts", "Right", "False alarms", "In interval",
        "Error", "No change",
    )  # fmt: skip
    lines = [f"| {' | '.join(heads)} |", f"| --- |{' --: |' * (len(heads) - 1)}"]
    for device, rows in by_device.items():
        s = scores(rows)
        cells = (
            device, s.pairs, s.clear, _share(s.direction, s.clear), _share(s.large_direction, s.large),
            _share(s.told, s.clear), s.verdicts,
            _share(s.right, s.verdicts), _share(s.false_alarms, s.verdicts), _share(s.in_interval, s.pairs),
            f"{(s.error - 1) * 100:.0f} %", f"{(s.error_of_no_change - 1) * 100:.0f} %",
        )  # fmt: skip
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _share(count: int, whole: int) -> str:
    return f"{count} ({100 * count / whole:.0f} %)" if whole else "-"


def is_exam(repository: Path) -> bool:
    """Return whether a repository is, by its folder or its clone's source, one that accuracy is reported on."""
    folder = repository.resolve()
    clones = _git(repository, "config", "-z", "--get-regexp", r"^remote\..*\.url$", allowed=(0, 1))
    sources = ("/".join(folder.parts[-2:]), *(each.partition("\n")[2].removesuffix(".git") for each in clones))
    names = [name for source in sources for name in (source, *re.split(r"[/+:]", source))]
    return any(is_exam_path(name) or is_exam_path(f"{name}/modules/") for name in names)


def kernel_commits(repository: Path, most: int) -> list[str]:
    """Return the newest commits with one parent that modify OpenCL files, or host programs that hold kernels now."""
    hosts = _git(repository, "grep", "-l", "-z", "-E", _KERNEL, "HEAD", "--", *_HOSTS, allowed=(0, 1))
    files = [each.removeprefix("HEAD:") for each in hosts[:_MOST_HOSTS]]
    words = ("log", "-z", "--format=%H", "--no-merges", "--min-parents=1", "--diff-filter=M", f"--max-count={most}")
    return _git(repository, *words, "--", *_OPENCL, *files)


def _git(repository: Path, *words: str, allowed: Sequence[int] = (0,)) -> list[str]:
    done = subprocess.run(["git", "-C", str(repository), *words], capture_output=True, check=False)
    if done.returncode not in allowed:
        raise SystemExit(f"{repository}: {os.fsdecode(done.stderr).strip()}")
    return [os.fsdecode(each) for each in done.stdout.split(b"\0") if each]


def compared(repository: Path, commit: str, device: str, budget_s: float, flags: Sequence[str]) -> list[dict[str, Any]]:
    """Return what `kernelcast diff --measure` says of a commit. Raises RuntimeError with its words if it fails."""
    command = [
        str(Path(sys.executable).with_name("kernelcast")), "diff", f"{commit}~1..{commit}", "--repository",
        str(repository), "--device", device, "--measure", "--budget-s", str(budget_s), "--ignore-recordings",
        "--format", "json", *flags,
    ]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"took longer than {_LIMIT_S:.0f} s") from None
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-300:])
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def rows_of(commit: str, device: str, changes: Iterable[dict[str, Any]]) -> Iterator[Row]:
    """Yield the pairs that were both predicted and measured; not those of which the name alone changed."""
    for each in changes:
        if is_exam_path(each["file"]) or is_exam_kernel(each["kernel"]):
            continue
        ratio, measured = each["ratio"], each["measured_ratio"]
        if ratio is not None and measured is not None:
            yield Row(
                commit, each["kernel"], device, each["launch"], ratio["p50"], ratio["p10"], ratio["p90"],
                measured["median"], measured["low"], measured["high"], each["equal"],
            )  # fmt: skip


def collect(file: Path, arguments: argparse.Namespace) -> None:
    """Compare commits until the time is over, and append to the file what came of each.

    Repositories take turns, so that time that is over leaves none out. What no device can pair costs one comparison:
    where the first of them has no ratio, the others are not asked.
    """
    ends_s = time.monotonic() + 60 * arguments.minutes
    known = {(each["commit"], each["device"]) for each in _lines(file)}
    unpaired = {each["commit"] for each in _lines(file) if not each.get("predicted", True)}
    turns = zip_longest(*([(r, c) for c in kernel_commits(r, arguments.commits)] for r in arguments.repository))
    pending = [
        (*each, device)
        for turn in turns
        for each in turn
        if each is not None
        for device in arguments.device
        if (each[1], device) not in known
    ]
    for number, (repository, commit, device) in enumerate(pending, 1):
        if commit in unpaired:
            continue
        if time.monotonic() > ends_s:
            print(f"the time is over: {len(pending) - number + 1} comparisons are left", file=sys.stderr)
            return
        entry: dict[str, Any] = {"commit": commit, "device": device, "rows": [], "error": ""}
        try:
            changes = compared(repository, commit, device, arguments.budget_s, arguments.flag)
            entry["rows"] = [asdict(row) for row in rows_of(commit, device, changes)]
            entry["predicted"] = sum(each["ratio"] is not None for each in changes)
        except RuntimeError as error:
            entry["error"], entry["predicted"] = str(error), 0
        if not entry["predicted"]:
            unpaired.add(commit)
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(entry) + "\n")
        said = entry["error"] or f"{len(entry['rows'])} pairs of {entry['predicted']}"
        print(f"{number} of {len(pending)}: {commit[:10]} on {device}: {said}", file=sys.stderr)


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def main() -> int:
    """Collect, if repositories are named, and print the scores of all that is in the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path, metavar="ROWS", help="JSON lines, which are added to")
    parser.add_argument("--repository", type=Path, action="append", default=[], metavar="DIR")
    parser.add_argument(
        "--device", action="append", default=[], metavar="ID", help="a device here; pocl if none is named"
    )
    parser.add_argument("--commits", type=int, default=50, metavar="N", help="the newest N of each repository (50)")
    parser.add_argument("--minutes", type=float, default=30.0, metavar="N", help="for all of it (30)")
    parser.add_argument("--budget-s", type=float, default=2.0, metavar="S", help="of timed runs of each pair (2)")
    parser.add_argument("--flag", action="append", default=[], metavar="FLAG", help="for `kernelcast diff`, as -I=DIR")
    arguments = parser.parse_args()
    arguments.device = arguments.device or ["pocl"]
    if refused := [str(each) for each in arguments.repository if is_exam(each)]:
        parser.error(f"accuracy is reported on these elsewhere, so they must not be looked at: {', '.join(refused)}")
    if arguments.repository:
        collect(arguments.file, arguments)
    by_device: dict[str, list[Row]] = {}
    for entry in _lines(arguments.file):
        for row in entry["rows"]:
            by_device.setdefault(row["device"], []).append(Row(**row))
    if not by_device:
        print("no pair was predicted and measured", file=sys.stderr)
        return 1
    print(table({device: by_device[device] for device in sorted(by_device)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
