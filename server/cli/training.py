"""`kernelcast train` and `kernelcast evaluate`: weights from a dataset, and what they are worth on unseen kernels."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

from model.learned.learned import weights_folder
from server.cli.output import ANSWERED, WrongCallError, warn


def run_train(arguments: argparse.Namespace) -> int:
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


def run_evaluate(arguments: argparse.Namespace) -> int:
    """Print the tables as Markdown; the same data and weights give the same tables."""
    weights = arguments.weights or weights_folder()
    if weights is None:
        raise WrongCallError("no weights are shipped; say which with --weights DIR")
    from profiler.corpus.dataset.card import renew  # noqa: PLC0415
    from profiler.corpus.facts.evaluating import evaluate  # noqa: PLC0415
    from profiler.corpus.facts.plots import draw  # noqa: PLC0415
    from profiler.corpus.facts.variants import variants_table  # noqa: PLC0415

    if arguments.sources is not None:
        import profiler.corpus.facts.text_baseline  # noqa: F401, PLC0415
    found = evaluate(arguments.data, weights, is_brief=arguments.skip_baselines, say=warn, sources=arguments.sources)
    for name, table in found.tables.items():
        print(f"## {name}\n\n{table}\n")
    if arguments.gpus:
        _print_gpus()
    if arguments.variants:
        print(f"## variants\n\n{variants_table(found.rows, warn)}\n")
    if arguments.update_readme is not None:
        renew(arguments.update_readme, found.tables)
    if arguments.pictures is not None:
        draw(found, arguments.pictures)
    return ANSWERED


def _print_gpus() -> None:
    """Print the accuracy on unseen GPUs, on public measurements: each is left out in turn."""
    from model.training import gpu_margins, gpu_ranking  # noqa: PLC0415
    from model.training.unseen_gpus import evaluate  # noqa: PLC0415
    from model.training.unseen_tables import by_device, by_family  # noqa: PLC0415
    from profiler.corpus.public.facts import measured  # noqa: PLC0415
    from profiler.corpus.public.intervals import judged  # noqa: PLC0415
    from profiler.corpus.public.table import read_rows  # noqa: PLC0415

    rows = measured(read_rows())
    scores = evaluate(rows)
    losses, orders = gpu_ranking.top_losses(rows, rows.analytic_us), gpu_ranking.device_order(rows, rows.analytic_us)
    tables = {
        "unseen GPUs": [*by_family(scores), "", *by_device(scores)],
        "intervals of GPUs": gpu_margins.lines(gpu_margins.coverage(judged(rows))),
        "ranks of configurations and GPUs": gpu_ranking.lines(losses, orders),
    }
    for name, table in tables.items():
        print(f"## {name}\n\n" + "\n".join(table) + "\n")
