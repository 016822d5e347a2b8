"""The facts of a report for scripts: the same figures as on the page, with units in the keys."""

from __future__ import annotations

from typing import Any

from model.prediction import Quantiles
from profiler.measurement import Measurement
from server.report.facts import DeviceRow, HistoryRow, KernelFacts, LaunchFacts, Report, Sizes
from server.text.account import account_json, assumptions_json, lines_json
from server.text.advice import advice_json

Json = dict[str, Any]


def report_json(report: Report) -> Json:
    return {
        "title": report.title,
        "made_at": report.made_at,
        "version": report.version,
        "problems": list(report.problems),
        "kernels": [_kernel(kernel) for kernel in report.kernels],
    }


def _kernel(kernel: KernelFacts) -> Json:
    return {
        "kernel": kernel.name,
        "file": kernel.file,
        "line": kernel.line,
        "device": {"id": kernel.device.id, "name": kernel.device.name, "calibrated": kernel.device.calibrated},
        "launches": [_launch(launch) for launch in kernel.launches],
        "history": [_history(row) for row in kernel.history],
    }


def _launch(launch: LaunchFacts) -> Json:
    prediction, problem, made = launch.forecast.prediction, launch.forecast.problem, launch.forecast.launch
    if prediction is None or made is None:
        said = problem or None
        error = {"code": said.code, "message": said.message, "line": said.line} if said else {"code": "analysis"}
        return {"launch": launch.title, "error": error}
    roof = launch.roofline
    return {
        "launch": launch.title,
        "global": list(made.global_size),
        "local": list(made.local_size) if made.local_size else None,
        "runtime_us": _quantiles(prediction.runtime_us),
        "host_runtime_us": _quantiles(host) if (host := prediction.host_runtime_us) else None,
        "bound": str(prediction.bound),
        "basis": str(prediction.basis),
        "measured_us": _measured(launch.measured) if launch.measured else None,
        "roofline": {
            "unit": roof.unit,
            "operations": roof.operations,
            "requested_bytes": roof.requested_bytes,
            "intensity": roof.intensity,
            "bandwidths": [{"gb_s": s.read_gb_s, "up_to_bytes": s.up_to_bytes} for s in roof.slopes],
            "ceilings": [{"name": c.name, "gop_s": c.gop_s} for c in roof.ceilings],
        }
        if roof
        else None,
        "sizes": _sizes(launch.sizes) if launch.sizes else None,
        "devices": [_device(row) for row in launch.devices],
        "resources_us": {r.resource: r.time_us for r in prediction.resources},
        "account": account_json(prediction.account),
        "lines": lines_json(prediction),
        "advice": [advice_json(each, launch.forecast.kernel) for each in prediction.advice],
        "assumptions": assumptions_json(prediction),
    }


def _sizes(sizes: Sizes) -> Json:
    plan = sizes.plan
    return {
        "grows": [{"name": g.name, "at": g.at, "power": g.power} for g in (*plan.drivers, *plan.followers)],
        "follows": list(plan.follows),
        "stays": dict(plan.stays),
        "reason": plan.reason or sizes.stopped or None,
        "points": [
            {"work_items": p.work_items, "launch": p.launch, "factor": p.factor, "bound": str(p.bound)}
            | {"runtime_us": _quantiles(p.runtime_us), "current": p.is_current}
            for p in sizes.points
        ],
        "measured": [
            {"work_items": m.work_items, "median_us": m.median_us, "p10_us": m.p10_us, "p90_us": m.p90_us}
            for m in sizes.measured
        ],
    }


def _device(row: DeviceRow) -> Json:
    device, prediction = row.device, row.prediction
    head = {
        "id": device.id,
        "name": device.name,
        "here": row.is_here,
        "calibrated": device.calibrated,
        "current": row.is_current,
    }
    if prediction is None:
        return {**head, "error": {"code": "launch", "message": row.problem}}
    return {
        **head,
        "runtime_us": _quantiles(prediction.runtime_us),
        "bound": str(prediction.bound),
        "basis": str(prediction.basis),
        "ratio": row.ratio.p50 if row.ratio is not None else 1.0,
        "ratio_interval": {"p10": row.ratio.p10, "p90": row.ratio.p90} if row.ratio is not None else None,
    }


def _history(row: HistoryRow) -> Json:
    m = row.measurement
    return {
        "measured_at": m.measured_at,
        "device": {"id": m.device_id, "name": m.device_name, "driver": m.driver},
        "launch": m.launch,
        "launch_name": row.launch_name,
        **_measured(m),
        "repeats": m.repeats,
        "batch_spread_percent": m.batch_spread_percent,
        "predicted_us": row.predicted_us,
        "error_percent": row.error_percent,
        "same_source": row.is_same_source,
    }


def _measured(m: Measurement) -> Json:
    return {"median": m.median_us, "p10": m.p10_us, "p90": m.p90_us}


def _quantiles(q: Quantiles) -> Json:
    return {"p10": q.p10, "p50": q.p50, "p90": q.p90}
