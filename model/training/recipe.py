"""How a network that reads text is trained."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to train.

    The learning rate rises over `warmup`, then falls along a cosine to nothing at the last step, or when the minutes
    are over where the machine is too slow. The same seed gives the same weights where the steps come first.
    """

    steps: int = 4000
    most_minutes: float = 20  # a row costs a full pass: it is given minutes, and sees the rows that fit into them
    learning_rate: float = 1e-3
    warmup: float = 0.03  # of the steps
    weight_decay: float = 0.05
    evaluate_every: int = 500  # steps; a checkpoint each
    bf16: bool = False
    cpu_threads: int | None = 2
