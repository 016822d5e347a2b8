"""The baseline that reads everything as text, after LLMPerf (arXiv 2503.11244): no analysis, no laws, no profile.

One text a row: a sentence about launch and device, then the kernel's tokens. An encoder of the same size reads it and
tells log2 us, fitted by squared error. Every row costs a full pass, so it is given minutes, not epochs, and sees as
many rows, drawn at random, as fit into them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import Dataset

from model.learned.tokenizer import ids_of, train_tokenizer
from model.network import CodeEncoder, Shape
from model.training.accuracy import accuracy
from model.training.arrays import Arrays, Floats, Indices, Split
from model.training.batches import ALIKE, Batch, padded
from model.training.recipe import Recipe
from model.training.trainer import BEST_BY, train

AT_ONCE = 32
MOST_WATCHED = 1000  # rows


class TextNetwork(nn.Module):
    """Tokens of a text -> log2 us."""

    def __init__(self, shape: Shape, mean_log2_us: float) -> None:
        super().__init__()
        self.code = CodeEncoder(shape)
        self.out = nn.Linear(shape.slots * shape.width, 1)
        nn.init.constant_(self.out.bias, mean_log2_us)

    def forward(self, tokens: Tensor, log2_us: Tensor, weight: Tensor) -> dict[str, Tensor]:
        """`tokens` [rows, tokens], the others [rows]."""
        said = self.out(self.code(tokens).flatten(1))[:, 0]
        error = functional.mse_loss(said, log2_us, reduction="none")
        return {"loss": (weight * error).sum() / weight.sum(), "log2_us": said}


@dataclass(frozen=True, slots=True)
class TextOnly:
    network: TextNetwork
    texts: RowTexts


class RowTexts:
    """The ids of each row's text. `launches` are told as `launch_sentence` takes them, in the order of the arrays'."""

    def __init__(self, arrays: Arrays, launches: Sequence[Mapping[str, Any]], longest: int) -> None:
        self._arrays, self._launches, self._longest = arrays, launches, longest
        first_launches = {at: launch for launch, at in reversed(list(enumerate(arrays.launch_kernel.tolist())))}
        self.tokenizer = train_tokenizer(
            [*self._sentence(first_launches[at], 0), *arrays.kernels[at].tokens]
            for at in arrays.kernels_in(Split.TRAIN)
        )

    def __getitem__(self, row: int) -> list[int]:
        """The sentence, then the source; of a source too long for the rest, its head and its tail."""
        arrays = self._arrays
        launch = int(arrays.row_launch[row])
        sentence = self._sentence(launch, int(arrays.row_device[row]))
        ids = ids_of(self.tokenizer, sentence, self._longest // 2)
        return ids + ids_of(
            self.tokenizer, arrays.kernels[int(arrays.launch_kernel[launch])].tokens, self._longest - len(ids)
        )

    def _sentence(self, launch: int, device: int) -> list[str]:
        return launch_sentence(self._launches[launch], self._arrays.names.devices[device])


class TextPlan(Dataset[Batch]):
    """Item i is step i's batch of random training rows, alike in length: `ALIKE` batches are drawn at once."""

    def __init__(self, arrays: Arrays, texts: RowTexts, recipe: Recipe, seed: int) -> None:
        self._arrays, self._texts, self._recipe, self._seed = arrays, texts, recipe, seed
        self._rows = arrays.rows_in(Split.TRAIN)
        self._drawn = lru_cache(maxsize=2)(self._draw)

    def __len__(self) -> int:
        return self._recipe.steps * int(os.environ.get("WORLD_SIZE", "1"))

    def __getitem__(self, step: int) -> Batch:
        rows, ids = self._drawn(step // ALIKE)[step % ALIKE]
        return {
            "tokens": padded(ids),
            "log2_us": torch.from_numpy(self._arrays.row_log2_us[rows]),
            "weight": torch.from_numpy(self._arrays.row_weight[rows]),
        }

    def _draw(self, turn: int) -> list[tuple[Indices, list[list[int]]]]:
        draw = np.random.default_rng([self._seed, turn])
        rows = draw.choice(self._rows, ALIKE * AT_ONCE)
        ids = [self._texts[row] for row in rows]
        by_length = sorted(range(len(rows)), key=lambda at: len(ids[at]))
        batches = [by_length[start : start + AT_ONCE] for start in range(0, len(rows), AT_ONCE)]
        return [(rows[some], [ids[at] for at in some]) for some in (batches[at] for at in draw.permutation(ALIKE))]


def train_text_only(
    arrays: Arrays, launches: Sequence[Mapping[str, Any]], folder: Path, recipe: Recipe, shape: Shape, seed: int = 0
) -> TextOnly:
    """`shape` is the main network's, `launches` as `RowTexts` takes them.

    Leaves checkpoints and `progress.jsonl` in `folder`.
    """
    torch.manual_seed(seed)
    texts = RowTexts(arrays, launches, shape.longest)
    shape = replace(shape, vocabulary=texts.tokenizer.get_vocab_size())
    network = TextNetwork(shape, float(arrays.row_log2_us[arrays.rows_in(Split.TRAIN)].mean()))
    watched = np.random.default_rng(seed).permutation(arrays.rows_in(Split.VALIDATION))[:MOST_WATCHED]

    def figures() -> dict[str, float]:
        found = accuracy(text_estimates(network, texts, watched), arrays.row_log2_us[watched])
        return {"validation/median_ape_percent": found.median_ape_percent, BEST_BY: found.error_octaves}

    train(network, TextPlan(arrays, texts, recipe, seed), folder, recipe, seed, figures)
    return TextOnly(network.eval(), texts)


@torch.inference_mode()
def text_estimates(network: TextNetwork, texts: RowTexts, rows: Indices) -> Floats:
    """log2 us [rows]"""
    network.eval()
    ids = [texts[row] for row in rows]
    by_length = np.array(sorted(range(len(rows)), key=lambda at: len(ids[at])))
    found = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), AT_ONCE):
        some = by_length[start : start + AT_ONCE]
        tokens = padded([ids[at] for at in some]).to(network.out.weight.device)
        found[some] = network.out(network.code(tokens).flatten(1))[:, 0].cpu().numpy()
    return found


def launch_sentence(launch: Mapping[str, Any], device: str) -> list[str]:
    """Words, numbers digit by digit: `global 1 0 2 4 , local 6 4 , scalars 1 6 , buffers 4 0 9 6 , on pocl ;`"""
    words = [
        "global",
        *_digits(launch["global"]),
        "local",
        *(_digits(launch["local"]) if launch["local"] else ["any", ","]),
    ]
    for kind in ("scalars", "buffers"):
        words += [kind, *_digits(launch[kind].values())]
    return [*words, "on", device, ";"]


def _digits(values: Iterable[object]) -> list[str]:
    return [character for value in values for character in [*str(value), ","]]
