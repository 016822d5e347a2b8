"""Take the margins of GPU predictions from the public rows and write the table that ships.

python -c 'from profiler.corpus.public.intervals import main; main()'
"""

from __future__ import annotations

from pathlib import Path

import model
from model.training.gpu_margins import class_margins, coverage, lines, write_margins
from model.training.public_rows import Measured
from profiler.corpus.public.facts import PAST_THE_EDGE, measured
from profiler.corpus.public.table import read_rows

TABLE = Path(model.__file__).parent / "gpu_margins.csv"


def main() -> None:
    """Write model/gpu_margins.csv anew, and print what such margins cover of kernels and devices left out."""
    rows = judged(measured(read_rows()))
    write_margins(class_margins(rows), TABLE)
    print("\n".join(lines(coverage(rows))))


def judged(rows: Measured) -> Measured:
    """Without launches whose work-groups read outside their buffers: what that takes is no matter of margins."""
    return rows.where(rows.family != PAST_THE_EDGE)
