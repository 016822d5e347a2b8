"""How long the engine takes over a long file: cold, again, and after an edit inside one kernel."""

from __future__ import annotations

import statistics
import time

from generate import generate_file

from model.device import Device
from model.engine import Engine


def analysis_ms(device: Device, *, lines: int = 2000, kernels: int = 40, rounds: int = 7) -> dict[str, float]:
    """Medians over `rounds`, in milliseconds; raises RuntimeError if a kernel got no prediction."""
    taken: dict[str, list[float]] = {"first sight": [], "unchanged": [], "one kernel edited": []}
    for seed in range(rounds):
        text = generate_file(lines, kernels, seed)
        edited = text.replace("float v = -INFINITY;", f"float v = -{seed + 1}.5f;", 1)
        engine = Engine()
        for what, state in zip(taken, (text, text, edited), strict=True):
            taken[what].append(_forecast_ms(engine, state, device, kernels))
    return {what: statistics.median(times_ms) for what, times_ms in taken.items()}


def _forecast_ms(engine: Engine, text: str, device: Device, kernels: int) -> float:
    begun = time.perf_counter()
    found = engine.forecast(text, None, device)
    taken_ms = 1e3 * (time.perf_counter() - begun)
    answered = {forecast.kernel.name for forecast in found.forecasts if forecast.prediction}
    if len(answered) != kernels:
        unanswered = [f.problem for f in found.forecasts if f.prediction is None]
        raise RuntimeError(f"only {len(answered)} of {kernels} kernels got a prediction: {unanswered[:1]}")
    return taken_ms
