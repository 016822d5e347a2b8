"""What ships: cost networks of two kinds and boosted trees; how far they are off, and how new a launch is to them.

Everything is numpy on arrays from one safetensors file: no torch is needed to predict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from model.learned.compiled_facts import COMPILED_FACT_NAMES
from model.learned.cost_network import OTHER, CostNetwork, log2_us_each, runtime_of, terms_of
from model.learned.device_facts import DEVICE_FACT_NAMES
from model.learned.forest import Forest, predict_each
from model.learned.inputs import compiled_inputs, log2_pace, source_inputs
from model.learned.novelty import Novelty
from model.learned.question import Answer, Question
from model.prediction import Quantiles

Floats = npt.NDArray[np.float32]
_NARROWEST, _WIDEST = np.float32(0.03), np.float32(6.0)  # octaves from p50 to p90 before calibration
_UNKNOWN = (np.nan,) * len(COMPILED_FACT_NAMES)
_UNITS = DEVICE_FACT_NAMES.index("shape.compute_units")
MOST_UNITS = np.float32(2.0)  # log2 of those of the largest device in training
# Of five shares the best on the training rows of a runtime, by forests that saw no row of it; means of two runtimes.
_OF_FORESTS = np.float32(0.25)


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """Features of launches on devices.

    [rows, launch features], [rows, analytical features], [rows, device features], and [rows, compiled features], all
    NaN where the kernel was not compiled.
    """

    launch: Floats
    analytic: Floats
    device: Floats
    compiled: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The networks and forests for one kind of inputs.

    Networks, networks that see pieces of their inputs' ranges, and forests that say what the plain prices are off by
    [octaves].
    """

    networks: tuple[CostNetwork, ...]
    pieced: tuple[CostNetwork, ...]
    forests: tuple[Forest, ...]


@dataclass(frozen=True, slots=True)
class Margins:
    """Factors that stretch the predicted spread so that 80 % of the times lie between p10 and p90.

    Conformal prediction (Angelopoulos & Bates, arXiv 2107.07511), on kernels of families that were held out of
    training.
    """

    below: float
    above: float


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """What the ensemble estimates, before roofline and margins.

    log2 of microseconds, the spread [octaves] and the novelty, each [rows]; and `places` [rows, dimensions] of the
    launches among all, in units of how far apart those of like kernels are.
    """

    log2_us: Floats
    spread: Floats
    novelty: Floats
    places: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Ensemble:
    prices: CostNetwork  # plain ones, the same whatever surrounds the operations
    source: Members
    compiled: Members
    spread: Forest
    novelty: Novelty
    source_margins: Margins
    compiled_margins: Margins

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        if not questions:
            return []
        facts = facts_of(questions)
        said = self.estimate(facts)
        is_compiled = _has_code(facts.compiled)
        below = np.where(is_compiled, self.compiled_margins.below, self.source_margins.below) * said.spread
        above = np.where(is_compiled, self.compiled_margins.above, self.source_margins.above) * said.spread
        least = facts.analytic[:, 1]
        # All in the same precision, so that rounding puts none before another.
        quantiles = np.exp2(
            np.maximum(np.stack([said.log2_us - below, said.log2_us, said.log2_us + above], axis=1), least[:, None])
        )
        told = zip(quantiles.tolist(), said.novelty.tolist(), said.places.tolist(), strict=True)
        return [Answer(Quantiles(*each), new, tuple(place)) for each, new, place in told]

    def estimate(self, facts: Facts) -> Estimate:
        facts, beyond = _within_training(facts)
        source = source_inputs(facts.launch, facts.analytic, facts.device)
        terms = terms_of(facts.launch, log2_pace(facts.device))
        runtime = runtime_of(facts.device, DEVICE_FACT_NAMES)
        plain = self.prices.log2_us(source, terms, facts.analytic, runtime)
        found, apart = together(self.source, source, terms, facts.analytic, runtime, plain)
        has_code = np.flatnonzero(_has_code(facts.compiled))
        if len(has_code):
            better, closer = together(
                self.compiled,
                compiled_inputs(source[has_code], facts.compiled[has_code]),
                terms[has_code],
                facts.analytic[has_code],
                runtime[has_code],
                plain[has_code],
            )
            # What is said from the source alone says something on top: both see the same, in other ways.
            found[has_code] = 0.7 * better + 0.3 * found[has_code]
            apart[has_code] = closer
        found = mostly_analytic(found, facts.analytic[:, 0], runtime)
        places = self.novelty.places(facts.launch)
        novelty = self.novelty.of(places)
        spread = self.spread.predict(spread_inputs(source, apart, novelty))
        spread = np.minimum(np.maximum(spread, _NARROWEST), _WIDEST)
        return Estimate(found - beyond, spread, novelty, places / np.float32(max(self.novelty.near, 1e-6)))


