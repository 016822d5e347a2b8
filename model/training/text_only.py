"""The baseline that reads all as text, after LLMPerf (arXiv 2503.11244): no analysis, analytical model or profile.

One text a row: a sentence about launch and device, then the kernel's tokens. An encoder reads it and tells log2 us,
fitted by squared error.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from model.launch.launch import Launch
from model.training.figures import figures_of
from model.training.rows import Floats, Ints, Rows
from model.training.text_encoder import Shape, TextNetwork
from model.training.tokenizer import PAD, ids_of, train_tokenizer
from model.training.trainer import BEST_BY, Batch, Recipe, train

AT_ONCE = 32
ALIKE = 8  # so many batches are drawn at once and sorted by length: less padding
MOST_WATCHED = 1000  # rows


@dataclass(frozen=True, slots=True)
class TextOnly:
    network: TextNetwork
    texts: RowTexts


class RowTexts:
    """The ids of each row's text; `tokens` are those of kernels, by id, and `launches` are by kernel id and key.

    Rows of other kernels, or launches, have none.
    """

    def __init__(
        self,
        rows: Rows,
        tokens: Mapping[str, Sequence[str]],
        launches: Mapping[tuple[str, str], Launch],
        longest: int,
    ) -> None:
        self.rows, self._tokens, self._launches, self._longest = rows, tokens, launches, longest
        names = zip(rows.kernel.tolist(), rows.launch_key.tolist(), strict=True)
        self._known = np.array([kernel in tokens and (kernel, key) in launches for kernel, key in names])
        train_rows = self.of(rows.where("train"))
        _, first = np.unique(rows.kernel[train_rows], return_index=True)
        self.tokenizer = train_tokenizer(
            [*self._sentence(at), *tokens[str(rows.kernel[at])]] for at in train_rows[np.sort(first)].tolist()
        )

    def of(self, chosen: Ints) -> Ints:
        """Those that have a text."""
        found: Ints = chosen[self._known[chosen]]
        return found

    def __getitem__(self, row: int) -> list[int]:
        """Return the sentence, then the source; of a source too long for the rest, its head and its tail."""
        ids = ids_of(self.tokenizer, self._sentence(row), self._longest // 2)
        return ids + ids_of(self.tokenizer, self._tokens[str(self.rows.kernel[row])], self._longest - len(ids))

    def _sentence(self, row: int) -> list[str]:
        launch = self._launches[str(self.rows.kernel[row]), str(self.rows.launch_key[row])]
        return launch_sentence(launch, str(self.rows.device_name[row]))


class TextPlan(Dataset[Batch]):
    """Item i is step i's batch of random training rows, drawn from the seed and the step's number alone."""

    def __init__(self, texts: RowTexts, recipe: Recipe, seed: int) -> None:
        self._texts, self._recipe, self._seed = texts, recipe, seed
        self._rows = texts.of(texts.rows.where("train"))
        self._drawn = lru_cache(maxsize=2)(self._draw)

    def __len__(self) -> int:
        return self._recipe.steps * int(os.environ.get("WORLD_SIZE", "1"))  # processes share the items out

    def __getitem__(self, step: int) -> Batch:
        chosen, ids = self._drawn(step // ALIKE)[step % ALIKE]
        rows = self._texts.rows
        return {
            "tokens": padded(ids),
            "log2_us": torch.from_numpy(rows.log2_us[chosen]),
            "weight": torch.from_numpy(rows.weight[chosen]),
        }

    def _draw(self, turn: int) -> list[tuple[Ints, list[list[int]]]]:
        draw = np.random.default_rng([self._seed, turn])
        rows = draw.choice(self._rows, ALIKE * AT_ONCE)
        ids = [self._texts[row] for row in rows.tolist()]
        by_length = sorted(range(len(rows)), key=lambda at: len(ids[at]))
        batches = [by_length[start : start + AT_ONCE] for start in range(0, len(rows), AT_ONCE)]
        return [(rows[some], [ids[at] for at in some]) for some in (batches[at] for at in draw.permutation(ALIKE))]


def train_text_only(texts: RowTexts, folder: Path, recipe: Recipe, shape: Shape, seed: int = 0) -> TextOnly:
    """Leaves checkpoints and `progress.jsonl` in `folder`, from where a stopped run goes on.

    Held-out families choose between checkpoints.
    """
    torch.manual_seed(seed)
    rows = texts.rows
    shape = replace(shape, vocabulary=texts.tokenizer.get_vocab_size())
    network = TextNetwork(shape, float(rows.log2_us[texts.of(rows.where("train"))].mean()))
    watched = np.random.default_rng(seed).permutation(texts.of(rows.judged("validation")))[:MOST_WATCHED]

    def figures() -> dict[str, float]:
        said, truth = text_estimates(network, texts, watched), rows.log2_us[watched]
        error = float(np.abs(said - truth).mean())
        return {"validation/median_ape_percent": figures_of(said, truth).median_ape, BEST_BY: error}

    train(network, TextPlan(texts, recipe, seed), folder, recipe, seed, figures)
    return TextOnly(network.eval(), texts)


@torch.inference_mode()
def text_estimates(network: TextNetwork, texts: RowTexts, chosen: Ints) -> Floats:
    """Return log2 of microseconds [rows]."""
    network.eval()
    ids = [texts[row] for row in chosen.tolist()]
    by_length = np.array(sorted(range(len(ids)), key=lambda at: len(ids[at])), np.int64)
    found = np.empty(len(ids), np.float32)
    for start in range(0, len(ids), AT_ONCE):
        some = by_length[start : start + AT_ONCE]
        tokens = padded([ids[at] for at in some]).to(network.out.weight.device)
        found[some] = network.said(tokens).cpu().numpy()
    return found


def padded(ids: Sequence[Sequence[int]]) -> Tensor:
    """Return the sequences padded to the longest [sequences, longest]."""
    longest = max(len(some) for some in ids)
    return torch.tensor([[*some, *[PAD] * (longest - len(some))] for some in ids])


def launch_sentence(launch: Launch, device: str) -> list[str]:
    """Return words, numbers digit by digit.

    So `global 1 0 2 4 , local 6 4 , scalars 1 6 , buffers 4 0 9 6 , on pocl ;`.
    """
    local = _digits(launch.local_size) if launch.local_size else ["any", ","]
    words = ["global", *_digits(launch.global_size), "local", *local]
    words += ["scalars", *_digits(n for _, n in launch.scalars), "buffers", *_digits(n for _, n in launch.buffers)]
    return [*words, "on", device, ";"]


def _digits(values: Iterable[object]) -> list[str]:
    return [character for value in values for character in [*str(value), ","]]
