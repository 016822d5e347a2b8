"""`kernelcast train --network`: the transformer over kernels' tokens from a dataset and its sources."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

from server.cli.status import ANSWERED, WrongCallError
from server.cli.streams import warn


def is_wanted(arguments: argparse.Namespace) -> bool:
    """Raises WrongCallError where flags are missing, or mean nothing."""
    if arguments.network and arguments.sources is None:
        raise WrongCallError(
            "--network needs --sources FOLDER: where `kernelcast dataset facts --folder FOLDER` left sources"
        )
    for flag in ("sources", "recipe"):
        if not arguments.network and getattr(arguments, flag) is not None:
            raise WrongCallError(f"--{flag} is for --network alone: what ships is trained without sources")
    return bool(arguments.network)


def run(arguments: argparse.Namespace) -> int:
    """A run that was stopped goes on when it is called again with the same words."""
    try:
        from model.training.recipe import CPU, GPU  # noqa: PLC0415
        from profiler.corpus.facts.network_training import train_on_sources  # noqa: PLC0415
    except ImportError as error:
        raise WrongCallError(f"training needs `{error.name}`: pip install 'kernelcast[train]'") from error
    begun = time.monotonic()
    recipe = GPU if arguments.recipe == "gpu" else CPU
    path = train_on_sources(
        arguments.data,
        arguments.sources,
        arguments.output,
        replace(recipe, cpu_threads=arguments.threads),
        arguments.seed,
        processes=arguments.threads,
        say=lambda text: warn(f"{time.monotonic() - begun:6.0f} s  {text}"),
    )
    warn(f"weights are in {path}")
    return ANSWERED
