"""Everything that is said of the model's worth: on kernels and packages never seen, beside its baselines, as tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from string import ascii_lowercase

import numpy as np

from model.learned.cost_network import OTHER
from model.learned.ensemble import Ensemble, Members, forest_inputs, mostly_analytic
from model.learned.inputs import INPUT_NAMES, source_inputs
from model.learned.novelty import Novelty
from model.training.boosting import Boosting, grow
from model.training.costs import CostRows, train_costs
from model.training.ensemble import Recipe, facts_at, plain_recipe
from model.training.few_shot_eval import SHOTS, few_shot, launches_of
from model.training.figures import Line, figures_of
from model.training.rows import Floats, Ints, Rows

SPLITS = {
    "known": "unseen kernels of known families",
    "validation": "families never trained on",
    "test-origins": "packages never trained on",
}
CALIBRATION_KERNELS = 100  # as `kernelcast calibrate` ends with
FIRST_MACHINE = "four processors"  # of the devices whose names do not say a machine
Predicted = dict[str, Floats]  # log2 us of all rows, by who says it
_SIZE_FACTS = ("log.items", "log.groups", "log.group_items")


def predictions(rows: Rows, ensemble: Ensemble, names: tuple[str, ...]) -> Predicted:
    """Of the rows that are judged, log2 us; NaN elsewhere. `names` are LAUNCH_FACT_NAMES.

    Baselines are trained on the very rows that the model was.
    """
    judged = rows.judged(*SPLITS)
    train, least = rows.where("train"), rows.analytic[:, 1]
    size = rows.launch[:, [names.index(name) for name in _SIZE_FACTS]]
    by_size = grow(
        np.concatenate([size, rows.device[:, :4]], axis=1)[train], rows.log2_us[train], rows.weight[train],
        Boosting(rounds=200, feature_fraction=1.0, num_leaves=31),
    )  # fmt: skip
    found = {
        "launch size only": by_size.predict(np.concatenate([size, rows.device[:, :4]], axis=1)),
        "analytical model alone": rows.analytic[:, 0],
    }
    parts: dict[str, Callable[[Members], Members]] = {
        "boosted trees": lambda members: replace(members, networks=(), pieced=()),
        "cost networks": lambda members: replace(members, forests=()),
    }
    for name, part in parts.items():
        alone = replace(ensemble, source=part(ensemble.source), compiled=part(ensemble.compiled))
        found[name] = _estimate(alone, rows, judged, has_code=False)
    found["shipped, from source"] = _estimate(ensemble, rows, judged, has_code=False)
    found["shipped, compiled"] = _estimate(ensemble, rows, judged, has_code=True)
    bound = {name: np.maximum(log2_us, least) for name, log2_us in found.items() if name != "launch size only"}
    return found | bound


def _estimate(ensemble: Ensemble, rows: Rows, chosen: Ints, *, has_code: bool) -> Floats:
    found = np.full(len(rows.log2_us), np.nan, np.float32)
    for part in np.array_split(chosen, max(1, len(chosen) // 5_000)):
        found[part] = ensemble.estimate(facts_at(rows, part, has_code=has_code)).log2_us
    return found


def main_table(rows: Rows, predicted: Predicted) -> list[Line]:
    lines = []
    for split in SPLITS:
        chosen = rows.judged(split)
        for device in ("all", *np.unique(rows.device_name)):
            own = chosen if device == "all" else chosen[rows.device_name[chosen] == device]
            lines += [
                Line(who, split, str(device), figures_of(log2_us[own], rows.log2_us[own]))
                for who, log2_us in predicted.items()
            ]
    return lines


def group_table(rows: Rows, predicted: Floats, groups: tuple[str, ...]) -> list[Line]:
    """Of what programmers look under: reductions, scans ...; kernels that were held out, of whatever split."""
    held_out = rows.judged(*SPLITS)
    return [
        Line(group, "held out", "all", figures_of(predicted[own], rows.log2_us[own]))
        for group in groups
        for own in [held_out[rows.group[held_out] == group]]
    ]


@dataclass(frozen=True, slots=True)
class Coverage:
    """Of the measured times, percent between p10 and p90; `width` is p90 / p10 in the median."""

    who: str
    split: str
    rows: int
    inside: float
    width: float


def coverage_table(rows: Rows, ensemble: Ensemble) -> list[Coverage]:
    lines = []
    for has_code in (False, True):
        margins = ensemble.compiled_margins if has_code else ensemble.source_margins
        for split in SPLITS:
            chosen = rows.judged(split)
            said = ensemble.estimate(facts_at(rows, chosen, has_code=has_code))
            middle, least = np.maximum(said.log2_us, rows.analytic[chosen, 1]), rows.analytic[chosen, 1]
            low = np.maximum(middle - margins.below * said.spread, least)
            high = middle + margins.above * said.spread
            inside = (low <= rows.log2_us[chosen]) & (rows.log2_us[chosen] <= high)
            who = "compiled" if has_code else "from source"
            width = float(np.exp2(np.median(high - low)))
            lines.append(Coverage(who, split, len(chosen), 100 * float(inside.mean()), width))
    return lines


def unseen_runtime_table(rows: Rows, runtimes: dict[str, str], recipe: Recipe, novelty: Novelty) -> list[Line]:
    """Trained without one runtime, told nothing of it but its calibrated profile; then with some kernels measured.

    `runtimes` maps what the names of devices begin with to the name of the runtime. No part of the model knows the
    runtime's name: both are "other", for which forests and the analytical model answer (see
    `model.learned.ensemble`). `novelty` knows no times.
    """
    lines = []
    truth, launches = rows.log2_us, launches_of(rows, novelty)
    inputs = source_inputs(rows.launch, rows.analytic, rows.device)
    inputs[:, [INPUT_NAMES.index(name) for name in ("shape.is_pocl", "shape.is_intels")]] = 0.0
    of_no_name = (OTHER + rows.runtime % 2).astype(np.int64)
    train, test = rows.where("train"), rows.judged(*SPLITS)
    for start, name in runtimes.items():
        own_names = np.array([each.rpartition("/")[2] for each in rows.device_name])
        theirs = np.char.startswith(own_names, start)
        seen, unseen = train[~theirs[train]], test[theirs[test]]
        forest = _forest_of(rows, inputs, of_no_name, seen, recipe)
        whole = mostly_analytic(forest, rows.analytic[:, 0], of_no_name)
        said = {"analytical model alone": rows.analytic[:, 0], "forests alone": forest, "calibrated only": whole}
        bound = {who: np.maximum(each, rows.analytic[:, 1]) for who, each in said.items()}
        lines += [
            Line(f"{name}: {who}", "unseen runtime", "all", figures_of(each[unseen], truth[unseen]))
            for who, each in bound.items()
        ]
        for shots in SHOTS:
            found = few_shot(rows, bound["calibrated only"], truth, launches, train[theirs[train]], unseen, shots)
            lines.append(Line(f"{name}: {shots} kernels measured", "unseen runtime", "all", found))
    return lines


def unseen_machine_table(rows: Rows, recipe: Recipe, novelty: Novelty) -> list[Line]:
    """Train without each machine in turn, test on it from its calibrated profile alone; beside training with it.

    Then as calibration ends: with `CALIBRATION_KERNELS` of its kernels in training measured, one launch each. A machine
    is what stands before the `/` in its devices' names, hosts of one type counting as one; the first one has no name.
    Both models are boosted trees over plain prices: what ships without its networks, which take ten times as long to
    train. `novelty` knows no times.
    """
    lines: list[Line] = []
    machine = np.array([_machine_type(name) for name in rows.device_name])
    names = np.unique(machine)
    if len(names) < 2:
        return lines
    train, test = rows.where("train"), rows.judged(*SPLITS)
    inputs, launches = source_inputs(rows.launch, rows.analytic, rows.device), launches_of(rows, novelty)
    known = np.maximum(_forest_of(rows, inputs, rows.runtime, train, recipe), rows.analytic[:, 1])
    for name in names:
        theirs = machine == name
        unseen = np.maximum(_forest_of(rows, inputs, rows.runtime, train[~theirs[train]], recipe), rows.analytic[:, 1])
        said = {"analytical model alone": rows.analytic[:, 0], "trained without it": unseen, "trained with it": known}
        for split in SPLITS:
            own = test[theirs[test] & (rows.split[test] == split)]
            if not len(own):
                continue
            found = {who: figures_of(each[own], rows.log2_us[own]) for who, each in said.items()}
            who = f"trained without it, {CALIBRATION_KERNELS} kernels measured"
            pool = train[theirs[train]]
            found[who] = few_shot(rows, unseen, rows.log2_us, launches, pool, own, CALIBRATION_KERNELS)
            lines += [Line(f"{name or FIRST_MACHINE}: {who}", split, "all", figures) for who, figures in found.items()]
    return lines


def _machine_type(device_name: str) -> str:
    """Return the machine without the letter by which hosts of one type differ: `epyc-4b/pocl` is of `epyc-4`."""
    return device_name.rpartition("/")[0].rstrip(ascii_lowercase)


def _forest_of(rows: Rows, inputs: Floats, runtime: Ints, seen: Ints, recipe: Recipe) -> Floats:
    """Train plain prices and trees on the rows `seen`; log2 us of all rows."""
    given = CostRows(
        inputs[seen], rows.terms[seen], rows.analytic[seen], runtime[seen], rows.log2_us[seen], rows.weight[seen]
    )
    plain = train_costs(given, plain_recipe(recipe)).log2_us(inputs, rows.terms, rows.analytic, runtime)
    facts = forest_inputs(inputs, plain, rows.analytic)
    residual = rows.log2_us[seen] - plain[seen]
    return plain + grow(facts[seen], residual, rows.weight[seen], recipe.forests).predict(facts)
