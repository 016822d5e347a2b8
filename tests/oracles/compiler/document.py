"""`python -m tests.oracles.compiler.document`: build and read everything, and write the table into the README."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from tests.oracles.compiler.judging import Judged, judged, sample
from tests.oracles.compiler.programs import PACKAGES
from tests.real_packages import Unreachable

README = Path(__file__).parent.parent / "README.md"
BEGIN, END = "<!-- compiler: begin -->", "<!-- compiler: end -->"
HEAD = (
    "| package | programs tried | that build | kernels found | missed | invented | parameters that differ | "
    "kernels without unknowns | seconds a program: median, p95, worst |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, help="of each package only so many programs, drawn with a fixed seed")
    parser.add_argument("packages", nargs="*", default=list(PACKAGES))
    chosen = parser.parse_args()
    rows, reasons = [], []
    for name in chosen.packages:
        try:
            sources = list(PACKAGES[name]())
        except Unreachable as reason:
            print(f"{name}: {reason}")
            return
        package = judged(sample(sources, chosen.sample, 1) if chosen.sample else sources)
        rows.append(_row(name, package))
        reasons += [f"- {name}: {count} x {reason}" for reason, count in package.reasons.most_common(8)]
        print(rows[-1], *package.missed, *package.invented, *package.differences[:20], sep="\n", flush=True)
    table = f"{HEAD}{''.join(rows)}\nWhat was not understood, by kernels that it touches:\n\n" + "\n".join(reasons)
    if chosen.sample is None and chosen.packages == list(PACKAGES):
        text = README.read_text(encoding="utf-8")
        README.write_text(
            re.sub(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}\n\n{table}\n\n{END}", text, flags=re.DOTALL),
            encoding="utf-8",
        )
    else:
        print(table)


def _row(name: str, package: Judged) -> str:
    seconds = sorted(v.seconds for v in package.verdicts) or [0.0]
    times = ", ".join(f"{seconds[min(len(seconds) - 1, int(len(seconds) * q))]:.1f}" for q in (0.5, 0.95, 1.0))
    cells = (
        name, package.tried, len(package.verdicts), package.found, len(package.missed), len(package.invented),
        len(package.differences), f"{100 * package.clean_share:.1f} %", times,
    )  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |\n"


if __name__ == "__main__":
    main()
