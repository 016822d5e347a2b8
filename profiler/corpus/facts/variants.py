"""The table of variants of the boosted trees, from the dataset: `kernelcast evaluate --variants`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from model.training.ensemble import Recipe, plain_recipe
from model.training.rows import Rows
from model.training.variants import VARIANTS, Variant, compare
from profiler.corpus.kernel import GENERATOR

_LIGHTER = {"rounds": 150, "learning_rate": 0.1, "num_leaves": 63}  # than what ships: there are many to grow


def variants_table(
    rows: Rows, say: Callable[[str], None], recipe: Recipe | None = None, variants: tuple[Variant, ...] = VARIANTS
) -> str:
    recipe = recipe or Recipe()
    boosting = replace(recipe.forests, **_LIGHTER)  # type: ignore[arg-type]
    verdicts = compare(rows, rows.origin != GENERATOR, boosting, plain_recipe(recipe), variants, say)
    head = (
        "| question | variant | rows | median APE | within 2x | RMS, octaves | predicted / measured, median | "
        "within 2x against the first, 95 % |\n| --- | --- | --- | --- | --- | --- | --- | --- |"
    )
    lines = [
        f"| {each.question} | {each.variant} | {each.rows:,} | {each.median_ape:.1f} % | {each.within_2x:.1f} % | "
        f"{each.rms:.2f} | {each.bias:.2f} | {each.gain[0]:+.1f} ({each.gain[1]:+.1f} to {each.gain[2]:+.1f}) |"
        for each in sorted(verdicts, key=lambda each: each.question)
    ]
    return "\n".join([head, *lines])
