"""Writes what is counted and predicted into tests/oracles/README.md, between its markers. `make oracles` runs it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.oracles.data_loops.compare import Marked, compare, kernel_files, summary

README = Path(__file__).resolve().parents[1] / "README.md"
BEGIN, END = "<!-- data loops: begin -->", "<!-- data loops: end -->"


def main() -> int:
    head, _, rest = README.read_text("utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    written = "\n".join(_table(compare(kernel_files())))
    README.write_text(f"{head}{BEGIN}\n{written}\n{END}{tail}", "utf-8")
    return 0


def _table(found: Sequence[Marked]) -> Iterator[str]:
    yield f"{summary(found)}."
    yield ""
    yield "| Kernel | Launch | Place | Counted | Predicted | Ratio | Assumption |"
    yield "| --- | --- | --- | ---: | ---: | ---: | --- |"
    for one in found:
        cells = (
            f"`{one.task.kernel.name}`",
            one.task.launch.name or "",
            f"{one.place.side} {one.task.path.name}:{one.place.line + 1}",
            f"{one.counted:,}",
            "dropped" if one.predicted is None else f"{one.predicted:,.0f}",
            f"{one.ratio:.2f}",
            "yes" if one.is_assumed else "",
        )
        yield f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
