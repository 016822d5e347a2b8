"""A launch's time as a sum: what it executes and touches, each at a price that a small network sets from the facts.

time = floor + sum over terms of amount x price, with analytical times of resources among the terms. Each runtime has
its prices; what surrounds the operations (all the launch's facts) raises or lowers them together, along a few
directions. So the sum keeps its shape where sizes grow beyond those in training. Counts with fitted prices after
Stevens & Kloeckner (arXiv 1904.09538); here the prices are not constants. Trained by `model.training.costs`; numpy is
enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

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
    """`prices` [runtimes, terms + resources + 1], log2; the last is the floor.

    `layers` are (weight [out, in], bias [out]). Into the first layer go the inputs' distances from what is normal, how
    much of each piece of an input's range lies below it (`piece_of` [pieces] names the input; Gorishniy et al., "On
    embeddings for numerical features", 2022), and `runtime` [runtimes, 8].
    """

    mean: Floats
    per_deviation: Floats
    piece_of: Ints
    start: Floats
    per_length: Floats
    runtime: Floats
    layers: tuple[tuple[Floats, Floats], ...]
    prices: Floats

    def log2_us(self, inputs: Floats, terms: Floats, analytic: Floats, runtime: Ints) -> Floats:
        """[rows, inputs], [rows, TERMS], [rows, analytic facts], [rows] -> [rows]; below no roofline yet."""
        found: Floats = log2_us_each((self,), inputs, terms, analytic, runtime)[0]
        return found

    def seen(self, inputs: Floats) -> Floats:
        """[rows, inputs] -> [rows, inputs + pieces]; what is unknown is taken for normal, and for below all pieces."""
        return _seen(inputs, self.mean, self.per_deviation, self.piece_of, self.start, self.per_length)


def _seen(
    inputs: Floats, mean: Floats, per_deviation: Floats, piece_of: Ints, start: Floats, per_length: Floats
) -> Floats:
    """As `CostNetwork.seen`; with networks in front where the figures have them: [networks, 1, inputs]."""
    normal = _known(_between((inputs - mean) * per_deviation, -FARTHEST, FARTHEST))
    if not len(piece_of):
        return normal
    below = _known(_between((inputs.take(piece_of, axis=1) - start) * per_length, 0.0, 1.0))
    return np.concatenate([normal, below], axis=-1, dtype=np.float32)


def log2_us_each(
    networks: tuple[CostNetwork, ...], inputs: Floats, terms: Floats, analytic: Floats, runtime: Ints
) -> Floats:
    """As `CostNetwork.log2_us`, of each: [networks, rows]. Those of one shape are worked out in one go."""
    amounts = np.concatenate([terms, analytic[:, 1:], np.zeros((len(analytic), 1), np.float32)], axis=1)
    prices, stacks = _stacked(networks)
    times = amounts + prices[:, runtime]  # [networks, rows, terms + resources + 1]
    shift = np.zeros(times.shape[:2], np.float32)
    for stack in stacks:
        x = stack.said(inputs, runtime)
        times[stack.those] += MOST_OCTAVES * np.tanh(x[..., :-1] * np.float32(1 / MOST_OCTAVES))
        shift[stack.those] = x[..., -1]
    most = times.max(axis=2)
    found: Floats = most + np.log2(np.exp2(times - most[..., None]).sum(axis=2)) + shift
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Stack:
    """The layers of several networks of one shape, the networks in front and weights as [in, out].

    Most launches have nothing of most things, so the first layer begins with what comes of nothing (`of_nothing`
    [networks, runtimes, out], bias and runtime in it) and adds what differs: most of a large weight is not looked at.
    """

    those: slice  # of the networks
    seen: tuple[Floats, Floats, Ints, Floats, Floats]  # as `_seen` takes them
    nothing: Floats  # [networks, 1, inputs + pieces], as seen
    of_nothing: Floats
    first: Floats
    others: tuple[tuple[Floats, Floats], ...]

    def said(self, inputs: Floats, runtime: Ints) -> Floats:
        """[rows, inputs], [rows] -> [networks, rows, terms + resources + 2]."""
        more = _seen(inputs, *self.seen) - self.nothing
        differs = np.flatnonzero(more.any(axis=(0, 1)))
        x: Floats = np.matmul(more.take(differs, axis=2), self.first.take(differs, axis=1))
        x += self.of_nothing[:, runtime]
        for at, (weight, bias) in enumerate(self.others):
            if at < len(self.others) - 1:
                x = _gelu(x)
            x = np.matmul(x, weight) + bias
        return x


@lru_cache(8)
def _stacked(networks: tuple[CostNetwork, ...]) -> tuple[Floats, tuple[_Stack, ...]]:
    """Their prices [networks, runtimes, terms + resources + 1], and those that have layers."""
    stacks, done = [], 0
    for _, alike in groupby(networks, key=_shape):
        some = tuple(alike)
        if some[0].layers:
            stacks.append(_stack(some, slice(done, done + len(some))))
        done += len(some)
    return np.stack([net.prices for net in networks]), tuple(stacks)


def _shape(network: CostNetwork) -> tuple[object, ...]:
    return network.mean.shape, network.piece_of.tobytes(), *(weight.shape for weight, _ in network.layers)


def _stack(networks: tuple[CostNetwork, ...], those: slice) -> _Stack:
    def joined(name: str) -> Floats:
        return np.stack([getattr(net, name) for net in networks])[:, None]

    mean, per_deviation, start, per_length = (joined(n) for n in ("mean", "per_deviation", "start", "per_length"))
    seen = mean, per_deviation, networks[0].piece_of, start, per_length
    inputs = np.zeros((1, mean.shape[-1]), np.float32)
    inputs[:, _AMOUNTS] = np.log2(LEAST)  # inputs begin with the launch's facts
    nothing = _seen(inputs, *seen)
    layers = tuple(zip(*(net.layers for net in networks), strict=True))  # of one depth, those of all networks
    weights = [np.stack([np.ascontiguousarray(weight.T) for weight, _ in alike]) for alike in layers]
    biases = [np.stack([bias for _, bias in alike])[:, None] for alike in layers]
    size = nothing.shape[-1]
    runtime = np.stack([net.runtime for net in networks])
    given = np.concatenate([np.broadcast_to(nothing, (len(networks), runtime.shape[1], size)), runtime], axis=2)
    of_nothing = given.astype(np.float64) @ weights[0] + biases[0]
    others = tuple(zip(weights[1:], biases[1:], strict=True))
    first = np.ascontiguousarray(weights[0][:, :size])
    return _Stack(those, seen, nothing, of_nothing.astype(np.float32), first, others)


def _known(values: Floats) -> Floats:
    """With 0 for what is unknown. `np.nan_to_num` takes longer than all else that is done with a row."""
    found: Floats = np.where(np.isnan(values), np.float32(0), values)
    return found


def _between(values: Floats, least: float, most: float) -> Floats:
    found: Floats = np.minimum(np.maximum(values, np.float32(least)), np.float32(most))
    return found


def _gelu(x: Floats) -> Floats:
    """Return the tangent's approximation (Hendrycks & Gimpel, arXiv 1606.08415)."""
    found: Floats = 0.5 * x * (1 + np.tanh(x * (0.7978846 + 0.7978846 * 0.044715 * x * x)))
    return found


