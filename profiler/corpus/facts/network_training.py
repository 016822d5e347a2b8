"""Trains the network over tokens from a dataset with its facts, and writes it with what it is."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from importlib.metadata import version
from pathlib import Path

import numpy as np

from model.learned.network_file import FactNames, save_network
from model.training.arrays import Arrays, Split
from model.training.recipe import Recipe
from model.training.train_network import train_network
from profiler.corpus.dataset.columns import DatasetError
from profiler.corpus.dataset.export import commit
from profiler.corpus.facts.network_arrays import network_arrays
from profiler.corpus.facts.rows import read_rows
from profiler.corpus.facts.tokens import kernel_tokens

FILE_NAME = "network.safetensors"
TOKENS = "tokens.jsonl"
_STAMP = "training.json"


def train_on_sources(
    data: Path,
    sources: Path,
    out: Path,
    recipe: Recipe,
    seed: int,
    *,
    processes: int,
    say: Callable[[str], None],
    **changes: bool | float,
) -> Path:
    """The file written, in `out`. A run that was stopped goes on from what it left there. Raises DatasetError.

    `changes` are those of the network's shape; `processes` read the kernels, of which `sources` has those of packages.
    """
    rows = read_rows(data)
    tokens = kernel_tokens(data, sources, out / TOKENS, processes=processes, say=say)
    arrays = network_arrays(rows, tokens)
    _claim(out, _stamp(arrays, recipe, seed, changes))
    say(f"training; progress.jsonl in {out / 'all'}, then in {out / 'head'}, tells how it goes")
    trained = train_network(arrays, out, recipe, seed, **changes)
    about = {
        "kernelcast_version": version("kernelcast"),
        "commit": commit(),
        "seed": str(seed),
        "recipe": json.dumps(asdict(recipe)),
        "kernels": str(len(arrays.kernels_in(Split.TRAIN))),
        "rows": str(len(arrays.rows_in(Split.TRAIN))),
        "devices": json.dumps(arrays.names.devices),
    }
    path, names = out / FILE_NAME, arrays.names
    written = path.with_name(f"{path.name}.{os.getpid()}")  # processes that train together all write the same
    save_network(
        written,
        trained.network,
        trained.tokenizer,
        FactNames(names.launch_facts, names.laws, names.compiled_facts, names.device_facts),
        about,
    )
    written.replace(path)
    return path


def _stamp(arrays: Arrays, recipe: Recipe, seed: int, changes: dict[str, bool | float]) -> str:
    """Of all that decides the weights but for the number of threads, which may change from run to run."""
    how = [asdict(replace(recipe, cpu_threads=None)), seed, changes, asdict(arrays.names)]
    digest = hashlib.sha256(json.dumps(how, sort_keys=True).encode())
    digest.update(json.dumps([[each.id, each.split, each.tokens] for each in arrays.kernels]).encode())
    for column in fields(arrays):
        values = getattr(arrays, column.name)
        if isinstance(values, np.ndarray):
            digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


def _claim(folder: Path, stamp: str) -> None:
    """Checkpoints do not say what they were trained on, and hours of another training are not ours to take away."""
    path = folder / _STAMP
    if path.exists():
        if json.loads(path.read_text(encoding="utf-8"))["stamp"] != stamp:
            raise DatasetError(
                f"{folder} holds a training of another seed, recipe or dataset, or with other sources: "
                "name another folder, or empty this one"
            )
        return
    written = path.with_name(f"{path.name}.{os.getpid()}")
    written.write_text(json.dumps({"stamp": stamp}) + "\n", encoding="utf-8")
    written.replace(path)
