"""The scores on unseen GPUs as tables: every line, or means over devices or over kernels."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from model.training.unseen_gpus import Method, UnseenScore

_FIGURES = "MAPE | median APE | within 2x | rank correlation"


def by_family(scores: Sequence[UnseenScore]) -> Iterator[str]:
    """Markdown: means over the devices, each counting the same."""
    return _means(scores, "Kernel", "devices", lambda score: score.family)


def by_device(scores: Sequence[UnseenScore]) -> Iterator[str]:
    """Markdown: means over the kernels, each counting the same."""
    return _means(scores, "Device", "kernels", lambda score: score.device)


def _means(scores: Sequence[UnseenScore], what: str, over: str, name: Callable[[UnseenScore], str]) -> Iterator[str]:
    yield f"| {what} | Method | {over} | n | {_FIGURES} |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    grouped: dict[tuple[str, Method], list[UnseenScore]] = defaultdict(list)
    for score in scores:
        grouped[name(score), score.method].append(score)
        grouped["all", score.method].append(score)
    for (group, method), own in sorted(grouped.items(), key=lambda item: (item[0][0] == "all", item[0][0])):
        yield f"| {group} | {method} | {len(own)} | {sum(s.rows for s in own)} | {_figures(own)} |"


def _figures(scores: Sequence[UnseenScore]) -> str:
    ranks = [s.spearman for s in scores if not math.isnan(s.spearman)]
    rank = f"{fmean(ranks):.2f}" if ranks else "-"
    percents = (
        fmean(s.mape_percent for s in scores),
        fmean(s.median_ape_percent for s in scores),
        fmean(s.within_2x_percent for s in scores),
    )
    return " | ".join([*(f"{percent:.0f} %" for percent in percents), rank])
