"""`transformers.Trainer` over a plan of batches: torchrun and accelerate scale it, checkpoints resume it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import accelerate  # noqa: F401 - the Trainer asks for it, but only when minutes of reading lie behind
import torch
from torch import Tensor, distributed, nn
from torch.utils.data import Dataset, Sampler, SequentialSampler
from transformers import Trainer, TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from transformers.trainer_callback import PrinterCallback, ProgressCallback
from transformers.trainer_utils import get_last_checkpoint

from model.training.checkpoints import append


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


BEST_BY = "error"  # of the figures: the least of all evaluations is kept
LOG_EVERY = 20  # steps

Batch = dict[str, Tensor]
Figures = Callable[[], dict[str, float]]


def train(
    network: nn.Module,
    plan: Dataset[Batch],
    folder: Path,
    recipe: Recipe,
    seed: int,
    figures: Figures,
) -> None:
    """Trains `network` in place and leaves it as it was at its best evaluation.

    Checkpoints and `progress.jsonl` lie in `folder`; a run that was stopped goes on from its last checkpoint there.
    `figures` evaluates the network; `error` must be among what it returns. Raises `OSError` where `folder` cannot be
    written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if recipe.cpu_threads:
        torch.set_num_threads(recipe.cpu_threads)
    checkpoint = get_last_checkpoint(str(folder))  # type: ignore[no-untyped-call]
    trainer = _Trainer(network, plan, folder, recipe, seed, figures)
    trainer.train(resume_from_checkpoint=checkpoint)


class _Trainer(Trainer):
    def __init__(
        self, network: nn.Module, plan: Dataset[Batch], folder: Path, recipe: Recipe, seed: int, figures: Figures
    ) -> None:
        self._network, self._recipe, self._figures = network, recipe, figures
        self._clock = _Clock(recipe.most_minutes)
        super().__init__(
            model=network,
            args=_arguments(folder, recipe, seed),
            data_collator=_only,
            train_dataset=plan,
            eval_dataset=plan,  # asked for by the base class; `evaluate` reads none
            callbacks=[self._clock, _Progress(folder / "progress.jsonl", self._clock)],
        )
        self.remove_callback(PrinterCallback)  # standard output is for answers
        self.remove_callback(ProgressCallback)

    def _get_train_sampler(self, train_dataset: Dataset[Batch] | None = None) -> Sampler[int] | None:
        """Return a sequential sampler: the plan has drawn already."""
        return SequentialSampler(train_dataset or self.train_dataset)  # type: ignore[arg-type]

    def create_scheduler(
        self, num_training_steps: int, optimizer: torch.optim.Optimizer | None = None
    ) -> torch.optim.lr_scheduler.LambdaLR:
        warmup, steps = self._recipe.warmup, self._recipe.steps

        def rate(step: int) -> float:
            done = max(step / steps, self._clock.spent)
            if done < warmup:
                return (1 + step) / (1 + warmup * steps)
            return 0.5 + 0.5 * math.cos(math.pi * min(1.0, (done - warmup) / (1 - warmup)))

        self.lr_scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer or self.optimizer, rate)  # type: ignore[arg-type]
        self._created_lr_scheduler = True
        return self.lr_scheduler

    def evaluate(self, *_: object, **__: object) -> dict[str, float]:
        values = {f"eval_{name}": value for name, value in self._figures().items()}
        self._network.train()
        self.log(values)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, values)
        return values


class _Clock(TrainerCallback):
    """Stops, with a last evaluation and a checkpoint, when the minutes are spent. Those before a stop count."""

    def __init__(self, most_minutes: float) -> None:
        self.spent = 0.0  # share of the minutes, as of the last step
        self._most = most_minutes
        self._before = 0.0
        self._since = time.monotonic()

    @property
    def minutes(self) -> float:
        return self._before + (time.monotonic() - self._since) / 60

    def on_train_begin(self, args: TrainingArguments, state: TrainerState, *_: object, **__: object) -> None:
        self._before = max((line.get("minutes", 0.0) for line in state.log_history), default=0.0)
        self._since = time.monotonic()

    def on_step_begin(self, args: TrainingArguments, *_: object, **__: object) -> None:
        spent = torch.tensor([self.minutes / self._most], device=args.device)
        if distributed.is_initialized():
            distributed.broadcast(spent, 0)  # processes that stopped at different steps would wait for each other
        self.spent = spent.item()

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object) -> None:
        if self.spent >= 1 or state.global_step >= args.max_steps:
            control.should_training_stop = control.should_evaluate = control.should_save = True


class _Progress(TrainerCallback):
    def __init__(self, path: Path, clock: _Clock) -> None:
        self._path, self._clock = path, clock

    def on_log(self, args: TrainingArguments, state: TrainerState, *_: object, **said: object) -> None:
        logs = said["logs"]
        if not isinstance(logs, dict) or not state.is_world_process_zero:
            return
        state.log_history[-1]["minutes"] = self._clock.minutes
        values = {name.removeprefix("eval_"): value for name, value in logs.items()}
        append(self._path, state.global_step, {**values, "minutes": self._clock.minutes})


def _arguments(folder: Path, recipe: Recipe, seed: int) -> TrainingArguments:
    arguments = TrainingArguments(
        output_dir=str(folder),
        max_steps=recipe.steps,
        per_device_train_batch_size=1,  # an item of the plan is a whole batch
        learning_rate=recipe.learning_rate,
        weight_decay=recipe.weight_decay,
        adam_beta2=0.98,
        max_grad_norm=1.0,
        logging_steps=LOG_EVERY,
        eval_strategy="steps",
        eval_steps=recipe.evaluate_every,
        save_strategy="steps",
        save_steps=recipe.evaluate_every,
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model=BEST_BY,
        greater_is_better=False,
        seed=seed,
        bf16=recipe.bf16,
        use_cpu=not torch.cuda.is_available(),
        dataloader_pin_memory=False,
        remove_unused_columns=False,
        report_to="none",
        disable_tqdm=True,
    )
    # Several GPUs are torchrun's: within one process the batch would be torn apart.
    arguments._n_gpu = min(1, arguments.n_gpu)
    return arguments


def _only(items: list[Batch]) -> Batch:
    return items[0]
