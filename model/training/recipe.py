"""How the network is trained, on a CPU and on a GPU."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recipe:
    """A step sees `kernels_per_step` kernels, each encoded once, with up to `rows_per_kernel` of its rows.

    The learning rate rises over `warmup`, then falls along a cosine to nothing at `steps`, or at `most_minutes` where
    the machine is too slow for them. The same seed gives the same weights where the steps come first.
    """

    steps: int
    most_minutes: float
    kernels_per_step: int = 32
    rows_per_kernel: int = 8
    learning_rate: float = 1.5e-3
    warmup: float = 0.03  # of the steps
    weight_decay: float = 0.05
    compiled_hidden: float = 0.5  # how often the compiled facts of a row are hidden
    evaluate_every: int = 500  # steps; a checkpoint each
    bf16: bool = False
    cpu_threads: int | None = None


CPU = Recipe(steps=3600, most_minutes=110, cpu_threads=2)
GPU = Recipe(steps=6000, most_minutes=60, kernels_per_step=128, learning_rate=3e-3, evaluate_every=500, bf16=True)
# A row costs the text-only baseline a full pass, so it is given minutes and sees the rows that fit into them.
TEXT_ONLY_CPU = Recipe(steps=4000, most_minutes=20, learning_rate=1e-3, evaluate_every=100_000, cpu_threads=2)
