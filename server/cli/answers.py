"""Answers as JSON: the same keys from `predict`, from `measure`, and from a batch of either."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from model.compiled_occupancy import OfflineFacts
from model.errors import KernelcastError
from model.forecast import Forecast, Problem
from model.launch.launch import Launch
from model.prediction import Prediction
from profiler.measurement import MeasureError, Measurement
from profiler.offline.diagnostics import DoesNotCompile
from server.cli.forecasts import Found
from server.cli.requests import Request
from server.text.account import account_json, assumptions_json, lines_json
from server.text.advice import advice_json
from server.text.hint import error_percent
from server.text.measured import measured_json
from server.text.recorded import recording_json
from server.text.versions import relative_json

if TYPE_CHECKING:
    from model.work.counts import AccessCount
    from model.work.features.facts import AccessFacts, Footprint
    from model.work.work_counts import WorkCounts

Answer = dict[str, Any]


def prediction_answer(request: Request, found: Found, forecast: Forecast) -> Answer:
    """Return the forecast, or the error in its place."""
    head = _head(request, forecast)
    if forecast.prediction is None or forecast.launch is None:
        problem = forecast.problem or Problem("analysis", "no prediction could be made")
        return {**head, "error": _error(problem)}
    prediction = forecast.prediction
    q, host = prediction.runtime_us, prediction.host_runtime_us
    return {
        **head,
        "device": {
            "id": prediction.device_id,
            "name": prediction.device_name,
            "calibrated": prediction.calibrated,
        },
        "launch": _launch(forecast.launch),
        "recorded": recording_json(forecast.recorded, found.recorded_shares.get(id(forecast))),
        "runtime_us": {"p10": q.p10, "p50": q.p50, "p90": q.p90},
        "host_runtime_us": {"p10": host.p10, "p50": host.p50, "p90": host.p90} if host else None,
        "bound": str(prediction.bound),
        "basis": str(prediction.basis),
        "novelty": prediction.novelty,
        "corrected": prediction.is_corrected,
        "code": _code(prediction.code),
        "relative_to": relative_json(prediction.relative),
        "analytic_us": prediction.analytic_us,
        "laws_us": prediction.analytic_us,  # its former name, for one release
        "work": prediction.work.as_json(),
        "assumptions": assumptions_json(prediction),
        "resources_us": {resource.resource: resource.time_us for resource in prediction.resources},
        "account": account_json(prediction.account),
        "accesses": accesses_json(prediction.work),
        "loops": loops_json(prediction.work),
        "branches": branches_json(prediction.work),
        "lines": lines_json(prediction),
        "advice": [advice_json(each, forecast.kernel) for each in prediction.advice],
        "problems": [_error(problem) for problem in found.problems],
    }


def measurement_answer(request: Request, found: Found, forecast: Forecast, measured: Measurement) -> Answer:
    """Return the measurement beside what was predicted."""
    answer = prediction_answer(request, found, forecast)
    answer.pop("error", None)
    prediction = forecast.prediction
    return {
        **answer,
        "device": {
            "id": measured.device_id,
            "name": measured.device_name,
            "calibrated": found.device.calibrated,
            "driver": measured.driver,
        },
        **measured_json(measured),
        "basis": "measured",
        **_predicted(prediction, measured),
    }


def error_answer(request: Request | None, error: KernelcastError, *, asked: object = None) -> Answer:
    """Return an error as an answer; `asked` is the id of a request that could not be read."""
    head: Answer = {"id": asked} if request is None else {"id": request.id, "file": str(request.file)}
    if request is not None and request.kernel:
        head["kernel"] = request.kernel
    return {**head, "error": error_json(error)}


def forecast_error_answer(request: Request, forecast: Forecast, error: KernelcastError) -> Answer:
    """Return a launch that was forecast but could not be measured; the prediction stands beside the error."""
    prediction = forecast.prediction
    said = {"predicted_us": prediction.runtime_us.p50} if prediction else {}
    return {**_head(request, forecast), **said, "error": error_json(error)}


def error_json(error: KernelcastError) -> Answer:
    said: Answer = {"code": error.code, "message": error.message, "line": error.line}
    if isinstance(error, MeasureError) and error.log:
        said["log"] = error.log
    if isinstance(error, DoesNotCompile):
        said["diagnostics"] = [
            {"file": each.file, "line": each.line, "column": each.column, "text": each.text,
             "severity": "error" if each.is_error else "warning"}
            for each in error.diagnostics
        ]  # fmt: skip
    return said


def _head(request: Request, forecast: Forecast) -> Answer:
    return {"id": request.id, "file": str(request.file), "kernel": forecast.kernel.name}


def _error(problem: Problem) -> Answer:
    return {"code": problem.code, "message": problem.message, "line": problem.line}


def _code(code: OfflineFacts | None) -> Answer | None:
    """Return what a GPU's compiler made of the kernel, where the prediction rests on it and on no estimate."""
    if code is None:
        return None
    return {
        "target": code.target,
        "registers": code.registers,
        "spill_bytes": code.spill_bytes,
        "private_mem_bytes": code.private_mem_bytes,
        "local_mem_bytes": code.local_mem_bytes,
        "occupancy_percent": code.occupancy.percent,
        "occupancy_limiter": str(code.occupancy.limiter),
    }


