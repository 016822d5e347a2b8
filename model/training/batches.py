"""Which rows each training step sees: drawn from the seed and the step's number alone, so a stopped run can go on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from model.network import PAD
from model.training.arrays import Arrays, Indices, Split
from model.training.recipe import Recipe

Batch = dict[str, Tensor]
ALIKE = 8  # batches are filled from so many batches' worth of kernels sorted by length: less padding


class Plan(Dataset[Batch]):
    """Item i is step i's batch. An epoch sees every training kernel once, in another order with other rows."""

    def __init__(self, arrays: Arrays, ids: Sequence[Sequence[int]], recipe: Recipe, seed: int) -> None:
        self.arrays, self.ids, self.recipe, self.seed = arrays, ids, recipe, seed
        self.kernels = np.array(arrays.kernels_in(Split.TRAIN), np.int64)
        self._order = lru_cache(maxsize=2)(self._order_of)

    def __len__(self) -> int:
        return self.recipe.steps * int(os.environ.get("WORLD_SIZE", "1"))  # processes share the items out

    def __getitem__(self, step: int) -> Batch:
        per_epoch = -(-len(self.kernels) // self.recipe.kernels_per_step)
        chosen = self._order(step // per_epoch)[step % per_epoch]
        draw = np.random.default_rng([self.seed, 1, step])
        rows = [self._some(draw, self.arrays.rows_of[at]) for at in chosen]
        batch = batch_of(self.arrays, self.ids, chosen, rows)
        hidden = torch.from_numpy(draw.random(len(batch["compiled"])) < self.recipe.compiled_hidden)
        batch["compiled"][hidden] = torch.nan
        return batch

    def _some(self, draw: np.random.Generator, rows: Indices) -> Indices:
        most = self.recipe.rows_per_kernel
        return rows if len(rows) <= most else draw.choice(rows, most, replace=False)

    def _order_of(self, epoch: int) -> list[Indices]:
        draw = np.random.default_rng([self.seed, 0, epoch])
        each = self.recipe.kernels_per_step
        order = draw.permutation(self.kernels)
        batches: list[Indices] = []
        for start in range(0, len(order), ALIKE * each):
            alike = sorted(order[start : start + ALIKE * each], key=lambda at: len(self.ids[at]))
            batches += [np.array(alike[at : at + each]) for at in range(0, len(alike), each)]
        return [batches[at] for at in draw.permutation(len(batches))]


def batch_of(
    arrays: Arrays, ids: Sequence[Sequence[int]], kernels: Sequence[int] | Indices, rows: Sequence[Indices]
) -> Batch:
    """What `Network.forward` takes: `rows` of each of the `kernels`."""
    flat = np.concatenate(rows)
    return {
        "tokens": padded([ids[at] for at in kernels]),
        "kernel_of": torch.from_numpy(np.repeat(np.arange(len(rows)), [len(some) for some in rows])),
        "launch": torch.from_numpy(arrays.launch_facts[arrays.row_launch[flat]]),
        "laws": torch.from_numpy(arrays.row_laws[flat]),
        "device": torch.from_numpy(arrays.device_facts[arrays.row_device[flat]]),
        "compiled": torch.from_numpy(arrays.row_compiled[flat]),
        "log2_us": torch.from_numpy(arrays.row_log2_us[flat]),
        "weight": torch.from_numpy(arrays.row_weight[flat]),
    }


def padded(ids: Sequence[Sequence[int]]) -> Tensor:
    """[sequences, longest]"""
    longest = max(len(some) for some in ids)
    return torch.tensor([[*some, *[PAD] * (longest - len(some))] for some in ids])
