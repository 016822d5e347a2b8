"""Variants of the boosted trees, compared on rows in training alone: held-out rows have no say in the recipe.

Whole families and packages are left out in turn. Two harder questions stand beside: trained on launches that are short
by the analytical model, asked about long ones; and trained without a machine, asked about it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from model.learned.ensemble import forest_inputs
from model.learned.inputs import INPUT_NAMES, source_inputs
from model.learned.launch_facts import AMOUNTS, LEAST
from model.training.boosting import Boosting, grow
from model.training.costs import CostRecipe, CostRows, train_costs
from model.training.rows import Flags, Floats, Ints, Rows, Texts

Doubles = npt.NDArray[np.float64]
FOLDS = 3
SHORT_MS, LONG_MS = 3.0, 10.0  # analytical times: training ends below the first, the question begins at the second
DRAWS = 1000  # of the bootstrap
FIRST_MACHINE = "four processors"
_MOST_OCTAVES = 4.0  # an error counts at most so much in the root mean square
_MS = np.log2(1e3).astype(np.float32)
_ITEMS, _UNITS = INPUT_NAMES.index("log.items"), INPUT_NAMES.index("shape.compute_units")  # both log2


@dataclass(frozen=True, slots=True)
class Variant:
    """`against`: what the trees correct, one of `analytic`, `plain prices`, `work-items`, `nothing`.

    `per_origin`: a row weighs its family's or package's number of rows to the power of minus that. `shares`: amounts
    as shares of a work-item's largest; `device`: `alone or not` instead of how many
    units it has, or `all` that is known of it; `seeds` forests are averaged.
    """

    name: str
    against: str = "analytic"
    per_origin: float = 0.0
    shares: bool = False
    device: str = ""
    seeds: int = 1
    boosting: Mapping[str, str | float] = field(default_factory=dict)


VARIANTS = (
    Variant("against the analytical model"),
    Variant("against plain prices, as shipped", against="plain prices"),
    Variant("against the work-items", against="work-items"),
    Variant("against nothing", against="nothing"),
    Variant("amounts as shares", shares=True),
    Variant("with all facts of the device", device="all"),
    Variant("the device alone or not, whatever its units", device="alone or not"),
    Variant("families and packages by the root of their size", per_origin=0.5),
    Variant("families and packages alike", per_origin=1.0),
    Variant("squared error", boosting={"objective": "l2"}),
    Variant("Huber's loss", boosting={"objective": "huber", "alpha": 0.7}),
    Variant("mean of three", seeds=3),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """`gain`: points of within 2x above the first variant, and the ends of its 95 % by resampled families or packages.

    `bias` is predicted / measured in the median; `rms` in octaves.
    """

    variant: str
    question: str
    rows: int
    median_ape: float
    within_2x: float
    rms: float
    bias: float
    gain: tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    name: str
    parts: tuple[tuple[Ints, Ints], ...]  # trained on, asked about


def compare(
    rows: Rows,
    packages: Flags,
    boosting: Boosting,
    prices: CostRecipe,
    variants: tuple[Variant, ...] = VARIANTS,
    say: Callable[[str], None] = print,
) -> list[Verdict]:
    """Return how the variants compare.

    `packages` [rows] marks those of real packages; `prices` is the recipe of plain prices.
    """
    origin = np.where(packages, rows.origin, rows.family)
    questions = list(_questions(rows, packages, origin))
    verdicts: list[Verdict] = []
    first: dict[str, Doubles] = {}
    for variant in variants:
        for question in questions:
            asked = np.concatenate([test for _, test in question.parts])
            said = np.concatenate([_said(rows, variant, origin, *part, boosting, prices) for part in question.parts])
            error = np.maximum(said, rows.analytic[asked, 1]) - rows.log2_us[asked]
            close = (np.abs(error) <= 1).astype(np.float64)
            gain = _gain(close - first.setdefault(question.name, close), origin[asked])
            verdicts.append(_verdict(variant.name, question.name, error, gain))
        say(f"{variant.name}: compared")
    return verdicts


def _questions(rows: Rows, packages: Flags, origin: Texts) -> Iterator[_Question]:
    train, judged = rows.where("train"), rows.judged("train")
    numbers = {name: zlib.crc32(str(name).encode()) % FOLDS for name in np.unique(origin)}
    fold = np.array([numbers[name] for name in origin])
    machine = np.array([name.rpartition("/")[0] for name in rows.device_name])
    analytic_ms = np.exp2(rows.analytic[:, 0] - _MS)
    anything = np.ones(len(origin), np.bool_)

    def question(name: str, given: Flags, asked: Flags) -> _Question:
        both = [(train[given[train] & (fold[train] != at)], judged[asked[judged] & (fold[judged] == at)])
                for at in range(FOLDS)]  # fmt: skip
        return _Question(name, tuple((a, b) for a, b in both if len(a) and len(b)))

    found = [
        question("families left out", anything, ~packages),
        question("packages left out", anything, packages),
        question("long launches, trained on short ones", analytic_ms < SHORT_MS, analytic_ms >= LONG_MS),
    ]
    names = np.unique(machine)
    if len(names) > 1:
        found += [question(f"{name or FIRST_MACHINE}, trained without it", machine != name, machine == name)
                  for name in names]  # fmt: skip
    return (each for each in found if each.parts)


def _said(
    rows: Rows, variant: Variant, origin: Texts, given: Ints, asked: Ints, boosting: Boosting, prices: CostRecipe
) -> Floats:
    """log2 us of the rows `asked`, from those `given`."""
    inputs = source_inputs(rows.launch, rows.analytic, rows.device)
    both = np.concatenate([given, asked])
    base, facts = _base(rows, variant, inputs, given, both, prices), inputs[both]
    if variant.against == "plain prices":
        facts = forest_inputs(facts, base, rows.analytic[both])
    if variant.shares:
        facts[:, : len(AMOUNTS)] = _shares(facts[:, : len(AMOUNTS)])
    if variant.device == "alone or not":
        facts[:, _UNITS] = np.sign(facts[:, _UNITS])
    elif variant.device == "all":
        facts = np.concatenate([facts, rows.device[both]], axis=1)
    weight = rows.weight[given] * _of_origin(origin[given], variant.per_origin)
    count = len(given)
    target = rows.log2_us[given] - base[:count]
    recipe = replace(boosting, **variant.boosting)  # type: ignore[arg-type]
    forests = [grow(facts[:count], target, weight, replace(recipe, seed=seed)) for seed in range(variant.seeds)]
    found: Floats = base[count:] + np.mean([forest.predict(facts[count:]) for forest in forests], axis=0)
    return found


def _base(rows: Rows, variant: Variant, inputs: Floats, given: Ints, both: Ints, prices: CostRecipe) -> Floats:
    """log2 us of the rows `both`, before the trees."""
    analytic: Floats = rows.analytic[both, 0]
    bases: dict[str, Floats] = {"analytic": analytic, "work-items": inputs[both, _ITEMS], "nothing": 0 * analytic}
    if variant.against != "plain prices":
        return bases[variant.against]
    seen = CostRows(
        inputs[given],
        rows.terms[given],
        rows.analytic[given],
        rows.runtime[given],
        rows.log2_us[given],
        rows.weight[given],
    )
    net = train_costs(seen, prices)
    plain: Floats = net.log2_us(inputs[both], rows.terms[both], rows.analytic[both], rows.runtime[both])
    return plain


def _shares(amounts: Floats) -> Floats:
    """log2 of each amount of a work-item [rows, AMOUNTS] against the largest."""
    plain = np.exp2(amounts) - np.float32(LEAST)
    most = np.maximum(plain.max(axis=1, keepdims=True), 1)
    found: Floats = np.log2(plain / most + np.float32(LEAST)).astype(np.float32)
    return found


def _of_origin(origin: Texts, power: float) -> Floats:
    """[rows], 1 in the mean."""
    _, place, count = np.unique(origin, return_inverse=True, return_counts=True)
    weight = count[place] ** -power
    found: Floats = (weight / weight.mean()).astype(np.float32)
    return found


def _verdict(variant: str, question: str, error: Floats, gain: tuple[float, float, float]) -> Verdict:
    return Verdict(
        variant,
        question,
        len(error),
        100 * float(np.median(np.abs(np.exp2(error) - 1))),
        100 * float((np.abs(error) <= 1).mean()),
        float(np.sqrt((np.clip(error, -_MOST_OCTAVES, _MOST_OCTAVES) ** 2).mean())),
        float(np.exp2(np.median(error))),
        gain,
    )


def _gain(difference: Doubles, origin: Texts) -> tuple[float, float, float]:
    """Points, and the ends of the interval: families and packages are drawn, with all of their rows."""
    _, place = np.unique(origin, return_inverse=True)
    total, count = np.bincount(place, difference), np.bincount(place)
    drawn = np.random.default_rng(0).integers(0, len(total), (DRAWS, len(total)))
    means = 100 * total[drawn].sum(axis=1) / count[drawn].sum(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return 100 * float(difference.mean()), float(low), float(high)
