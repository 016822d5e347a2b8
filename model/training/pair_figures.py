"""How well ratios of two versions' times are predicted, on pairs of measured launches that the model never saw.

Pairs are of one device and one family or source file, no farther apart than kernels that an edit turns into each
other: siblings of the generator that differ in at most three named choices, kernels of one file, and one kernel in
groups of another size. The constants of `model.pairs` were fitted on validation families, by the pinball loss of the
80 % quantile of the logarithm of the error (Koenker & Bassett, "Regression quantiles", 1978); packages that the model
was not trained on judge them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from model.learned.ensemble import Ensemble
from model.learned.residual_gp import shares_of
from model.pairs import Side, ratio_of
from model.prediction import Basis
from model.training.ensemble import facts_at
from model.training.rows import Rows

LARGEST_DISTANCE = 3.0  # between places of launches, in units of how far apart those of like kernels are
LARGEST_FACTOR = 2.0  # between the sizes of data or numbers of work-items
MOST_CHOICES = 3
MOST_PAIRS = 40  # of a family or package on all devices, so that none outweighs the others
MOST_LOOKED_AT = 1000  # pairs of a family or package on a device
LEAST_DIFFERENCE = 1.15  # of times, from which on the direction counts
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PairFigures:
    """`median_error` is that of the predicted ratio, `same_time` of a ratio of 1; all in percent.

    `right` is the share of pairs in the right direction among the `differing`; `inside` the share within p10 to p90,
    `width` the factor from p50 to p90 in the median.
    """

    pairs: int
    median_error: float
    same_time: float
    differing: int
    right: float
    inside: float
    width: float


@dataclass(frozen=True, slots=True)
class PairLine:
    kind: str
    split: str
    figures: PairFigures


def pair_table(
    rows: Rows,
    ensemble: Ensemble,
    choices: Mapping[str, Mapping[str, str]],
    files: Mapping[str, str],
    *,
    has_code: bool,
) -> list[PairLine]:
    """Return a line for each kind of pairs and split.

    `choices` are those of the generator's kernels by id, `files` the source files of the others.
    """
    splits = ("validation", "test-origins")
    judged = rows.judged(*splits)
    said = [
        ensemble.estimate(facts_at(rows, part, has_code=has_code))
        for part in np.array_split(judged, max(1, len(judged) // 5_000))
    ]
    log2_us, spread, places = (
        np.concatenate([getattr(each, name) for each in said]) for name in ("log2_us", "spread", "places")
    )
    margins = ensemble.compiled_margins if has_code else ensemble.source_margins
    shares = shares_of(rows.analytic[judged].astype(np.float64))
    middle = np.maximum(log2_us, rows.analytic[judged, 1])

    def side(at: int) -> Side:
        return Side(
            float(2.0 ** middle[at]), float(margins.below * spread[at]), float(margins.above * spread[at]),
            float(rows.analytic[judged[at], 0]), tuple(shares[at].tolist()), 0.0,
            Basis.COMPILED if has_code else Basis.MODEL, tuple(places[at].tolist()),
        )  # fmt: skip

    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for kind, a, b in pairs_of(rows, judged, choices, files):
        if np.linalg.norm(places[a] - places[b]) <= LARGEST_DISTANCE:
            found.setdefault((kind, str(rows.split[judged[a]])), []).append((a, b))
    lines = []
    for (kind, split), pairs in sorted(found.items()):
        ratios = [ratio_of(side(a), side(b)) for a, b in pairs]
        truth = np.array([2.0 ** float(rows.log2_us[judged[a]] - rows.log2_us[judged[b]]) for a, b in pairs])
        quantiles = np.array([(each.p10, each.p50, each.p90) for each in ratios])
        lines.append(PairLine(kind, split, _figures(quantiles, truth)))
    return lines


def pairs_of(
    rows: Rows, judged: Ints, choices: Mapping[str, Mapping[str, str]], files: Mapping[str, str]
) -> Iterator[tuple[str, int, int]]:
    """Yield kind and places among `judged` of pairs, in an order that does not depend on the data's."""
    groups: dict[tuple[str, str], list[int]] = {}
    for at, row in enumerate(judged):
        groups.setdefault((str(rows.device_name[row]), str(rows.family[row])), []).append(at)
    count: Counter[tuple[str, str]] = Counter()
    order = np.random.default_rng(0)
    for own in groups.values():
        pairs = list(combinations(own, 2))
        for number in order.permutation(len(pairs))[:MOST_LOOKED_AT]:
            a, b = pairs[number]
            kind = _kind(rows, int(judged[a]), int(judged[b]), choices, files)
            key = kind, str(rows.family[judged[a]])
            if kind and count[key] < MOST_PAIRS:
                count[key] += 1
                yield kind, a, b


def _kind(rows: Rows, one: int, other: int, choices: Mapping[str, Mapping[str, str]], files: Mapping[str, str]) -> str:
    """Return what a pair has in common; empty for what no edit would turn into each other."""
    first, second = str(rows.kernel[one]), str(rows.kernel[other])
    if first == second:
        return "another group size" if {rows.vary[one], rows.vary[other]} == {"first", "local"} else ""
    own, others = choices.get(first), choices.get(second)
    if own and others:
        differ = sum(own.get(name) != others.get(name) for name in own.keys() | others.keys())
        is_near = _factor(rows.data[one], rows.data[other]) <= LARGEST_FACTOR
        return "siblings" if differ <= MOST_CHOICES and is_near else ""
    is_near = _factor(rows.items[one], rows.items[other]) <= LARGEST_FACTOR
    return "kernels of one file" if first in files and files[first] == files.get(second) and is_near else ""


def _factor(a: float, b: float) -> float:
    return max(a, b, 1.0) / max(min(a, b), 1.0)


def _figures(quantiles: npt.NDArray[np.float64], truth: npt.NDArray[np.float64]) -> PairFigures:
    """[pairs, p10 p50 p90], measured ratios [pairs]."""
    p10, p50, p90 = quantiles.T
    differs = np.abs(np.log(truth)) > np.log(LEAST_DIFFERENCE)
    right = (np.sign(np.log(p50)) == np.sign(np.log(truth)))[differs]
    return PairFigures(
        len(truth),
        100 * float(np.median(np.abs(p50 / truth - 1))),
        100 * float(np.median(np.abs(1 / truth - 1))),
        int(differs.sum()),
        100 * float(right.mean()) if len(right) else float("nan"),
        100 * float(((p10 <= truth) & (truth <= p90)).mean()),
        float(np.median(p90 / p50)),
    )


def markdown(lines: Sequence[tuple[str, PairLine]]) -> str:
    """Return a table; each line with who predicts."""
    head = (
        "| who, pairs | n | median error of the ratio | of no change | right direction | within p10 to p90 | "
        "p90 / p50 |\n"
        "| --- | --- | --- | --- | --- | --- | --- |"
    )
    return "\n".join(
        [
            head,
            *(
                f"| {who}, {line.kind}, {line.split} | {f.pairs:,} | {f.median_error:.1f} % | {f.same_time:.1f} % | "
                f"{f.right:.1f} % of {f.differing:,} | {f.inside:.1f} % | {f.width:.2f} |"
                for who, line in lines
                for f in [line.figures]
            ),
        ]
    )
