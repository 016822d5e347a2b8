"""What a CPU's compiler runs in vectors across work-items, told from costs in one surrounding and in another."""

from __future__ import annotations

from dataclasses import replace

from model.device import Rates
from model.device_curves import Vectorised
from profiler.device_worker.calibration.probe import readable

# (words for people, the cost there, the same work where it is in vectors)
_SURROUNDINGS = (
    ("groups of one work-item", "scalar.fp", "vector.fp"),
    ("groups of 8", "width.8", "vector.fp"),
    ("groups of 16", "width.16", "vector.fp"),
    ("groups of 1x64 instead of 64x1", "shape.1x64", "shape.64x1"),
    ("loops of constant length", "unrolled.fp", "vector.fp"),
    ("loops of run-time length", "counted.fp", "vector.fp"),
    ("loops whose length the data decide", "data.fp", "vector.fp"),
    ("loops with a barrier", "barrier.fp", "vector.fp"),
    ("loops between barriers", "kept.fp", "vector.fp"),
    ("branches that the data decide", "branch.fp", "vector.fp"),
    ("calls of functions", "called.fp", "vector.fp"),
    ("an index of type int", "index.int", "index.size_t"),
    ("an index of type uint", "index.uint", "index.size_t"),
)


def with_outcomes(rates: Rates) -> Rates:
    """Of the costs that were measured."""
    ns = {cost.name: cost.ns for cost in rates.costs}
    return replace(
        rates,
        vectorised=tuple(
            Vectorised(words, readable(ns[there] / ns[in_vectors]))
            for words, there, in_vectors in _SURROUNDINGS
            if there in ns and in_vectors in ns
        ),
    )
