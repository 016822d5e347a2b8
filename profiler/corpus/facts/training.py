"""Trains what ships from a dataset with its facts, and writes it: weights, what they are, and how it went."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from safetensors.numpy import save_file

from model.learned.learned import DESCRIPTION
from model.learned.weights import FILE_NAME, arrays_of
from model.training.checkpoints import PROGRESS
from model.training.ensemble import Recipe, train_ensemble
from profiler.corpus.dataset.export import commit
from profiler.corpus.facts.rows import read_rows


def train(data: Path, out: Path, recipe: Recipe, say: Callable[[str], None]) -> Path:
    """Return the folder written to; `progress.jsonl` in it has the curves. Raises DatasetError.

    Until the end `parts` in it holds what is finished: a run that was stopped goes on from there.
    """
    rows, parts = read_rows(data), out / "parts"
    arrays, description = arrays_of(train_ensemble(rows, recipe, say, parts))
    description |= {
        "kernelcast_version": version("kernelcast"),
        "commit": commit(),
        "rows": len(rows.where("train")),
        "recipe": asdict(recipe),
    }
    out.mkdir(parents=True, exist_ok=True)
    save_file(arrays, out / FILE_NAME, {"version": str(description["version"]), "commit": description["commit"]})
    (out / DESCRIPTION).write_text(json.dumps(description, indent=1) + "\n", encoding="utf-8")
    (parts / PROGRESS).replace(out / PROGRESS)
    shutil.rmtree(parts)
    return out
