"""The tables of what the learned model is worth, from committed data and weights: `kernelcast evaluate` prints them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from model.learned.ensemble import Ensemble, load
from model.learned.launch_facts import LAUNCH_FACT_NAMES
from model.learned.learned import DESCRIPTION
from model.training.ensemble import Recipe
from model.training.evaluation import (
    SPLITS,
    Predicted,
    coverage_table,
    group_table,
    main_table,
    predictions,
    unseen_machine_table,
    unseen_runtime_table,
)
from model.training.few_shot_eval import few_shot_table
from model.training.figures import Figures, Line, data_size_ordering, local_size_choice, noise_of
from model.training.kinds import kind_table, novelty_table, program_table
from model.training.pair_figures import markdown as pair_lines
from model.training.pair_figures import pair_table
from model.training.rows import Rows
from profiler.corpus.dataset.columns import DatasetError
from profiler.corpus.dataset.reading import read_dataset
from profiler.corpus.facts.rows import read_rows

GROUPS = ("reductions", "scans", "sparse", "graphs")
RUNTIMES = {"pocl": "PoCL", "intel": "Intel's runtime"}
SOURCE, COMPILED = "shipped, from source", "shipped, compiled"


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """`tables` are Markdown by the name of their place on the page."""

    tables: dict[str, str]
    rows: Rows
    predicted: Predicted


def evaluate(
    data: Path, weights: Path, *, is_brief: bool, say: Callable[[str], None], sources: Path | None = None
) -> Evaluation:
    """`is_brief` leaves out the tables for which models are trained; with `sources` a network that reads text is, too.

    Raises DatasetError.
    """
    rows, ensemble = read_rows(data), _read(weights)
    say(f"{len(rows.log2_us):,} rows are read")
    predicted = predictions(rows, ensemble, LAUNCH_FACT_NAMES)
    say("all rows are predicted")
    tables = {
        "accuracy": _accuracy(main_table(rows, predicted)),
        "noise": _noise(rows),
        "groups": _lines(group_table(rows, predicted[SOURCE], GROUPS), "group"),
        "coverage": _coverage(rows, ensemble),
        "ordering": _ordering(rows, predicted),
        "programs": _lines(program_table(rows, predicted), "who"),
        "kinds": _kinds(rows, predicted),
        "novelty": _novelty(rows, predicted, ensemble),
        "measured": _lines(few_shot_table(rows, predicted[SOURCE], ensemble.novelty), "what"),
        "pairs": _pairs(data, rows, ensemble),
    }
    if not is_brief:
        say("models without one runtime are trained")
        tables["unseen"] = _lines(unseen_runtime_table(rows, RUNTIMES, Recipe(), ensemble.novelty), "who")
        say("models without one machine are trained")
        tables["machines"] = _lines(unseen_machine_table(rows, Recipe(), ensemble.novelty), "who and split")
    if sources is not None:
        from profiler.corpus.facts.text_baseline import text_table  # noqa: PLC0415 - seconds of imports

        tables["text"] = _lines(text_table(data, sources, rows, predicted[SOURCE], say=say), "who and split")
    return Evaluation(tables, rows, predicted)


def _read(folder: Path) -> Ensemble:
    try:
        description = json.loads((folder / DESCRIPTION).read_text("utf-8"))
        return load(folder, description)
    except OSError as error:
        raise DatasetError(f"there are no weights in {folder}: {error.strerror or error}") from error
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise DatasetError(f"the weights in {folder} are damaged or of another version: {error!r}") from error


def _accuracy(lines: Sequence[Line]) -> str:
    """Return a table for each split, all devices together, and one by device of what ships."""
    parts = []
    for split, what in SPLITS.items():
        own = [line for line in lines if line.split == split and line.device == "all"]
        parts.append(f"**{what.capitalize()}**, {own[0].figures.rows:,} rows\n\n{_lines(own, 'who')}")
        devices = [line for line in lines if line.split == split and line.device != "all"]
        shipped = [line for line in devices if line.who in (SOURCE, COMPILED)]
        parts.append(_lines(shipped, "who and device"))
    return "\n\n".join(parts)


def _lines(lines: Sequence[Line], first: str) -> str:
    ends = {"who and device": lambda line: f": {line.device}", "who and split": lambda line: f", {SPLITS[line.split]}"}
    end: Callable[[Line], str] = ends.get(first, lambda _: "")
    names = [line.who + end(line) for line in lines]
    head = (
        f"| {first} | rows | MAPE | median APE | within 2x | rank correlation |\n| --- | --- | --- | --- | --- | --- |"
    )
    return "\n".join([head, *(f"| {name} | {_cells(line.figures)} |" for name, line in zip(names, lines, strict=True))])


def _cells(figures: Figures) -> str:
    return (
        f"{figures.rows:,} | {figures.mape:.1f} % | {figures.median_ape:.1f} % | {figures.within_2x:.1f} % | "
        f"{figures.rank_correlation:.3f}"
    )


def _kinds(rows: Rows, predicted: Predicted) -> str:
    head = (
        "| who and what | rows | MAPE | median APE | within 2x | rank correlation | predicted / measured, median |\n"
        "| --- | --- | --- | --- | --- | --- | --- |"
    )
    lines = [
        f"| {who}, {SPLITS[line.split]}: {line.kind} | {_cells(line.figures)} | {line.bias:.2f} |"
        for who in (SOURCE, COMPILED)
        for line in kind_table(rows, predicted[who], ("validation", "test-origins"))
    ]
    return "\n".join([head, *lines])


def _novelty(rows: Rows, predicted: Predicted, ensemble: Ensemble) -> str:
    head = "| split | rows | median APE, most familiar quarter | least familiar quarter |\n| --- | --- | --- | --- |"
    novelty = ensemble.novelty.of(ensemble.novelty.places(rows.launch))
    lines = [
        f"| {SPLITS[line.split]} | {line.rows:,} | {line.nearest:.1f} % | {line.farthest:.1f} % |"
        for line in novelty_table(rows, predicted[SOURCE], novelty, tuple(SPLITS))
    ]
    return "\n".join([head, *lines])


def _pairs(data: Path, rows: Rows, ensemble: Ensemble) -> str:
    """Return the table of ratios of two versions."""
    kernels = read_dataset(data).kernels.select(["id", "origin", "reference", "choices"]).to_pylist()
    choices = {row["id"]: dict(each.split("=", 1) for each in row["choices"]) for row in kernels if row["choices"]}
    files = {row["id"]: f"{row['origin']} {row['reference'].partition(':')[0]}" for row in kernels}
    lines = [
        (who, line)
        for who, has_code in ((SOURCE, False), (COMPILED, True))
        for line in pair_table(rows, ensemble, choices, files, has_code=has_code)
    ]
    return pair_lines(lines)


def _noise(rows: Rows) -> str:
    head = "| device | measured twice | median difference | 90th percentile |\n| --- | --- | --- | --- |"
    found = [(str(device), noise_of(rows, str(device))) for device in np.unique(rows.device_name)]
    return "\n".join([head, *(f"| {name} | {n.pairs} | {n.median:.1f} % | {n.p90:.1f} % |" for name, n in found)])


def _coverage(rows: Rows, ensemble: Ensemble) -> str:
    head = "| who | split | rows | within p10 to p90 | p90 / p10, median |\n| --- | --- | --- | --- | --- |"
    lines = [
        f"| {each.who} | {SPLITS[each.split]} | {each.rows:,} | {each.inside:.1f} % | {each.width:.1f} |"
        for each in coverage_table(rows, ensemble)
    ]
    return "\n".join([head, *lines])


def _ordering(rows: Rows, predicted: Predicted) -> str:
    """Of kernels that were held out."""
    held_out = rows.judged(*SPLITS)
    head = "| who | kernels | rank correlation of data sizes | kernels | best local size within 10 % |\n"
    head += "| --- | --- | --- | --- | --- |"
    lines = []
    for who in ("analytical model alone", SOURCE, COMPILED):
        data = data_size_ordering(rows, predicted[who], held_out)
        local = local_size_choice(rows, predicted[who], held_out)
        lines.append(f"| {who} | {data.kernels} | {data.figure:.3f} | {local.kernels} | {local.figure:.1f} % |")
    return "\n".join([head, *lines])
