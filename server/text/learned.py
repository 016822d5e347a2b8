"""The learned model's part in a prediction, in words: how novel the kernel is to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model.prediction import Prediction

NOVEL = 1 / 3  # from here on it is worth telling where room is scarce
_UNSEEN = 2 / 3
BY_THE_MODEL = ("model", "compiled")
CORRECTED = "by measurements of other kernels on this device"


def is_by_the_model(prediction: Prediction) -> bool:
    """Return whether the learned model gave the prediction, or would have given it without measurements."""
    return str(prediction.own.basis) in BY_THE_MODEL


def novelty_words(novelty: float, model: str = "it") -> str:
    """`like kernels it was trained on`."""
    if novelty < NOVEL:
        return f"like kernels {model} was trained on"
    if novelty < _UNSEEN:
        return f"unlike most kernels {model} was trained on: the interval is wider for that"
    return f"unlike anything {model} has seen: the interval is wide"
