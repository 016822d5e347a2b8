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
    "kernels without unknowns | seconds a program: median, p95, worst | seconds a kernel: median, p95, worst |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |\n"
)
SAMPLE_OF_HASHCAT = 60  # of some 1,200 programs: PoCL takes seconds to build one
SEED = 1
TIMES = "Seconds are processor time of one core: of a program for reading it and analysing all of its kernels."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hashcat", type=int, default=SAMPLE_OF_HASHCAT, help="how many programs of hashcat to draw")
    parser.add_argument("packages", nargs="*", default=list(PACKAGES))
    chosen = parser.parse_args()
    rows, reasons = [], []
    for name in chosen.packages:
        try:
            sources = list(PACKAGES[name]())
        except Unreachable as reason:
            print(f"{name}: {reason}")
            return
        drawn = sample(sources, chosen.hashcat, SEED) if name == "hashcat" else sources
        package = judged(drawn)
        called = (
            name if len(drawn) == len(sources) else f"{name} ({len(drawn)} of {len(sources)}, drawn by a fixed seed)"
        )
        rows.append(_row(called, package))
        reasons += [f"- {name}: {count} x {reason}" for reason, count in package.reasons.most_common(8)]
        print(rows[-1], *package.missed, *package.invented, *package.differences[:20], sep="\n", flush=True)
    table = f"{HEAD}{''.join(rows)}\n{TIMES}\n\nWhat was not understood, by kernels that it touches:\n\n"
    table += "\n".join(reasons) or "Nothing."
    if chosen.packages == list(PACKAGES):
        text = README.read_text(encoding="utf-8")
        README.write_text(
            re.sub(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}\n\n{table}\n\n{END}", text, flags=re.DOTALL),
            encoding="utf-8",
        )
    else:
        print(table)


def _row(name: str, package: Judged) -> str:
    cells = (
        name, package.tried, len(package.verdicts), package.found, len(package.missed), len(package.invented),
        len(package.differences), f"{100 * package.clean_share:.1f} %",
        _spread([v.cpu_s for v in package.verdicts]), _spread([k.cpu_s for k in package.kernels]),
    )  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |\n"


def _spread(seconds: list[float]) -> str:
    """Median, 95th percentile and worst."""
    ordered = sorted(seconds) or [0.0]
    return ", ".join(f"{ordered[min(len(ordered) - 1, int(len(ordered) * q))]:.2f}" for q in (0.5, 0.95, 1.0))


if __name__ == "__main__":
    main()
