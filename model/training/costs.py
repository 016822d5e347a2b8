"""Trains cost networks (see `model.learned.cost_network`): minutes on two cores, the same for the same seed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from model.learned.cost_network import FARTHEST, MOST_OCTAVES, RUNTIMES, CostNetwork, Floats, Ints
from model.training.rows import Rows

_START = -13.0  # log2 us of a price before anything is learned


@dataclass(frozen=True, slots=True)
class CostRecipe:
    """`directions` 0 learns plain prices alone. Rates of learning are those at the peak of one cycle."""

    epochs: int = 24
    batch: int = 1024
    width: int = 256
    directions: int = 24
    dropout: float = 0.1
    learning_rate: float = 2e-3
    price_rate: float = 0.04
    weight_decay: float = 0.02
    seed: int = 0
    threads: int = 2


class _Prices(nn.Module):
    def __init__(self, inputs: int, terms: int, recipe: CostRecipe) -> None:
        super().__init__()
        self.prices = nn.Parameter(torch.full((len(RUNTIMES), terms), _START))
        with torch.no_grad():
            self.prices[:, -14:-1] = -3.0  # the laws' times are in microseconds already
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


def train_costs(
    rows: Rows, chosen: Ints, inputs: Floats, recipe: CostRecipe, on_epoch: Callable[[int, float], None] | None = None
) -> CostNetwork:
    """`chosen` are the indices of the rows to train on; `inputs` [rows, inputs] of all rows.

    Absolute error of log2 of the time, weighted by the rows' weights.
    """
    torch.manual_seed(recipe.seed)
    torch.set_num_threads(recipe.threads)
    known = inputs[chosen]
    with np.errstate(all="ignore"):
        mean = np.nan_to_num(np.nanmean(known, axis=0)).astype(np.float32)
        per_deviation = (1 / (np.nan_to_num(np.nanstd(known, axis=0)) + 1e-3)).astype(np.float32)
    normal = np.clip(np.nan_to_num((known - mean) * per_deviation), -FARTHEST, FARTHEST)
    zeros = np.zeros((len(chosen), 1), np.float32)
    amounts = torch.from_numpy(np.concatenate([rows.terms[chosen], rows.laws[chosen][:, 1:], zeros], axis=1))
    given, runtime = torch.from_numpy(normal.astype(np.float32)), torch.from_numpy(rows.runtime[chosen])
    target, weight = torch.from_numpy(rows.log2_us[chosen]), torch.from_numpy(rows.weight[chosen])
    net = _Prices(given.shape[1], amounts.shape[1], recipe)
    prices = [net.prices]
    others = [parameter for name, parameter in net.named_parameters() if name != "prices"]
    optimiser = torch.optim.AdamW(
        [{"params": prices, "weight_decay": 0.0}, {"params": others, "weight_decay": recipe.weight_decay}]
    )
    batches = math.ceil(len(chosen) / recipe.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, [recipe.price_rate, recipe.learning_rate], total_steps=recipe.epochs * batches + 1, pct_start=0.05
    )
    for epoch in range(recipe.epochs):
        net.train()
        total = 0.0
        for batch in torch.split(torch.randperm(len(chosen)), recipe.batch):
            error = (net(given[batch], amounts[batch], runtime[batch]) - target[batch]).abs()
            loss = (error * weight[batch]).sum() / weight[batch].sum()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimiser.step()
            schedule.step()
            total += loss.item() * len(batch)
        if on_epoch is not None:
            on_epoch(epoch, total / len(chosen))
    layers = [layer for layer in net.layers if isinstance(layer, nn.Linear)]
    return CostNetwork(
        mean,
        per_deviation,
        _plain(net.runtime),
        tuple((_plain(layer.weight), _plain(layer.bias)) for layer in layers),
        _plain(net.prices),
    )


def _plain(values: Tensor) -> Floats:
    found: Floats = values.detach().numpy().astype(np.float32)
    return found
