"""The network's answers to questions. A kernel is encoded once; another launch or device runs the head alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from cachetools import LRUCache
from torch import Tensor

from model.learned.network_file import NetworkFile, load_network_file
from model.learned.question import Question
from model.learned.tokenizer import ids_of
from model.network import PAD
from model.prediction import Quantiles

KERNELS_KEPT = 4096  # 2 kB each
KERNELS_AT_ONCE = 16
QUESTIONS_AT_ONCE = 1024
_TENTH = math.log(5)  # spreads of a Laplace distribution from its median to its p10 and p90


@dataclass(frozen=True, slots=True)
class NetworkAnswer:
    """`spread`: the scale of a Laplace distribution of log2 us around the median, in octaves."""

    median_us: float
    spread: float
    least_us: float  # no quantile is below it

    def quantiles(self) -> Quantiles:
        factor = 2 ** (_TENTH * self.spread)
        return Quantiles(max(self.least_us, self.median_us / factor), self.median_us, self.median_us * factor)


class LearnedNetwork:
    """Answers questions; keeps the vectors of the kernels asked about last."""

    def __init__(self, file: NetworkFile) -> None:
        self.file = file
        self._code: LRUCache[str, Tensor] = LRUCache(KERNELS_KEPT)

    @torch.inference_mode()
    def answers(self, questions: Sequence[Question]) -> list[NetworkAnswer]:
        """In the order of the questions. Facts must be as many as `file.names` has; raises `ValueError` otherwise."""
        return [
            answer
            for start in range(0, len(questions), QUESTIONS_AT_ONCE)
            for answer in self._answers(questions[start : start + QUESTIONS_AT_ONCE])
        ]

    def vectors(self, questions: Sequence[Question]) -> list[tuple[float, ...]]:
        """What the network saw in each one's kernel: slots x width numbers, nothing where it sees no code."""
        with torch.inference_mode():
            code = self._encoded(questions)
        return [tuple(code[question.kernel].flatten().tolist()) if code else () for question in questions]

    def _answers(self, questions: Sequence[Question]) -> list[NetworkAnswer]:
        names = self.file.names
        columns = (
            _matrix([question.launch_facts for question in questions], names.launch_facts),
            _matrix([question.law_facts for question in questions], names.laws),
            _matrix([question.device_facts for question in questions], names.device_facts),
            _matrix([question.compiled_facts for question in questions], names.compiled_facts),
        )
        code = self._encoded(questions)
        of_rows = torch.stack([code[question.kernel] for question in questions]) if code else None
        estimate = self.file.network.head(of_rows, *columns)
        return [
            NetworkAnswer(max(question.least_us, 2**log2_us), spread, question.least_us)
            for question, log2_us, spread in zip(
                questions, estimate.log2_us.tolist(), estimate.spread.tolist(), strict=True
            )
        ]

    def _encoded(self, questions: Sequence[Question]) -> dict[str, Tensor]:
        """By kernel: [slots, width]. Empty where the network sees no code."""
        network = self.file.network
        if network.code is None:
            return {}
        kernels = {question.kernel: question.tokens for question in questions}
        found = {kernel: self._code[kernel] for kernel in kernels if kernel in self._code}
        longest = network.shape.longest
        ids = {kernel: ids_of(self.file.tokenizer, kernels[kernel], longest) for kernel in kernels.keys() - found}
        unseen = sorted(ids, key=lambda kernel: (len(ids[kernel]), kernel))  # alike in length: less padding
        for start in range(0, len(unseen), KERNELS_AT_ONCE):
            some = unseen[start : start + KERNELS_AT_ONCE]
            most = len(ids[some[-1]])
            code = network.encode(torch.tensor([ids[kernel] + [PAD] * (most - len(ids[kernel])) for kernel in some]))
            assert code is not None
            found.update((kernel, vectors.clone()) for kernel, vectors in zip(some, code, strict=True))
        self._code.update({kernel: found[kernel] for kernel in unseen})
        return {kernel: found[kernel] for kernel in kernels}


def load_network(path: Path) -> LearnedNetwork:
    """Raises `UnreadableNetwork` where it is none, `OSError` where it cannot be read."""
    return LearnedNetwork(load_network_file(path))


def _matrix(rows: Sequence[tuple[float, ...] | None], names: Sequence[str]) -> Tensor:
    """[questions, facts]; NaN where a question has none of them."""
    unknown = (math.nan,) * len(names)
    filled = [unknown if row is None else row for row in rows]
    if any(len(row) != len(names) for row in filled):
        raise ValueError(f"the network was trained on {len(names)} facts here: {', '.join(names[:3])} ...")
    return torch.tensor(filled, dtype=torch.float32)
