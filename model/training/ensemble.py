"""Trains what ships (`model.learned.ensemble`): members, then how far they are off, then the margins of intervals.

How far the members are off is learned from kernels that they were not trained on: members of fewer epochs and trees,
trained without a quarter of the families at a time, answer for that quarter.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from model.learned.cost_network import FARTHEST, OTHER, CostNetwork
from model.learned.ensemble import Ensemble, Facts, Margins, Members, forest_inputs, spread_inputs, together
from model.learned.forest import Forest
from model.learned.inputs import INPUT_NAMES, compiled_inputs, source_inputs
from model.learned.novelty import Novelty
from model.training.boosting import Boosting, grow
from model.training.checkpoints import Kept
from model.training.costs import CostRecipe, CostRows, train_costs
from model.training.rows import Floats, Ints, Rows

_RUNTIME_FLAGS = [INPUT_NAMES.index(name) for name in ("shape.is_pocl", "shape.is_intels")]
_POINTS = 4096  # launches in training that novelty is measured from
_DIMENSIONS = 24
_PIECED: dict[str, Any] = {"pieces": 6, "width": 384, "directions": 24, "epochs": 20, "dropout": 0.2}
_FORESTS: dict[str, Any] = {"rounds": 500, "learning_rate": 0.07, "num_leaves": 127, "min_data_in_leaf": 30}
_SPREAD: dict[str, Any] = {
    "rounds": 150, "objective": "quantile", "alpha": 0.8, "num_leaves": 31, "min_data_in_leaf": 200
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Recipe:
    """`unnamed` is the share of rows seen once more without the runtime's name: for runtimes that nobody measured."""

    networks: CostRecipe = field(default_factory=CostRecipe)
    pieced: CostRecipe = field(default_factory=lambda: CostRecipe(**_PIECED))
    forests: Boosting = field(default_factory=lambda: Boosting(**_FORESTS))
    spread: Boosting = field(default_factory=lambda: Boosting(**_SPREAD))
    members: int = 2  # of networks and of forests; those of pieces are large, and one will do
    folds: int = 4
    unnamed: float = 0.15
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class _Matter:
    """Rows as members take them: `source` and `compiled` are [rows, inputs], `plain` what the prices alone say."""

    rows: Rows
    source: Floats
    compiled: Floats
    prices: CostNetwork
    plain: Floats


def train_ensemble(
    rows: Rows, recipe: Recipe, say: Callable[[str], None] = print, parts: Path | None = None
) -> Ensemble:
    """From the rows of split `train`; `validation` sets the margins. The same for the same seed.

    What is finished is kept in `parts`, from where a stopped run goes on.
    """
    kept = Kept.of(parts, rows, recipe) if parts is not None else Kept()
    train = rows.where("train")
    source = source_inputs(rows.launch, rows.analytic, rows.device)
    matter = _matter(rows, train, source, recipe, kept, "prices")
    say("plain prices are set")
    members = _members(matter, matter.source, train, recipe, "source", say, kept)
    coded = train[~np.isnan(rows.compiled[train]).all(axis=1)]
    compiled = _members(matter, matter.compiled, coded, recipe, "compiled", say, kept)
    novelty = _novelty(rows, train)
    spread = _spread(rows, source, train, novelty, recipe, say, kept)
    none = Margins(1.0, 1.0)
    ensemble = Ensemble(matter.prices, members, compiled, spread, novelty, none, none)
    return replace(
        ensemble,
        source_margins=_margins(ensemble, rows, has_code=False),
        compiled_margins=_margins(ensemble, rows, has_code=True),
    )


def facts_at(rows: Rows, chosen: Ints, *, has_code: bool) -> Facts:
    """As the ensemble takes them; without what compilers made unless `has_code`."""
    compiled = rows.compiled[chosen]
    return Facts(
        rows.launch[chosen], rows.analytic[chosen], rows.device[chosen], compiled if has_code else compiled * np.nan
    )


def _matter(rows: Rows, train: Ints, source: Floats, recipe: Recipe, kept: Kept, name: str) -> _Matter:
    seen = _with_unnamed(rows, source, train, recipe)
    prices = kept.network(name, lambda hear: train_costs(seen, plain_recipe(recipe), hear))
    compiled = compiled_inputs(source, rows.compiled)
    return _Matter(rows, source, compiled, prices, prices.log2_us(source, rows.terms, rows.analytic, rows.runtime))


def plain_recipe(recipe: Recipe) -> CostRecipe:
    """Of prices that are the same whatever surrounds the operations."""
    return replace(recipe.networks, directions=0, epochs=min(12, recipe.networks.epochs))


def _with_unnamed(rows: Rows, inputs: Floats, chosen: Ints, recipe: Recipe) -> CostRows:
    again = np.random.default_rng(recipe.seed).choice(chosen, int(recipe.unnamed * len(chosen)), replace=False)
    both = np.concatenate([chosen, again])
    seen = inputs[both]
    seen[len(chosen) :, _RUNTIME_FLAGS] = 0.0
    runtime = rows.runtime[both]
    runtime[len(chosen) :] = OTHER + runtime[len(chosen) :] % 2
    return CostRows(seen, rows.terms[both], rows.analytic[both], runtime, rows.log2_us[both], rows.weight[both])


