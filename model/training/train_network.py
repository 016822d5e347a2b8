"""The main network, from arrays to weights."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from model.learned.tokenizer import ids_of, train_tokenizer
from model.network import Network, Shape, shares
from model.training.accuracy import accuracy
from model.training.arrays import Arrays, Indices, Split
from model.training.batches import HeadPlan, Plan
from model.training.predicting import encoded, estimates
from model.training.recipe import Recipe
from model.training.trainer import BEST_BY, train

CHOSEN_BY = Split.VALIDATION
WATCHED = (CHOSEN_BY, Split.KNOWN_FAMILIES)  # while training
MOST_WATCHED = 400  # kernels of each


@dataclass(frozen=True, slots=True)
class Trained:
    network: Network
    tokenizer: Tokenizer
    ids: list[list[int]]  # of every kernel


def shape_for(arrays: Arrays, tokenizer: Tokenizer, **changes: bool | float) -> Shape:
    """`changes` are those of an ablation: `with_code=False` ..."""
    names = arrays.names
    counts = (len(names.launch_facts), len(names.laws), len(names.compiled_facts))
    return Shape(*counts, names.device_groups, vocabulary=tokenizer.get_vocab_size(), **changes)  # type: ignore[arg-type]


def train_network(arrays: Arrays, folder: Path, recipe: Recipe, seed: int = 0, **changes: bool | float) -> Trained:
    """Leaves `tokenizer.json` in `folder`, checkpoints and `progress.jsonl` in its `all/` and `head/`.

    Goes on where a stopped run was.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = tokenizer_in(folder, arrays)
    shape = shape_for(arrays, tokenizer, **changes)
    ids = [ids_of(tokenizer, kernel.tokens, shape.longest) for kernel in arrays.kernels]
    network = untrained(shape, arrays, seed)
    rows = {split: _some(arrays, split, seed) for split in WATCHED}

    def figures() -> dict[str, float]:
        return _watch(network, arrays, ids, rows)

    train(network, Plan(arrays, ids, recipe, seed), folder / "all", recipe, seed, figures)
    if recipe.head_steps:
        code = encoded(network, ids, np.arange(len(arrays.kernels)))
        if network.code is not None:
            network.code.requires_grad_(False)
        plan = HeadPlan(arrays, None if code is None else code.cpu(), recipe, seed)
        train(network, plan, folder / "head", recipe.of_head(), seed, figures)
    network.eval()
    return Trained(network, tokenizer, ids)


def tokenizer_in(folder: Path, arrays: Arrays) -> Tokenizer:
    """The one there, or one trained on the training kernels and written there."""
    path = folder / "tokenizer.json"
    if not path.exists():
        tokenizer = train_tokenizer(arrays.kernels[at].tokens for at in arrays.kernels_in(Split.TRAIN))
        written = path.with_name(f"{path.name}.{os.getpid()}")  # processes that train together all write the same
        written.write_text(tokenizer.to_str(), encoding="utf-8")
        written.replace(path)
    return Tokenizer.from_str(path.read_text(encoding="utf-8"))


def untrained(shape: Shape, arrays: Arrays, seed: int) -> Network:
    """Random weights; what is normal of each fact is learned from the training rows already."""
    torch.manual_seed(seed)
    network = Network(shape)
    rows = arrays.rows_in(Split.TRAIN)
    head = network.head
    head.launch.learn_range(torch.from_numpy(arrays.launch_facts[np.unique(arrays.row_launch[rows])]))
    head.compiled.learn_range(torch.from_numpy(arrays.row_compiled[rows]))
    head.device.facts.learn_range(torch.from_numpy(arrays.device_facts[np.unique(arrays.row_device[rows])]))
    if head.laws is not None:
        head.laws.learn_range(shares(torch.from_numpy(arrays.row_laws[rows])))
    return network


def _watch(network: Network, arrays: Arrays, ids: list[list[int]], rows: dict[Split, Indices]) -> dict[str, float]:
    """By split and device; `error` is what chooses the checkpoint: with and without compiled facts alike."""
    values: dict[str, float] = {}
    for split, some in rows.items():
        both = estimates(network, arrays, ids, some, compiled=(False, True))
        truth, device = arrays.row_log2_us[some], arrays.row_device[some]
        for (predicted, _), suffix in zip(both, ("", " compiled"), strict=True):
            for at, name in enumerate(arrays.names.devices):
                figures = accuracy(predicted[device == at], truth[device == at])
                values[f"{split}/{name}{suffix}/median_ape_percent"] = figures.median_ape_percent
                values[f"{split}/{name}{suffix}/within_2x"] = figures.within_2x
            whole = accuracy(predicted, truth)
            values[f"{split}{suffix}/median_ape_percent"] = whole.median_ape_percent
            values[f"{split}{suffix}/error_octaves"] = whole.error_octaves
    values[BEST_BY] = values[f"{CHOSEN_BY}/error_octaves"] + values[f"{CHOSEN_BY} compiled/error_octaves"]
    return values


def _some(arrays: Arrays, split: Split, seed: int) -> Indices:
    """The rows of `MOST_WATCHED` of its kernels."""
    kernels = np.random.default_rng(seed).permutation(arrays.kernels_in(split))[:MOST_WATCHED]
    return np.flatnonzero(np.isin(arrays.row_kernel, kernels))