def facts_of(questions: Sequence[Question]) -> Facts:
    return Facts(
        np.array([q.launch_facts for q in questions], np.float32),
        np.array([q.analytic_facts for q in questions], np.float32),
        np.array([q.device_facts for q in questions], np.float32),
        np.array([q.compiled_facts or _UNKNOWN for q in questions], np.float32),
    )


def _within_training(facts: Facts) -> tuple[Facts, Floats]:
    """Return the launches as of devices with no more units than any in training, and by how much that is slower.

    The latter in octaves [rows], to be taken off what is said of them. What the model says beyond the analytical times
    rests on what it has seen of as many units; asked of more it goes astray, by 1.5x and more of 64 units.
    """
    beyond = np.maximum(facts.device[:, _UNITS] - MOST_UNITS, 0).astype(np.float32)
    if not beyond.any():
        return facts, beyond
    device = facts.device.copy()
    device[:, _UNITS] -= beyond
    return replace(facts, device=device, analytic=facts.analytic + beyond[:, None]), beyond


def _has_code(compiled: Floats) -> npt.NDArray[np.bool_]:
    """[rows, compiled facts] -> [rows]."""
    return np.asarray(~np.isnan(compiled).all(axis=1))


def spread_inputs(source: Floats, apart: Floats, novelty: Floats) -> Floats:
    """[rows, inputs of the source], how far the members lie apart [rows], novelty [rows] -> [rows, inputs]."""
    return np.concatenate([source, apart[:, None], novelty[:, None]], axis=1, dtype=np.float32)


def forest_inputs(inputs: Floats, plain: Floats, analytic: Floats) -> Floats:
    """Append the ratio of plain prices to the analytical time."""
    return np.concatenate([inputs, (plain - analytic[:, 0])[:, None]], axis=1, dtype=np.float32)


def together(
    members: Members, inputs: Floats, terms: Floats, analytic: Floats, runtime: npt.NDArray[np.int64], plain: Floats
) -> tuple[Floats, Floats]:
    """Return the middle one of what the kinds of members say, and how far they lie apart; both [rows].

    Where one kind goes astray, beyond all sizes in training, the other two agree. Prices that networks learn are those
    of the runtimes in training: of another runtime the forests speak alone.
    """
    networks = (*members.networks, *members.pieced)
    each = (
        log2_us_each(networks, inputs, terms, analytic, runtime) if networks else np.zeros((0, len(inputs)), np.float32)
    )
    first = len(members.networks)
    kinds = [some.mean(axis=0) for some in (each[:first], each[first:]) if len(some)]
    if members.forests:
        seen = forest_inputs(inputs, plain, analytic)
        of_forests = plain + predict_each(members.forests, seen).mean(axis=0)
        kinds.append(of_forests)
    ordered = np.sort(np.stack(kinds), axis=0)  # [kinds, rows]
    found = (ordered[(len(kinds) - 1) // 2] + ordered[len(kinds) // 2]) / 2
    if members.forests:
        found = np.where(runtime >= OTHER, of_forests, found)
    return found.astype(np.float32), (ordered[-1] - ordered[0]).astype(np.float32)


def mostly_analytic(found: Floats, analytic: Floats, runtime: npt.NDArray[np.int64]) -> Floats:
    """Return answers of which, for runtimes that are not in the dataset, most is analytical; all log2 us [rows].

    The analytical model knows the device's rates, the forests know what other compilers make of such code, and their
    errors are independent.
    """
    other = _OF_FORESTS * found + (1 - _OF_FORESTS) * analytic
    return np.where(runtime >= OTHER, other, found).astype(np.float32)


def load(folder: Path, description: dict[str, Any]) -> Ensemble:
    """Load an ensemble. Raises OSError, ValueError or KeyError for what is none of this version."""
    from safetensors import SafetensorError  # only here: whoever never asks need not have it  # noqa: PLC0415
    from safetensors.numpy import load_file  # noqa: PLC0415

    from model.learned.weights import ensemble_from  # noqa: PLC0415

    try:
        arrays = load_file(folder / str(description["file"]))
    except SafetensorError as error:
        raise ValueError(str(error)) from error
    return ensemble_from(arrays, description)
