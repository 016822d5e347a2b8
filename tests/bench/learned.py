"""What the learned model adds to an answer, and how that compares with one pass of a language model of code.

LLMPerf (arXiv 2503.11244) predicts with CodeGen-350M; one of its size with random weights takes as long.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

import psutil
from launches import Spread, _kernels, _launches, _timed_ms, _yardstick

from model.device import Device
from model.learned.asking import question_about
from model.learned.learned import load_model
from model.learned.question import Question
from model.opencl.normalise import normalised_tokens
from model.opencl.program import read_program
from model.predictor import Predictor
from model.work.analyse import analyse

KERNELS = 60
TOKENS = 512
BATCH = 1000
PASSES = 3


@dataclass(frozen=True, slots=True)
class Learned:
    spreads: tuple[Spread, ...]
    answers_per_second: float
    resident_mb: float  # of a process that holds the engine and the weights
    codegen_ms: float | None  # None where transformers is not installed


def learned(device: Device) -> Learned | None:
    """None where no weights are shipped."""
    model = load_model()
    if model is None:
        return None
    predictor = Predictor()
    asked: list[Question] = []
    of_new, of_changed, alone = (
        "a new kernel, answer and all",
        "a changed launch, the model's answer and all",
        "the model's answer to a changed launch",
    )
    times: dict[str, list[float]] = {of_new: [], of_changed: [], alone: []}
    yardsticks: list[float] = []
    for kernel in _kernels(KERNELS):
        yardsticks.append(_timed_ms(_yardstick))
        begun = time.perf_counter()
        program = read_program(kernel.source, None, kernel.options)
        work = analyse(program, program.kernel(kernel.name))
        tokens = normalised_tokens(program, kernel.name)
        for number, launch in enumerate(_launches(kernel)):
            if number:
                begun = time.perf_counter()
            prediction = predictor.predict(work, launch, device)
            predicted = time.perf_counter()
            question = question_about(prediction, work, launch, device, tokens)
            model.answer([question])
            answered = time.perf_counter()
            times[of_changed if number else of_new].append(1e3 * (answered - begun))
            if number:
                times[alone].append(1e3 * (answered - predicted))
            asked.append(question)
    batch = (asked * (1 + BATCH // len(asked)))[:BATCH]
    rate = BATCH / min(_timed_ms(lambda: model.answer(batch)) / 1e3 for _ in range(PASSES))
    resident_mb = psutil.Process().memory_info().rss / 1e6
    yardstick_ms = statistics.median(yardsticks)
    spreads = tuple(Spread(what, tuple(taken), yardstick_ms) for what, taken in times.items())
    return Learned(spreads, rate, resident_mb, _codegen_ms())


def _codegen_ms() -> float | None:
    """One forward pass over TOKENS tokens, the fastest of several."""
    try:
        import torch
        from transformers import CodeGenConfig, CodeGenForCausalLM
    except ImportError:
        return None
    torch.set_num_threads(2)
    network = CodeGenForCausalLM(CodeGenConfig(n_embd=1024, n_layer=20, n_head=16, rotary_dim=32)).eval()
    tokens = torch.randint(0, 50_000, (1, TOKENS))
    with torch.inference_mode():
        return min(_timed_ms(lambda: network(tokens)) for _ in range(PASSES))
