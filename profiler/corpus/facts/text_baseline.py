"""What a network that reads text alone is worth on the dataset: a baseline, trained from sources and launches."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from model.training.evaluation import SPLITS
from model.training.figures import Line, figures_of
from model.training.rows import Floats, Rows
from model.training.text_encoder import Shape
from model.training.text_only import RowTexts, text_estimates, train_text_only
from model.training.trainer import Recipe
from profiler.corpus.dataset.reading import launches_of, read_dataset
from profiler.corpus.facts.tokens import kernel_tokens

TOKENS = "tokens.jsonl"
WHO = "text alone, after LLMPerf"
MOST_JUDGED = 2000  # rows of each split: each is a full pass


def text_table(
    data: Path,
    sources: Path,
    rows: Rows,
    shipped: Floats,
    *,
    say: Callable[[str], None],
    recipe: Recipe | None = None,
    shape: Shape | None = None,
) -> list[Line]:
    """Beside what ships, `shipped` [rows], on the same rows of each split. Raises DatasetError.

    What is read and trained is kept in `sources`: a call that was stopped goes on when it is made again.
    """
    recipe, shape = recipe or Recipe(), shape or Shape()
    tokens = kernel_tokens(data, sources, sources / TOKENS, processes=recipe.cpu_threads or 1, say=say)
    launches = {(kernel, key): launch for kernel, key, launch in launches_of(read_dataset(data))}
    texts = RowTexts(rows, tokens, launches, shape.longest)
    folder = sources / f"text-only-{_stamp(texts, recipe, shape)}"
    say(f"the network that reads text is trained; {folder / 'progress.jsonl'} tells how it goes")
    trained = train_text_only(texts, folder, recipe, shape)
    lines = []
    for split in SPLITS:
        judged = texts.of(rows.judged(split))
        chosen = np.sort(np.random.default_rng(0).permutation(judged)[:MOST_JUDGED])
        said = {WHO: text_estimates(trained.network, texts, chosen), "shipped, from source": shipped[chosen]}
        lines += [Line(who, split, "all", figures_of(each, rows.log2_us[chosen])) for who, each in said.items()]
    return lines


def _stamp(texts: RowTexts, recipe: Recipe, shape: Shape) -> str:
    """Return a digest of all that decides the weights, the number of threads left out.

    Checkpoints do not say what they were trained on.
    """
    how = [asdict(replace(recipe, cpu_threads=None)), asdict(shape), texts.tokenizer.to_str()]
    digest = hashlib.sha256(json.dumps(how, sort_keys=True).encode())
    train = texts.of(texts.rows.where("train"))
    for column in (texts.rows.kernel, texts.rows.launch_key, texts.rows.log2_us, texts.rows.weight):
        digest.update(np.ascontiguousarray(column[train]).tobytes())
    return digest.hexdigest()[:12]
