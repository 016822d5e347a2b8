"""A launch's time as a sum: what it executes and touches, each at a price that a small network sets from the facts.

time = floor + sum over terms of amount x price, with the laws' times of resources among the terms. Each runtime has its
prices; what surrounds the operations (all the launch's facts) raises or lowers them together, along a few directions.
So the sum keeps its shape where sizes grow beyond those in training. Counts with fitted prices after Stevens &
Kloeckner (arXiv 1904.09538); here the prices are not constants. Trained by `model.training.costs`; numpy is enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from model.learned.launch_facts import AMOUNTS, LAUNCH_FACT_NAMES, LEAST

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

FARTHEST = 6.0  # standard deviations: inputs farther out than training's say no more than this
MOST_OCTAVES = 4.0  # by which a price is raised or lowered
NOTHING = -40.0  # log2 of an amount that is not there
_SIZES = ("log.groups", "log.active_groups", "log.items", "log.footprint")
_PER_GROUP = "log.group_barriers"
TERMS = (*AMOUNTS, *_SIZES, _PER_GROUP)
_AMOUNTS = slice(0, len(AMOUNTS))
_AT = [LAUNCH_FACT_NAMES.index(name) for name in (*_SIZES, _PER_GROUP)]
RUNTIMES = ("pocl", "pocl on one core", "intel", "intel on one core", "other", "other on one core")
OTHER = RUNTIMES.index("other")


@dataclass(frozen=True, slots=True, eq=False)
class CostNetwork:
    """`prices` [runtimes, terms + laws + 1], log2; the last is the floor. `layers` are (weight [out, in], bias [out]).

    Into the first layer go the inputs' distances from what is normal, how much of each piece of an input's range lies
    below it (`piece_of` [pieces] names the input; Gorishniy et al., "On embeddings for numerical features", 2022), and
    `runtime` [runtimes, 8].
    """

    mean: Floats
    per_deviation: Floats
    piece_of: Ints
    start: Floats
    per_length: Floats
    runtime: Floats
    layers: tuple[tuple[Floats, Floats], ...]
    prices: Floats

    def log2_us(self, inputs: Floats, terms: Floats, laws: Floats, runtime: Ints) -> Floats:
        """[rows, inputs], [rows, TERMS], [rows, law facts], [rows] -> [rows]; below no roofline yet."""
        found: Floats = log2_us_each((self,), inputs, terms, laws, runtime)[0]
        return found

    @property
    def shape(self) -> tuple[tuple[int, ...], ...]:
        return self.mean.shape, self.piece_of.shape, *(weight.shape for weight, _ in self.layers)

    def is_alike(self, other: CostNetwork) -> bool:
        """Whether both see the same in an input: networks that were trained on the same rows do."""
        seen = ("mean", "per_deviation", "piece_of", "start", "per_length")
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in seen)

    def seen(self, inputs: Floats) -> Floats:
        """[rows, inputs] -> [rows, inputs + pieces]; what is unknown is taken for normal, and for below all pieces."""
        normal = (inputs - self.mean) * self.per_deviation
        normal = _between(_known(normal), -FARTHEST, FARTHEST)
        if not len(self.piece_of):
            return normal
        below = _known(_between((inputs[:, self.piece_of] - self.start) * self.per_length, 0.0, 1.0))
        return np.concatenate([normal, below], axis=1, dtype=np.float32)


def log2_us_each(
    networks: tuple[CostNetwork, ...], inputs: Floats, terms: Floats, laws: Floats, runtime: Ints
) -> Floats:
    """As `CostNetwork.log2_us`, of each: [networks, rows]. Those of one shape are worked out in one go."""
    amounts = np.concatenate([terms, laws[:, 1:], np.zeros((len(laws), 1), np.float32)], axis=1)
    stack = _stacked(networks)
    if stack is None:
        return np.concatenate([log2_us_each((net,), inputs, terms, laws, runtime) for net in networks])
    times = amounts + stack.prices[:, runtime]  # [networks, rows, terms + laws + 1]
    shift: Floats | float = 0.0
    if stack.layers:
        seen = [net.seen(inputs) for net in networks[: 1 if stack.is_alike else None]]
        own = np.broadcast_to(np.stack(seen), (len(networks), *seen[0].shape))
        x = np.concatenate([own, stack.runtime[:, runtime]], axis=2)  # [networks, rows, what they see]
        for at, (weight, bias) in enumerate(stack.layers):
            x = np.matmul(x, weight) + bias
            if at < len(stack.layers) - 2:
                x = _gelu(x)
        times += MOST_OCTAVES * np.tanh(x[..., :-1] * np.float32(1 / MOST_OCTAVES))
        shift = x[..., -1]
    most = times.max(axis=2)
    found: Floats = most + np.log2(np.exp2(times - most[..., None]).sum(axis=2)) + shift
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Stack:
    """Several networks of one shape: prices, runtimes and layers with the networks in front, weights as [in, out]."""

    prices: Floats
    runtime: Floats
    layers: tuple[tuple[Floats, Floats], ...]
    is_alike: bool


@lru_cache(8)
def _stacked(networks: tuple[CostNetwork, ...]) -> _Stack | None:
    """None where their shapes differ."""
    first = networks[0]
    if any(net.shape != first.shape or net.prices.shape != first.prices.shape for net in networks):
        return None
    return _Stack(
        np.stack([net.prices for net in networks]),
        np.stack([net.runtime for net in networks]),
        tuple(
            (
                np.stack([np.ascontiguousarray(weight.T) for weight, _ in layers]),
                np.stack([bias for _, bias in layers])[:, None],
            )
            for layers in zip(*(net.layers for net in networks), strict=True)
        ),
        all(net.is_alike(first) for net in networks),
    )


def _known(values: Floats) -> Floats:
    """With 0 for what is unknown. `np.nan_to_num` takes longer than all else that is done with a row."""
    found: Floats = np.where(np.isnan(values), np.float32(0), values)
    return found


def _between(values: Floats, least: float, most: float) -> Floats:
    found: Floats = np.minimum(np.maximum(values, np.float32(least)), np.float32(most))
    return found


def _gelu(x: Floats) -> Floats:
    """The tangent's approximation (Hendrycks & Gimpel, arXiv 1606.08415)."""
    found: Floats = 0.5 * x * (1 + np.tanh(x * (0.7978846 + 0.7978846 * 0.044715 * x * x)))
    return found


def terms_of(launch: Floats, flops: Floats) -> Floats:
    """log2 of the launch's totals [rows, TERMS], from its facts [rows, launch facts].

    `flops` [rows], log2 of what the device computes: amounts are in its own measure, so that prices hold for machines
    with more or faster cores.
    """
    items = launch[:, [_AT[2]]]
    amounts = np.log2(np.maximum(np.exp2(launch[:, _AMOUNTS]) - LEAST, 2.0**NOTHING)) + items
    sizes = np.log2(np.maximum(np.exp2(launch[:, _AT]) - 1, 2.0**NOTHING))
    sizes[:, -1] += sizes[:, 0]  # barriers of a group, times the groups
    found: Floats = np.concatenate([amounts, sizes], axis=1).astype(np.float32) - flops[:, None]
    return found


def runtime_of(device: Floats, names: tuple[str, ...]) -> Ints:
    """Which of RUNTIMES, from device facts [rows, names]."""
    pocl, intel = device[:, names.index("shape.is_pocl")] > 0, device[:, names.index("shape.is_intels")] > 0
    alone = device[:, names.index("shape.compute_units")] == 0  # log2
    found: Ints = np.where(pocl, 0, np.where(intel, 2, OTHER)) + alone
    return found
