"""An answer of `kernelcast compile` as JSON: the facts, and what the analysis counts beside them."""

from __future__ import annotations

from dataclasses import asdict

from model.compiled import CompiledFacts
from model.compiled_occupancy import offline_facts
from model.forecast import Forecast
from model.launch.launch import Launch
from model.launch.local_size import effective_local_size
from model.opencl.kernel import Kernel
from server.cli.answers import Answer
from server.cli.requests import Request
from server.text.compiled import counted_by_the_analysis

_SAID_ELSEWHERE = ("kernel", "device_id", "device_name", "driver", "kernel_lines", "version")


def compiled_answer(request: Request, forecast: Forecast, facts: CompiledFacts) -> Answer:
    """Return the answer; `analysis_per_work_item` has the kinds of `mix`, and lines count from 1."""
    told = asdict(facts)
    for key in _SAID_ELSEWHERE:
        told.pop(key)
    for part in (*told["loops"], *told["regions"]):
        part["line"] = part["line"] + 1 if part["line"] is not None else None
    launch = forecast.launch
    return {
        "id": request.id,
        "file": str(request.file),
        "kernel": forecast.kernel.name,
        "device": {"id": facts.device_id, "name": facts.device_name, "driver": facts.driver},
        "launch": {"name": launch.name, "global": list(launch.global_size)} if launch else None,
        "compiled": {**told, "vectorised": facts.is_vectorised, "spills": facts.spills},
        **_occupancy(forecast.kernel, launch, facts),
        "analysis_per_work_item": dict(counted_by_the_analysis(forecast.prediction.work))
        if forecast.prediction
        else None,
    }


def _occupancy(kernel: Kernel, launch: Launch | None, facts: CompiledFacts) -> Answer:
    """Return what a core (SM, CU, WGP, Xe-core ...) holds at once; nothing unless compiled for a target."""
    known = offline_facts(facts, kernel, launch) if launch else None
    if known is None or launch is None:
        return {}
    found = known.occupancy
    told = {
        "percent": found.percent,
        "limiter": str(found.limiter),
        "waves": found.waves,
        "max_waves": found.max_waves,
        "groups": found.groups,
        "local": list(effective_local_size(launch, kernel)),
    }
    return {"occupancy": told}
