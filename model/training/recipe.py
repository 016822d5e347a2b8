"""How the network is trained, on a CPU and on a GPU."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Recipe:
    """First everything is trained, then the head alone on vectors of kernels that no longer change.

    A step of the first sees `kernels_per_step` kernels, each encoded once, with up to `rows_per_kernel` of its rows,
    and `other_rows` of kernels whose code is hidden: rows cost little, and gradients want many kernels. The learning
    rate rises over `warmup`, then falls along a cosine to nothing at the last step, or when the minutes are over where
    the machine is too slow. The same seed gives the same weights where the steps come first.
    """

    steps: int
    most_minutes: float
    head_steps: int
    head_most_minutes: float
    kernels_per_step: int = 32
    rows_per_kernel: int = 8
    other_rows: int = 384
    head_rows: int = 768  # a step
    learning_rate: float = 1e-3
    head_learning_rate: float = 7e-4
    warmup: float = 0.03  # of the steps
    weight_decay: float = 0.05
    compiled_hidden: float = 0.5  # how often the compiled facts of a row are hidden
    evaluate_every: int = 500  # steps; a checkpoint each
    bf16: bool = False
    cpu_threads: int | None = None

    def of_head(self) -> Recipe:
        """The second part, as a recipe of one part."""
        return replace(
            self, steps=self.head_steps, most_minutes=self.head_most_minutes, learning_rate=self.head_learning_rate
        )


CPU = Recipe(steps=4500, most_minutes=75, head_steps=4000, head_most_minutes=30, cpu_threads=2)
GPU = Recipe(
    steps=8000,
    most_minutes=60,
    head_steps=20_000,
    head_most_minutes=30,
    kernels_per_step=128,
    other_rows=1024,
    head_rows=2048,
    learning_rate=2e-3,
    bf16=True,
)
# A row costs the text-only baseline a full pass, so it is given minutes and sees the rows that fit into them.
TEXT_ONLY_CPU = Recipe(steps=4000, most_minutes=20, head_steps=0, head_most_minutes=0, cpu_threads=2)