def terms_of(launch: Floats, pace: Floats) -> Floats:
    """log2 of the launch's totals [rows, TERMS], from its facts [rows, launch facts].

    `pace` [rows], log2 of how fast the device's cores are together: amounts are in its own measure, so that prices hold
    for machines with more or faster cores.
    """
    found = np.empty((len(launch), len(TERMS)), np.float32)
    amounts, sizes = found[:, _AMOUNTS], found[:, len(AMOUNTS) :]
    amounts[:] = np.exp2(launch[:, _AMOUNTS]) - np.float32(LEAST)
    sizes[:] = np.exp2(launch.take(_AT, axis=1)) - 1
    found[:] = np.log2(np.maximum(found, np.float32(2.0**NOTHING)))
    amounts += launch[:, _AT[2], None]  # of each work-item, times the work-items
    sizes[:, -1] += sizes[:, 0]  # barriers of a group, times the groups
    found -= pace[:, None]
    return found


def runtime_of(device: Floats, names: tuple[str, ...]) -> Ints:
    """Return which of RUNTIMES, from device facts [rows, names]."""
    pocl, intel, units = _places(names)
    named = np.where(device[:, pocl] > 0, 0, np.where(device[:, intel] > 0, 2, OTHER))
    found: Ints = named + (device[:, units] == 0)  # log2 of the units: alone
    return found


@lru_cache(8)
def _places(names: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(names.index(f"shape.{name}") for name in ("is_pocl", "is_intels", "compute_units"))
