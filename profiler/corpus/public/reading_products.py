"""DBCSR's tuned parameters of small matrix products (`tune_multiply_*.csv`) -> rows: the rate on one GPU, by shape.

Only the best parameters of each shape are published, with the rate that they reached. Rows without a rate (0, as for
AMD's GPUs) or without the length of the stack are left out.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from profiler.corpus.public.row import PublicRow, settings

PRODUCTS_SOURCE = "cp2k/dbcsr tuned parameters (BSD-3-Clause script, GPL-2+ library; figures)"
_TYPES = {"1": "float", "3": "double"}
_WARP, _ROUND_UP = 32, 1  # the group is made a multiple of a warp


def product_rows(folder: Path) -> Iterator[PublicRow]:
    """Rows of all tables in `folder`."""
    for path in sorted(folder.glob("tune_multiply_*.csv")):
        yield from rows_of_table(path)


def rows_of_table(path: Path) -> Iterator[PublicRow]:
    """Rows of one table; of two lines of one shape and type the first counts."""
    seen: set[tuple[str, ...]] = set()
    with path.open(encoding="utf-8", newline="") as table:
        for line in csv.DictReader(table, delimiter=";"):
            shape = (line["TYPEID"], line["M"], line["N"], line["K"])
            gflop_s, triples = float(line["GFLOPS"]), int(line["S"])
            if gflop_s <= 0 or triples <= 0 or shape in seen or line["TYPEID"] not in _TYPES:
                continue
            seen.add(shape)
            m, n, k, rows, columns = (int(line[name]) for name in ("M", "N", "K", "BM", "BN"))
            group = -(-m // rows) * -(-n // columns)
            if int(line["WG"]) == _ROUND_UP:
                group = -(-group // _WARP) * _WARP
            said = settings(
                {
                    "type": _TYPES[line["TYPEID"]], "m": m, "n": n, "k": k, "batch": line["BS"], "rows": rows,
                    "columns": columns, "group": group, "triples": triples,
                }
            )  # fmt: skip
            runtime_us = 2e-3 * m * n * k * triples / gflop_s
            yield PublicRow("small_products", line["DEVICE"], said, (), runtime_us, None, PRODUCTS_SOURCE)
