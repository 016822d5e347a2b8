"""How often marked places run: counted and predicted. `python -m tests.oracles.data_loops.compare FILE.cl...`"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from model.assumptions import assumptions_of
from model.work.regions.region import Access, Block, Branch, Event, Loop
from model.work.walk.sample import numbered
from model.work.walk.walk import Walk
from model.work.work import Work
from tests.oracles.data_loops.places import Place, Side, places_in
from tests.oracles.instructions.compared import read_tasks
from tests.oracles.instructions.task import MARK, Task

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]
LIMIT_S = 120.0
FOUND_OUT_SPREAD = 1.1  # of what running some of the work-items told


@dataclass(frozen=True, slots=True)
class Marked:
    """A place in one launch: executions `counted` on PoCL and `predicted`; `predicted` None where the analysis has no
    such place. `assumed_lines` (from 1) are those that the prediction's assumptions name."""

    task: Task
    place: Place
    counted: int
    predicted: float | None
    assumed_lines: frozenset[int]

    @property
    def ratio(self) -> float:
        """Predicted over counted."""
        predicted = self.predicted or 0.0
        return 1.0 if predicted == self.counted else predicted / self.counted if self.counted else float("inf")

    @property
    def is_close(self) -> bool:
        return 1 / 1.1 <= self.ratio <= 1.1

    @property
    def is_far(self) -> bool:
        return not 0.5 <= self.ratio <= 2.0

    @property
    def is_assumed(self) -> bool:
        """Whether an assumption names the line that decides how often this place runs."""
        return self.place.line + 1 in self.assumed_lines


def kernel_files() -> list[Path]:
    return sorted((FOLDER / "kernels").glob("*.cl"))


def compare(files: Sequence[Path]) -> list[Marked]:
    """All places of all launches, in the order of the source."""
    tasks = [task for file in files for task in read_tasks(file)]
    counted = count([task for task, _ in tasks])
    return [marked for number, (task, work) in enumerate(tasks) for marked in _marked(task, work, counted[number])]


def count(tasks: Sequence[Task]) -> dict[int, list[int]]:
    """What the twin of each counts, by the task's number. Raises RuntimeError for one that does not end well."""
    command = [sys.executable, "-m", "tests.oracles.data_loops.twin"]
    environment = {**os.environ, "POCL_KERNEL_CACHE": "0"}  # counters lie elsewhere each time, and so would be kept
    done = subprocess.run(
        command, input=pickle.dumps(dict(enumerate(tasks))), capture_output=True, cwd=ROOT, env=environment,
        timeout=LIMIT_S, check=False,
    )  # fmt: skip
    lines = done.stdout.decode(errors="replace").splitlines()
    found = dict(json.loads(line.removeprefix(MARK)) for line in lines if line.startswith(MARK))
    for number, task in enumerate(tasks):
        if number not in found:
            raise RuntimeError(f"{task.title} was not counted:\n{done.stderr.decode(errors='replace')[-2000:]}")
    return found


def _marked(task: Task, work: Work, counted: Sequence[int]) -> Iterator[Marked]:
    walk = work.walk(task.launch, work.sample_of(task.launch))
    assumed = _assumed_lines(task, work)
    for place, executions in zip(places_in(task.source), counted, strict=True):
        predicted = _predicted(place, work, walk)
        if place.function == task.kernel.name or executions or predicted:
            yield Marked(task, place, executions, predicted, assumed)


def _assumed_lines(task: Task, work: Work) -> frozenset[int]:
    """Lines of what is assumed. What was found out by running work-items is not, unless time ended that."""
    found = assumptions_of(work, work.count(task.launch), task.launch)
    sample = work.sample_of(task.launch)
    is_found_out = sample is not None and sample.is_complete
    unsure = (one for one in found if one.spread > FOUND_OUT_SPREAD or not is_found_out)
    return frozenset(one.line + 1 for one in unsure if one.line is not None)


def _predicted(place: Place, work: Work, walk: Walk) -> float | None:
    """Executions of all blocks that are this place: one for each way in which its function was called."""
    found = [walk.runs.get(id(block), 0.0) for block in _blocks(place, work)]
    return sum(found) if found else None


def _blocks(place: Place, work: Work) -> list[Block]:
    inner = [i for _, i in numbered(work.root) if not isinstance(i, Access) and i.line == place.line and i.site]
    if place.side is Side.BODY:
        return [loop.body for loop in inner if isinstance(loop, Loop)]
    taken = [i for i in inner if isinstance(i, Branch) and i.event is Event.TAKEN]
    # What && and || in its condition divide is branches, too, on the same line and within the `if`.
    widest = max((_bytes(branch) for branch in taken), default=0)
    own = [branch for branch in taken if _bytes(branch) == widest]
    return [branch.then if place.side is Side.THEN else branch.otherwise for branch in own]


def _bytes(branch: Branch) -> int:
    return branch.site.end_byte - branch.site.start_byte if branch.site is not None else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="kernel files; all of ours if none is given")
    parser.add_argument("--above", type=float, default=0.0, help="show only places that deviate by more percent")
    arguments = parser.parse_args()
    found = compare(arguments.files or kernel_files())
    for one in found:
        if abs(one.ratio - 1) * 100 >= arguments.above:
            predicted = "no such place" if one.predicted is None else f"{one.predicted:.0f}"
            title = f"{one.task.path.name}:{one.place.line + 1} {one.place.name} ({one.task.launch.name})"
            print(f"{title:<64} {one.counted:>10} {predicted:>13} {one.ratio:8.3f} {'assumed' * one.is_assumed}")
    print(summary(found))
    return 0


def summary(found: Sequence[Marked]) -> str:
    close, far = (sum(map(what, found)) for what in (lambda one: one.is_close, lambda one: one.is_far))
    silent = sum(one.is_far and not one.is_assumed for one in found)
    kernels = {one.task.kernel.name for one in found}
    share = 100 * close / max(1, len(found))
    return (
        f"{len(found)} places in {len(kernels)} kernels: {close} ({share:.1f} %) within 10 %, "
        f"{far} off by more than 2x, {silent} of them without an assumption that names the line"
    )


if __name__ == "__main__":
    sys.exit(main())
