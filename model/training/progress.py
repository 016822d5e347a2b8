"""Progress of a training run: JSON lines while it runs, curves to draw afterwards."""

from __future__ import annotations

import json
from pathlib import Path

Curves = dict[str, list[tuple[int, float]]]  # name -> (step, value), by step


def append(path: Path, step: int, values: dict[str, float]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"step": step, **{name: float(f"{value:.6g}") for name, value in values.items()}}) + "\n")


def read_curves(path: Path) -> Curves:
    """Read `loss`, `learning_rate`, `validation/pocl/within_2x` ... of a run.

    A run that went on from a checkpoint says some steps twice: the later line counts. A line cut off by a crash is
    skipped.
    """
    curves: dict[str, dict[int, float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            values = json.loads(line)
        except json.JSONDecodeError:
            continue
        step = values.pop("step")
        for name, value in values.items():
            curves.setdefault(name, {})[step] = value
    return {name: sorted(points.items()) for name, points in curves.items()}
