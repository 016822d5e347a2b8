"""Kernel Tuner's searches of a space that was measured before: runs in an interpreter that has `kernel_tuner`.

Reads one JSON object, `{"files": cache files, "strategies": [...], "most": evaluations, "draws": repeats}`, and prints
for each strategy and file the best times [us] that it reached.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import sys
import warnings
from typing import Any


def main() -> int:
    import numpy
    from kernel_tuner.interface import tune_cache

    warnings.simplefilter("ignore")
    order = json.load(sys.stdin)
    found: dict[str, dict[str, list[float | None]]] = {}
    for strategy in order["strategies"]:
        found[strategy] = {}
        for file in order["files"]:
            reached: list[float | None] = []
            for seed in range(order["draws"]):
                random.seed(seed)
                numpy.random.seed(seed)
                with contextlib.redirect_stdout(io.StringIO()):
                    options = {"max_fevals": order["most"]}
                    results, _ = tune_cache(file, strategy=strategy, strategy_options=options, quiet=True)
                reached.append(_best_us(results))
            found[strategy][file] = reached
    json.dump(found, sys.stdout)
    return 0


def _best_us(results: list[dict[str, Any]]) -> float | None:
    times = [one["time"] for one in results if isinstance(one.get("time"), int | float)]
    return 1000 * min(times) if times else None


if __name__ == "__main__":
    raise SystemExit(main())
