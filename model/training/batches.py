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
        self.rows = arrays.rows_in(Split.TRAIN)
        self._order = lru_cache(maxsize=2)(self._order_of)

    def __len__(self) -> int:
        return self.recipe.steps * int(os.environ.get("WORLD_SIZE", "1"))  # processes share the items out

    def __getitem__(self, step: int) -> Batch:
        per_epoch = -(-len(self.kernels) // self.recipe.kernels_per_step)
        chosen = self._order(step // per_epoch)[step % per_epoch]
        draw = np.random.default_rng([self.seed, 1, step])
        rows = [self._some(draw, self.arrays.rows_of[at]) for at in chosen]
        others = draw.choice(self.rows, min(self.recipe.other_rows, len(self.rows)), replace=False)
        batch = batch_of(self.arrays, np.concatenate([*rows, others]))
        kernel_of = np.repeat(np.arange(-1, len(rows)), [0, *(len(some) for some in rows)])
        batch["kernel_of"] = torch.from_numpy(np.concatenate([kernel_of, np.full(len(others), -1)]))
        batch["tokens"] = padded([self.ids[at] for at in chosen])
        return _compiled_hidden(batch, draw, self.recipe)

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


class HeadPlan(Dataset[Batch]):
    """Item i is step i's batch of random rows. `code` [kernels, slots, width]: what the encoder said of each kernel."""

    def __init__(self, arrays: Arrays, code: Tensor | None, recipe: Recipe, seed: int) -> None:
        self.arrays, self.code, self.recipe, self.seed = arrays, code, recipe, seed
        self.rows = arrays.rows_in(Split.TRAIN)

    def __len__(self) -> int:
        return self.recipe.head_steps * int(os.environ.get("WORLD_SIZE", "1"))

    def __getitem__(self, step: int) -> Batch:
        draw = np.random.default_rng([self.seed, 2, step])
        rows = draw.choice(self.rows, min(self.recipe.head_rows, len(self.rows)), replace=False)
        batch = batch_of(self.arrays, rows)
        batch["kernel_of"] = torch.arange(len(rows))
        if self.code is not None:
            batch["code"] = self.code[torch.from_numpy(self.arrays.row_kernel[rows])]
        return _compiled_hidden(batch, draw, self.recipe)


def batch_of(arrays: Arrays, rows: Indices) -> Batch:
    """What `Network.forward` takes of `rows`, but for their kernels."""
    return {
        "launch": torch.from_numpy(arrays.launch_facts[arrays.row_launch[rows]]),
        "laws": torch.from_numpy(arrays.row_laws[rows]),
        "device": torch.from_numpy(arrays.device_facts[arrays.row_device[rows]]),
        "compiled": torch.from_numpy(arrays.row_compiled[rows]),
        "log2_us": torch.from_numpy(arrays.row_log2_us[rows]),
        "weight": torch.from_numpy(arrays.row_weight[rows]),
    }


def _compiled_hidden(batch: Batch, draw: np.random.Generator, recipe: Recipe) -> Batch:
    hidden = draw.random(len(batch["compiled"])) < recipe.compiled_hidden
    batch["compiled"][torch.from_numpy(hidden)] = torch.nan
    return batch


def padded(ids: Sequence[Sequence[int]]) -> Tensor:
    """[sequences, longest]"""
    longest = max(len(some) for some in ids)
    return torch.tensor([[*some, *[PAD] * (longest - len(some))] for some in ids])
