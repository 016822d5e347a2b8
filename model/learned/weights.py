"""An ensemble as named arrays and a description, and back: what the safetensors file holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from model.learned.compiled_facts import COMPILED_FACT_NAMES
from model.learned.cost_network import CostNetwork
from model.learned.device_facts import DEVICE_FACT_NAMES
from model.learned.ensemble import Ensemble, Margins, Members
from model.learned.forest import Forest
from model.learned.launch_facts import LAUNCH_FACT_NAMES
from model.learned.novelty import Novelty
from model.learned.question import ANALYTIC_FACT_NAMES

Arrays = dict[str, npt.NDArray[Any]]
KIND, FILE_NAME, VERSION = "ensemble", "ensemble.safetensors", 5
_OF_NETWORK = ("mean", "per_deviation", "piece_of", "start", "per_length", "runtime", "prices")
_FACTS = {
    "launch": LAUNCH_FACT_NAMES,
    "analytic": ANALYTIC_FACT_NAMES,
    "device": DEVICE_FACT_NAMES,
    "compiled": COMPILED_FACT_NAMES,
}


def arrays_of(ensemble: Ensemble) -> tuple[Arrays, dict[str, Any]]:
    """Arrays by name, and what is no array."""
    arrays = _network(ensemble.prices, "prices.") | _forest(ensemble.spread, "spread.")
    for name, members in (("source", ensemble.source), ("compiled", ensemble.compiled)):
        for at, network in enumerate(members.networks):
            arrays |= _network(network, f"{name}.network.{at}.")
        for at, network in enumerate(members.pieced):
            arrays |= _network(network, f"{name}.pieced.{at}.")
        for at, forest in enumerate(members.forests):
            arrays |= _forest(forest, f"{name}.forest.{at}.")
    new = ensemble.novelty
    arrays |= {f"novelty.{n}": getattr(new, n) for n in ("mean", "per_deviation", "directions", "seen")}
    description = {
        "kind": KIND,
        "file": FILE_NAME,
        "version": VERSION,
        "facts": {name: list(names) for name, names in _FACTS.items()},
        "novelty": [new.near, new.far],
        "margins": [
            [each.below, each.above] for each in (ensemble.source_margins, ensemble.compiled_margins)
        ],
    }  # fmt: skip
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}, description


def ensemble_from(arrays: Mapping[str, npt.NDArray[Any]], description: Mapping[str, Any]) -> Ensemble:
    """Build the ensemble. Raises ValueError or KeyError for what is none, or has other features than this version's."""
    if description.get("version") != VERSION:
        raise ValueError("an ensemble of another version")
    for name, names in _FACTS.items():
        if tuple(description["facts"][name]) != names:
            raise ValueError(f"trained on other facts of `{name}`")
    near, far = description["novelty"]
    source, compiled = (Margins(float(below), float(above)) for below, above in description["margins"])
    return Ensemble(
        prices=_as_network(arrays, "prices."),
        source=_as_members(arrays, "source."),
        compiled=_as_members(arrays, "compiled."),
        spread=_as_forest(arrays, "spread."),
        novelty=Novelty(
            mean=arrays["novelty.mean"],
            per_deviation=arrays["novelty.per_deviation"],
            directions=arrays["novelty.directions"],
            seen=arrays["novelty.seen"],
            near=float(near),
            far=float(far),
        ),
        source_margins=source,
        compiled_margins=compiled,
    )


def _network(network: CostNetwork, at: str) -> Arrays:
    plain: Arrays = {f"{at}{n}": getattr(network, n) for n in _OF_NETWORK}
    for number, (weight, bias) in enumerate(network.layers):
        plain |= {f"{at}{number}.weight": weight.astype(np.float16), f"{at}{number}.bias": bias}
    return plain


def _as_network(arrays: Mapping[str, npt.NDArray[Any]], at: str) -> CostNetwork:
    count = sum(name.startswith(at) and name.endswith(".weight") for name in arrays)
    weights = (arrays[f"{at}{n}.weight"].astype(np.float32) for n in range(count))
    layers = tuple((weight, arrays[f"{at}{n}.bias"]) for n, weight in enumerate(weights))
    return CostNetwork(layers=layers, **{name: arrays[f"{at}{name}"] for name in _OF_NETWORK})


def _forest(forest: Forest, at: str) -> Arrays:
    """Children and features are small numbers within a tree; values need no more than half precision."""
    sizes = np.diff([*forest.roots, len(forest.value)])
    start = np.repeat(forest.roots, sizes)
    return {
        f"{at}sizes": sizes.astype(np.int32),
        f"{at}feature": forest.feature.astype(np.int16),
        f"{at}threshold": forest.threshold,
        f"{at}left": (forest.left - start).astype(np.int16),
        f"{at}right": (forest.right - start).astype(np.int16),
        f"{at}nan_left": forest.nan_left,
        f"{at}value": forest.value.astype(np.float16),
        f"{at}rest": np.array([forest.baseline, forest.depth], np.float32),
    }


def _as_forest(arrays: Mapping[str, npt.NDArray[Any]], at: str) -> Forest:
    sizes = arrays[f"{at}sizes"]
    roots = np.cumsum([0, *sizes[:-1]]).astype(np.int32)
    start = np.repeat(roots, sizes)
    baseline, depth = arrays[f"{at}rest"]
    return Forest(
        roots=roots,
        feature=arrays[f"{at}feature"].astype(np.int32),
        threshold=arrays[f"{at}threshold"],
        left=arrays[f"{at}left"].astype(np.int32) + start,
        right=arrays[f"{at}right"].astype(np.int32) + start,
        nan_left=arrays[f"{at}nan_left"],
        value=arrays[f"{at}value"].astype(np.float32),
        baseline=float(baseline),
        depth=int(depth),
    )


def _as_members(arrays: Mapping[str, npt.NDArray[Any]], at: str) -> Members:
    def places(kind: str) -> list[str]:
        numbers = {int(name.removeprefix(f"{at}{kind}.").split(".")[0]) for name in arrays if f"{at}{kind}." in name}
        return [f"{at}{kind}.{number}." for number in sorted(numbers)]

    return Members(
        networks=tuple(_as_network(arrays, place) for place in places("network")),
        pieced=tuple(_as_network(arrays, place) for place in places("pieced")),
        forests=tuple(_as_forest(arrays, place) for place in places("forest")),
    )
