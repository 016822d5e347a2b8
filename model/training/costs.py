"""Trains cost networks (see `model.learned.cost_network`): minutes on two cores, the same for the same seed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from model.learned.cost_network import MOST_OCTAVES, RUNTIMES, CostNetwork, Floats, Ints

_START = -10.0  # log2 of a price [us for each multiply-add in a nanosecond], before anything is learned


@dataclass(frozen=True, slots=True)
class CostRecipe:
    """`directions` 0 learns plain prices alone. Rates of learning are those at the peak of one cycle."""

    epochs: int = 30
    batch: int = 1024
    width: int = 512
    directions: int = 32
    pieces: int = 0  # that the range of an input is cut into; 6 bring medians down a little, and stretch the tails
    dropout: float = 0.25
    learning_rate: float = 2e-3
    price_rate: float = 0.04
    weight_decay: float = 0.05
    seed: int = 0
    threads: int = 2


class _Prices(nn.Module):
    def __init__(self, inputs: int, terms: int, analytic: int, recipe: CostRecipe) -> None:
        """Create the layers: the last of the terms is the floor, before it are `analytic` resources."""
        super().__init__()
        self.prices = nn.Parameter(torch.full((len(RUNTIMES), terms), _START))
        with torch.no_grad():
            self.prices[:, -1 - analytic : -1] = -3.0  # analytical times are in microseconds already
            self.prices[:, -1] = 0.0
        self.runtime = nn.Parameter(0.3 * torch.randn(len(RUNTIMES), 8))
        self.layers = nn.ModuleList()
        self.dropout = recipe.dropout
        if recipe.directions:
            width = recipe.width
            sizes = (inputs + 8, width, width, recipe.directions, terms + 1)
            self.layers.extend(nn.Linear(a, b) for a, b in itertools.pairwise(sizes))
            last = self.layers[-1]
            assert isinstance(last, nn.Linear)
            nn.init.zeros_(last.bias)
            with torch.no_grad():
                last.weight.mul_(0.1)
                last.weight[-1] = 0.0

    def forward(self, inputs: Tensor, amounts: Tensor, runtime: Tensor) -> Tensor:
        """[rows, inputs], [rows, terms], [rows] -> log2 us [rows]."""
        times = amounts + self.prices[runtime]
        shift = torch.zeros(len(times))
        if self.layers:
            x = torch.cat([inputs, self.runtime[runtime]], 1)
            for at, layer in enumerate(self.layers):
                x = layer(x)
                if at < len(self.layers) - 2:
                    x = functional.dropout(functional.gelu(x, approximate="tanh"), self.dropout, self.training)
            times = times + MOST_OCTAVES * torch.tanh(x[:, :-1] / MOST_OCTAVES)
            shift = x[:, -1]
        return torch.logsumexp(times * math.log(2), 1) / math.log(2) + shift


@dataclass(frozen=True, slots=True, eq=False)
class CostRows:
    """What a cost network learns from; all [rows, ...], as `CostNetwork.log2_us` takes them."""

    inputs: Floats
    terms: Floats
    analytic: Floats
    runtime: Ints
    log2_us: Floats
    weight: Floats


def train_costs(
    rows: CostRows, recipe: CostRecipe, on_epoch: Callable[[int, float], None] | None = None
) -> CostNetwork:
    """Absolute error of log2 of the time, weighted by the rows' weights; `on_epoch` hears of each epoch's mean."""
    torch.manual_seed(recipe.seed)
    torch.set_num_threads(recipe.threads)
    blank = _blank(rows.inputs, recipe)
    count = len(rows.log2_us)
    zeros = np.zeros((count, 1), np.float32)
    amounts = torch.from_numpy(np.concatenate([rows.terms, rows.analytic[:, 1:], zeros], axis=1))
    given, runtime = torch.from_numpy(blank.seen(rows.inputs)), torch.from_numpy(rows.runtime)
    target, weight = torch.from_numpy(rows.log2_us), torch.from_numpy(rows.weight)
    net = _Prices(given.shape[1], amounts.shape[1], rows.analytic.shape[1] - 1, recipe)
    prices = [net.prices]
    others = [parameter for name, parameter in net.named_parameters() if name != "prices"]
    optimiser = torch.optim.AdamW(
        [{"params": prices, "weight_decay": 0.0}, {"params": others, "weight_decay": recipe.weight_decay}]
    )
    batches = math.ceil(count / recipe.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, [recipe.price_rate, recipe.learning_rate], total_steps=recipe.epochs * batches + 1, pct_start=0.05
    )
    for epoch in range(recipe.epochs):
        net.train()
        total = 0.0
        for batch in torch.split(torch.randperm(count), recipe.batch):
            error = (net(given[batch], amounts[batch], runtime[batch]) - target[batch]).abs()
            loss = (error * weight[batch]).sum() / weight[batch].sum()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimiser.step()
            schedule.step()
            total += loss.item() * len(batch)
        if on_epoch is not None:
            on_epoch(epoch, total / count)
    layers = [layer for layer in net.layers if isinstance(layer, nn.Linear)]
    return replace(
        blank,
        runtime=_plain(net.runtime),
        layers=tuple((_plain(layer.weight), _plain(layer.bias)) for layer in layers),
        prices=_plain(net.prices),
    )


def _blank(inputs: Floats, recipe: CostRecipe) -> CostNetwork:
    """Return an untrained network, whose scaling of inputs is known before it is trained."""
    mean, per_deviation = _normal(inputs)
    cut = recipe.pieces if recipe.directions else 0
    pieces = [(at, *piece) for at, column in enumerate(inputs.T) for piece in _pieces(column, cut)] if cut else []
    place, start, end = (np.array([piece[n] for piece in pieces]) for n in range(3))
    nothing = np.zeros((0, 0), np.float32)
    return CostNetwork(
        mean,
        per_deviation,
        place.astype(np.int64),
        start.astype(np.float32),
        (1 / (end - start)).astype(np.float32),
        nothing,
        (),
        nothing,
    )


def _pieces(column: Floats, most: int) -> list[tuple[float, float]]:
    """Where the pieces of an input's range begin and end: quantiles of what is not its most frequent value.

    Most launches have nothing of most things.
    """
    known = column[~np.isnan(column)]
    values, count = np.unique(known, return_counts=True)
    if len(values) > most + 1:
        rest = known[known != values[count.argmax()]]
        values = np.unique(np.quantile(rest, np.linspace(0, 1, most + 1)))
    return [(float(a), float(b)) for a, b in itertools.pairwise(values)]


def _normal(inputs: Floats) -> tuple[Floats, Floats]:
    """Mean and 1 / deviation of each input, of those rows where it is known."""
    known = ~np.isnan(inputs)
    count = np.maximum(known.sum(axis=0), 1)
    filled = np.where(known, inputs, 0).astype(np.float64)
    mean = filled.sum(axis=0) / count
    variance = (np.where(known, inputs - mean, 0) ** 2).sum(axis=0) / count
    return mean.astype(np.float32), (1 / (np.sqrt(variance) + 1e-3)).astype(np.float32)


def _plain(values: Tensor) -> Floats:
    found: Floats = values.detach().numpy().astype(np.float32)
    return found
