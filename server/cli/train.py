"""`kernelcast train`: weights of the learned model from a dataset and its facts."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

from server.cli.status import ANSWERED
from server.cli.streams import warn


def run(arguments: argparse.Namespace) -> int:
    """Train the model; the same seed, number of threads and library versions give the same weights."""
    from model.training.ensemble import Recipe  # noqa: PLC0415
    from profiler.corpus.facts.training import train  # noqa: PLC0415

    begun = time.monotonic()
    recipe = Recipe(seed=arguments.seed)
    recipe = replace(
        recipe,
        networks=replace(recipe.networks, threads=arguments.threads),
        pieced=replace(recipe.pieced, threads=arguments.threads),
        forests=replace(recipe.forests, num_threads=arguments.threads),
        spread=replace(recipe.spread, num_threads=arguments.threads),
    )
    folder = train(
        arguments.data, arguments.output, recipe, lambda text: warn(f"{time.monotonic() - begun:6.0f} s  {text}")
    )
    warn(f"weights are in {folder}")
    return ANSWERED