def _launch(launch: Launch) -> Answer:
    return {
        "name": launch.name,
        "global": list(launch.global_size),
        "local": list(launch.local_size) if launch.local_size else None,
        "args": dict(launch.scalars),
        "buffers": dict(launch.buffers),
        "images": {name: list(sizes) for name, sizes in launch.images},
        "local_bytes": dict(launch.local_bytes),
        "fill": {name: str(fill) for name, fill in launch.fills},
        "options": launch.options.arguments(),
        "origin": str(launch.origin),
    }


def _predicted(prediction: Prediction | None, measured: Measurement) -> Answer:
    if prediction is None:
        return {"predicted_us": None, "error_percent": None}
    q = prediction.own_us
    return {
        "predicted_us": q.p50,
        "predicted": {"p10": q.p10, "p50": q.p50, "p90": q.p90},
        "error_percent": error_percent(prediction, measured),
    }


Json = dict[str, Any]


def accesses_json(work: WorkCounts) -> list[Json]:
    """Return one entry for each load and store of the source, in its order. Lines count from 1."""
    return [_access(count, facts) for count, facts in zip(work.accesses, work.facts.accesses, strict=True)]


def _access(count: AccessCount, facts: AccessFacts) -> Json:
    moved = count.line - facts.count.line
    transactions = facts.transactions
    return {
        "line": count.line + 1 if count.line >= 0 else None,
        "buffer": count.buffer,
        "space": str(count.space),
        "kind": "atomic" if count.is_atomic else "store" if count.is_store else "load",
        "index": (facts.index_in_words(lambda line: line + moved) if moved else facts.words) or None,
        "not_affine": str(facts.index.obstacle) if facts.index.obstacle else None,
        "through": facts.index.through or None,
        "bytes_each": count.element_bytes,
        "vector_width": count.width,
        "count": count.count,
        "pattern": str(count.pattern),
        "stride_bytes": count.stride_bytes,
        "steps_bytes": [step.bytes for step in facts.steps],
        "cache_set_conflicts": max((step.set_conflicts for step in facts.steps), default=1),
        "waiting": count.waiting,
        "accumulated_in_memory": facts.is_accumulated_in_memory,
        "item": _footprint(facts.item),
        "group": _footprint(facts.group),
        "launch": _footprint(facts.launch),
        "sectors_per_warp": transactions.sectors if transactions else None,
        "lines_per_warp": transactions.lines if transactions else None,
        "bank_conflict_degree": facts.bank_conflict_degree,
    }


def _footprint(footprint: Footprint) -> Json:
    return {
        "requested_bytes": footprint.requested_bytes,
        "distinct_bytes": footprint.distinct_bytes,
        "cache_line_bytes": footprint.line_bytes,
        "exact": footprint.is_exact,
    }


def loops_json(work: WorkCounts) -> list[Json]:
    return [
        {
            "line": loop.line + 1,
            "depth": loop.depth,
            "entries": loop.entries,
            "trips": loop.trips,
            "decided_by": str(loop.trip_kind),
            "barrier_inside": loop.has_barrier,
            "chain": loop.chain,
            "accumulators": loop.accumulators,
            "warp_efficiency": loop.warp_efficiency,
            "group_imbalance": loop.group_imbalance,
        }
        for loop in work.facts.loops
    ]


def branches_json(work: WorkCounts) -> list[Json]:
    return [
        {
            "line": branch.line + 1,
            "share": branch.share,
            "warps_diverging": branch.warps_diverging,
            "groups_diverging": branch.groups_diverging,
            "decided_by": str(branch.decided_by),
            "exact": branch.is_exact,
        }
        for branch in work.facts.branches
    ]
