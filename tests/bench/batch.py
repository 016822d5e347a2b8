"""Predictions a second through `kernelcast predict --batch`, start-up of the process included."""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

KERNELS = Path(__file__).resolve().parent.parent / "kernels"
Request = dict[str, Any]


def _gamma_curve(size: int) -> Request:
    count = 256 * size
    return {
        "global": [count],
        "local": [256],
        "args": {"count": count, "exponent": 0.45},
        "buffers": {"linear": count, "encoded": count},
    }


def _wave_membrane(size: int) -> Request:
    width, height = 64 * size, 48 * size
    return {
        "global": [width, height],
        "local": [64, 1],
        "args": {"width": width, "height": height, "courant2": 0.25, "damping": 0.001},
        "buffers": dict.fromkeys(("before", "now", "next"), width * height),
    }


def _autocorrelation(size: int) -> Request:
    n = 128 * size
    return {"global": [n], "local": [32], "args": {"n": n}, "buffers": {"signal": n, "correlation": n}}


def _order_by_rank(size: int) -> Request:
    n = 64 * size
    return {"global": [n], "local": None, "args": {"n": n}, "buffers": {"items": n, "ordered": n}}


LAUNCHES: dict[str, Callable[[int], Request]] = {
    "gamma_curve": _gamma_curve,
    "wave_membrane": _wave_membrane,
    "autocorrelation": _autocorrelation,
    "order_by_rank": _order_by_rank,
}


def requests(count: int, seed: int) -> Iterator[Request]:
    """`count` requests with different sizes, as a tuner or a scheduler would send them."""
    rng = random.Random(seed)
    for number in range(count):
        kernel = rng.choice(sorted(LAUNCHES))
        launch = LAUNCHES[kernel](rng.randint(4, 64))
        yield {"id": str(number), "file": str(KERNELS / f"{kernel}.cl"), "kernel": kernel, **launch}


def predictions_per_second(kernelcast: str, count: int, *, seed: int = 1) -> tuple[float, float]:
    """(predictions a second, seconds in all) for one batch; raises RuntimeError unless every request was answered."""
    lines = "".join(json.dumps(request) + "\n" for request in requests(count, seed))
    begun = time.perf_counter()
    done = subprocess.run(
        [kernelcast, "predict", "--batch", "-", "--no-cache"], input=lines, capture_output=True, text=True, check=False
    )
    wall_s = time.perf_counter() - begun
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    unanswered = [answer for answer in answers if "error" in answer]
    if done.returncode != 0 or len(answers) != count or unanswered:
        raise RuntimeError(
            f"exit status {done.returncode}, {len(answers)} answers; {unanswered[:1]} {done.stderr[-500:]}"
        )
    return count / wall_s, wall_s
