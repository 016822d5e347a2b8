"""Writes the comparison into tests/oracles/README.md, between its markers. `make oracles` runs it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from tests.oracles.instructions.compared import Compared, compare, read_tasks
from tests.oracles.instructions.decided import Decided
from tests.oracles.instructions.simulate import why_missing
from tests.oracles.instructions.task import Compiled
from tests.oracles.instructions.verdict import (
    BAR_PERCENT,
    FOLDER,
    UNCOUNTED,
    kernel_files,
    read_explanations,
    share_within,
)

README = FOLDER / "README.md"
BEGIN, END = "<!-- instructions: begin -->", "<!-- instructions: end -->"
QUANTITIES = ("flops", "loads", "stores")
CODE = {Compiled.FOR_SPEED: "-O3", Compiled.FOR_SIZE: "-Oz", Compiled.BY_OCLGRIND: "-Oz, stores split"}
CLASSES = {
    Decided.BY_LAUNCH: "the launch alone decides what runs",
    Decided.BY_FILL: "data decide, and `fill` describes them",
    Decided.BY_NOBODY: "data or computed values decide, and nothing describes them",
}


def main() -> int:
    if reason := why_missing():
        print(reason, file=sys.stderr)
        return 1
    tasks = [task for file in kernel_files() for task in read_tasks(file, without=[UNCOUNTED])]
    ways = {compiled: compare(tasks, compiled) for compiled in Compiled}
    for_speed = ways[Compiled.FOR_SPEED]
    head, _, rest = README.read_text("utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    written = "\n".join([*_summary(ways), "", *_kernels(for_speed), "", *_explained()])
    README.write_text(f"{head}{BEGIN}\n{written}\n{END}{tail}", "utf-8")
    return 0


def _summary(ways: Mapping[Compiled, Sequence[Compared]]) -> Iterator[str]:
    launches = ways[Compiled.FOR_SPEED]
    kernels = {(one.task.path, one.kernel) for one in launches}
    executed = sum(not one.problem for one in launches)
    yield f"{len(kernels)} kernels, {len(launches)} launches, {executed} of them executed by Oclgrind."
    yield ""
    yield "| What decides what runs | Code | Launches | Within | Flops | Loads | Stores | All three |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for by, text in CLASSES.items():
        for compiled, launches in ways.items():
            own = [one for one in launches if one.decided is by and not one.problem]
            shares = [share_within(own, BAR_PERCENT[by], quantity) for quantity in (*QUANTITIES, None)]
            cells = " | ".join(f"{100 * share:.1f} %" for share in shares)
            yield f"| {text} | {CODE[compiled]} | {len(own)} | {BAR_PERCENT[by]:.0f} % | {cells} |"


def _kernels(launches: Sequence[Compared]) -> Iterator[str]:
    yield "| Kernel | Launches | Decided by | Flops | Loads | Stores |"
    yield "| --- | ---: | --- | ---: | ---: | ---: |"
    for kernel, group in groupby(launches, key=lambda one: one.kernel):
        own = list(group)
        cells = " | ".join(_worst(own, quantity) for quantity in QUANTITIES)
        yield f"| `{kernel}` | {len(own)} | {own[0].decided} | {cells} |"


def _worst(launches: Sequence[Compared], quantity: str) -> str:
    """The deviation that is farthest from 0, of all launches of a kernel."""
    found = [q for one in launches for q in one.quantities if q.name == quantity]
    if not found:
        return "not executed"
    if all(q.counted is None for q in found):
        return "unseen"
    if all(not q.counted and not q.predicted for q in found):
        return "none"
    worst = max((q.deviation_percent for q in found), key=abs)
    return "0 %" if abs(worst) < 0.05 else f"{worst:+.1f} %"


def _explained() -> Iterator[str]:
    yield "What disagrees by more than its class allows, and why:"
    yield ""
    for explanation in read_explanations():
        yield f"- `{explanation.kernel}` ({', '.join(sorted(explanation.launches))}): {explanation.because}"


if __name__ == "__main__":
    sys.exit(main())