def _members(
    matter: _Matter, inputs: Floats, chosen: Ints, recipe: Recipe, name: str, say: Callable[[str], None], kept: Kept
) -> Members:
    def network(kind: str, rows: CostRows, own: CostRecipe, member: int) -> CostNetwork:
        own = replace(own, seed=recipe.seed + member)
        found = kept.network(f"{name} {kind} {member}", lambda hear: train_costs(rows, own, hear))
        say(f"{kind} {member + 1} is trained ({name})")
        return found

    def trees(rows: CostRows, member: int) -> Forest:
        plain = matter.prices.log2_us(rows.inputs[:, : len(INPUT_NAMES)], rows.terms, rows.analytic, rows.runtime)
        facts, own = (
            forest_inputs(rows.inputs, plain, rows.analytic),
            replace(recipe.forests, seed=recipe.seed + member),
        )
        found = kept.forest(f"{name} trees {member}", lambda: grow(facts, rows.log2_us - plain, rows.weight, own))
        say(f"trees {member + 1} are grown ({name})")
        return found

    networks: list[CostNetwork] = []
    forests: list[Forest] = []
    pieced = network("network of pieces", _with_unnamed(matter.rows, inputs, chosen, recipe), recipe.pieced, member=0)
    for member in range(recipe.members):
        seen = _with_unnamed(matter.rows, inputs, chosen, replace(recipe, seed=recipe.seed + member))
        networks.append(network("network", seen, recipe.networks, member))
        forests.append(trees(seen, member))
    return Members(tuple(networks), (pieced,), tuple(forests))


def _novelty(rows: Rows, train: Ints) -> Novelty:
    """Places are what varies most among launches in training (principal components of their facts)."""
    _, first = np.unique(rows.kernel[train], return_index=True)
    own = rows.launch[train[first]]  # [kernels, facts]
    mean, deviation = own.mean(axis=0), own.std(axis=0)
    per_deviation = np.where(deviation > 0, 1 / (deviation + 1e-3), 0).astype(np.float32)
    normal = np.clip((own - mean) * per_deviation, -FARTHEST, FARTHEST)
    _, vectors = np.linalg.eigh(np.cov(normal.T))
    directions = np.ascontiguousarray(vectors[:, ::-1].T[:_DIMENSIONS], dtype=np.float32)
    new = Novelty(mean, per_deviation, directions, np.zeros((1, _DIMENSIONS), np.float32), 0.0, 1.0)
    order = np.argsort([zlib.crc32(kernel.encode()) for kernel in rows.kernel[train[first]]])[:_POINTS]
    new = replace(new, seen=new.places(own[order]))
    known, held_out = (new.distances(new.places(rows.launch[rows.judged(split)])) for split in ("known", "validation"))
    return replace(new, near=float(np.median(known)), far=float(np.quantile(held_out, 0.98)))


def _spread(
    rows: Rows,
    source: Floats,
    train: Ints,
    novelty: Novelty,
    recipe: Recipe,
    say: Callable[[str], None],
    kept: Kept,
) -> Forest:
    """Return the 80th percentile of the error [octaves]."""
    fold = np.array([zlib.crc32(family.encode()) % recipe.folds for family in rows.family[train]])
    shorter = replace(
        recipe, members=1, networks=replace(recipe.networks, epochs=max(1, recipe.networks.epochs // 2)),
        pieced=replace(recipe.pieced, epochs=max(1, recipe.pieced.epochs // 2)),
        forests=replace(recipe.forests, rounds=max(1, recipe.forests.rounds // 2)),
    )  # fmt: skip
    error = np.zeros(len(train), np.float32)
    apart = np.zeros(len(train), np.float32)
    for at in range(recipe.folds):
        inside, outside = train[fold != at], train[fold == at]
        if not (len(inside) and len(outside)):
            continue
        name = f"fold {at + 1} of {recipe.folds}"
        matter = _matter(rows, inside, source, shorter, kept, f"{name} prices")
        members = _members(matter, source, inside, shorter, name, say, kept)
        where = rows.terms[outside], rows.analytic[outside], rows.runtime[outside]
        found, apart[fold == at] = together(members, source[outside], *where, matter.plain[outside])
        found = np.maximum(found, rows.analytic[outside, 1])
        error[fold == at] = np.abs(found - rows.log2_us[outside])
    facts = spread_inputs(source[train], apart, novelty.of(novelty.places(rows.launch[train])))
    return grow(facts, error, rows.weight[train], recipe.spread)


def _margins(ensemble: Ensemble, rows: Rows, *, has_code: bool) -> Margins:
    """Return margins that put a tenth of the launches of held-out families below p10, and a tenth above p90.

    New code is more like theirs than like kernels of families in training.
    """
    chosen = rows.judged("validation")
    if has_code:
        chosen = chosen[~np.isnan(rows.compiled[chosen]).all(axis=1)]
    said = ensemble.estimate(facts_at(rows, chosen, has_code=has_code))
    scaled = (rows.log2_us[chosen] - np.maximum(said.log2_us, rows.analytic[chosen, 1])) / said.spread
    # Where all held-out kernels are off to one side, an interval still has its middle between its ends.
    return Margins(max(0.0, float(-np.quantile(scaled, 0.1))), max(0.0, float(np.quantile(scaled, 0.9))))
