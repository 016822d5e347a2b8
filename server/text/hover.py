"""The full story of a kernel: a first line that answers the question, then figures and notes that say why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from model.compiled_occupancy import offline_facts
from server.text.account import limit_text, line_rows, overlap_text, parts_text
from server.text.advice import advice_of
from server.text.comparison import compared
from server.text.compiled import in_short
from server.text.devices import devices_section
from server.text.format import (
    as_sentence,
    format_bytes,
    format_count,
    format_duration_us,
    format_interval,
    name_and_runtime,
    shown_name,
)
from server.text.hint import guesses_text, launch_title
from server.text.layout import Section, Story, in_columns, labelled, plain
from server.text.recorded import recorded_section, recorded_words
from server.text.versions import since_words

if TYPE_CHECKING:
    from model.compiled_occupancy import Occupancy
    from model.launch.launch import Launch
    from model.prediction import Prediction
    from model.work.work_counts import WorkCounts
    from server.launch_view import LaunchView
    from server.snapshot import KernelView, Snapshot

_LINES_SHOWN = 5
_LINES_SHOWN_OF_MANY = 3  # of each launch, where a kernel has several
_LEAST_REUSE = 1.5
_LEAST_CONFLICT = 1.5
_NOTICEABLY = 1.1  # how much longer the host waits than the device works, for it to be worth a line
_ORIGIN = {"config": "kernelcast.toml"}


def render(view: KernelView, snapshot: Snapshot) -> Story:
    """Return time, launch, limiter and advice; then the details."""
    told = view.told_in_full
    sections = [Section("Advice", notes=_advice(view, snapshot))]
    sections += [section for launch in told for section in _launch(launch, len(told) > 1)]
    sections.append(recorded_section(view.launches))
    sections.append(Section("Assumed", notes=_assumptions(view)))
    sections.append(Section("Not everything could be read", notes=_gaps(view, snapshot)))
    sections.append(Section("", notes=_device_notes(snapshot)))
    return Story(_lead(view), tuple(section for section in sections if section.figures or section.notes))


def _about(first: LaunchView) -> str:
    """Return the launch, and what of it was guessed: `global 1024, local 64 (inferred; guessed: n=1024)`."""
    prediction = first.forecast.prediction
    launch = first.forecast.launch
    if launch is None:
        return ""
    sizes, groups = ("x".join(map(str, each)) if each else "auto" for each in (launch.global_size, launch.local_size))
    guessed = f"; guessed: {guesses_text(prediction)}" if prediction is not None and prediction.is_guessed else ""
    origin = recorded_words(first.forecast.recorded) if first.forecast.recorded else _origin(launch)
    return f" Launch: global {sizes}, local {groups} ({origin}{guessed})."


def _lead(view: KernelView) -> str:
    """Return the first launch's time with its range, its sizes, and what limits it."""
    first = view.launches[0]
    prediction = first.forecast.prediction
    name = view.kernel.name
    more = f" {len(view.launches)} launches, each below." if len(view.told_in_full) > 1 else ""
    limit = f" Bound by {limit_text(prediction.account)}." if prediction is not None else ""
    if first.measured:
        device = shown_name(first.measured.device_name)
        took = f"`{name}` takes **{format_duration_us(first.measured.median_us)}** on {device}"
        predicted = f"; predicted {format_duration_us(prediction.own_us.p50)}" if prediction else ""
        return f"{took} (measured{predicted}).{_about(first)}{limit}{more}"
    if prediction is None:
        reason = first.forecast.problem.message if first.forecast.problem else "nothing is known of it."
        return f"`{name}` has no prediction: {reason}"
    relative = prediction.relative if prediction.through is None else None
    change = f", {since_words(relative)}" if relative is not None else ""
    q = prediction.runtime_us
    return (
        f"`{name}` will take about **{format_duration_us(q.p50)}** ({format_interval(q.p10, q.p90)}) "
        f"on {shown_name(prediction.device_name)}{change}.{_about(first)}{limit}{more}"
    )


def _occupancy(view: LaunchView) -> Occupancy | None:
    """With the work-groups and local arguments of this launch; None unless compiled for a known GPU architecture."""
    launch = view.forecast.launch
    if view.compiled is None or launch is None:
        return None
    known = offline_facts(view.compiled, view.forecast.kernel, launch)
    return known.occupancy if known is not None else None


def _launch(view: LaunchView, several: bool) -> list[Section]:
    forecast, prediction = view.forecast, view.forecast.prediction
    rows: list[tuple[str, str]] = []
    if forecast.launch is not None:
        rows.append(("Launch", launch_text(view)))
        if several and prediction is not None and prediction.is_guessed:
            rows.append(("Guessed", guesses_text(prediction)))
    if prediction is not None:
        rows.append(("Bound by", f"{limit_text(prediction.account)}: {parts_text(prediction.account)}"))
        if overlap := overlap_text(prediction.account):
            rows.append(("Overlap", overlap))
        if waits := _host_text(prediction):
            rows.append(("The host", waits))
        rows += _work_rows(prediction.work)
    if view.compiled is not None and (compiled := in_short(view.compiled, _occupancy(view))):
        rows.append(("Compiled", compiled))
    notes = [f"No prediction: {forecast.problem.message}"] if forecast.problem and several else []
    if view.failure:
        notes.append(f"The last measurement failed: {view.failure.message}")
    title = f"Launch {launch_title(view)}" if several else ""
    sections = [Section(title, (*compared(view), *labelled(rows)), tuple(notes))]
    if prediction is not None:
        shown = _LINES_SHOWN_OF_MANY if several else _LINES_SHOWN
        sections.append(Section("Hottest lines", _hottest(prediction, shown)))
        sections.append(devices_section(view.elsewhere))
    return sections


def launch_text(view: LaunchView) -> str:
    """`512x512 work-items in groups of 16x16 (annotation)`."""
    launch = view.forecast.launch
    if launch is None:
        return "unknown"
    sizes = "x".join(map(str, launch.global_size))
    groups = f"of {'x'.join(map(str, launch.local_size))}" if launch.local_size else "that the driver chooses"
    return f"{sizes} work-items in groups {groups} ({_origin(launch)})"


def _host_text(prediction: Prediction) -> str:
    """Return how long the host waits, where that is noticeably longer than the device works; else nothing."""
    host, device_us = prediction.host_runtime_us, prediction.runtime_us.p50
    if host is None or host.p50 <= _NOTICEABLY * device_us:
        return ""
    adds = "measured here" if prediction.calibrated else "typical of such drivers"
    return (
        f"waits about {format_duration_us(host.p50)} from enqueueing to the end: "
        f"{format_duration_us(prediction.host_cost_us)} on top ({adds})"
    )


def _origin(launch: Launch) -> str:
    return _ORIGIN.get(str(launch.origin), str(launch.origin))


def _work_rows(work: WorkCounts) -> list[tuple[str, str]]:
    intensity = work.arithmetic_intensity
    each = f", {intensity:.3g} flop per byte" if intensity else ""
    rows = [("Work", f"{format_count(work.flops, 'flop')}{each}" if work.flops else "no floating-point arithmetic")]
    if work.global_load_bytes + work.global_store_bytes > 0:
        moved = _moved(work.global_load_bytes, work.global_store_bytes)
        rows.append(("Global memory", f"{moved}, {format_bytes(work.global_footprint_bytes)} distinct{_reuse(work)}"))
    if work.local_load_bytes + work.local_store_bytes > 0:
        rows.append(("Local memory", _moved(work.local_load_bytes, work.local_store_bytes) + _conflicts(work)))
    extras = [(work.barriers, "barriers"), (work.atomics, "atomics")]
    extras += [(work.image_reads, "image reads"), (work.image_writes, "image writes")]
    if any(count for count, _ in extras):
        rows.append(("Also", ", ".join(f"{_counted(count)} {what}" for count, what in extras if count)))
    return rows


def _reuse(work: WorkCounts) -> str:
    """Return how often each distinct byte is asked for, where that is more than once."""
    requested = work.global_load_bytes + work.global_store_bytes + work.constant_load_bytes
    times = requested / work.global_footprint_bytes if work.global_footprint_bytes else 0.0
    return f" (each {times:,.3g} times)" if times >= _LEAST_REUSE else ""


def _conflicts(work: WorkCounts) -> str:
    degree = work.facts.bank_conflict_degree
    return f", {degree:.3g}-fold bank conflicts" if degree is not None and degree >= _LEAST_CONFLICT else ""


def _counted(count: float) -> str:
    return f"{count:,.0f}" if count < 1e6 else format_count(count)


def _moved(loaded: float, stored: float) -> str:
    return f"{format_bytes(loaded)} loaded, {format_bytes(stored)} stored"


def _hottest(prediction: Prediction, shown: int) -> tuple[str, ...]:
    rows = [(share, place, plain(what)) for share, place, what in line_rows(prediction, shown)]
    return in_columns(rows, right=(0, 1))


def _advice(view: KernelView, snapshot: Snapshot) -> tuple[str, ...]:
    told = advice_of(view, snapshot.settings)
    return tuple(t.text if t.advice.line is None else f"Line {t.advice.line + 1}: {t.text}" for t in told)


def _assumptions(view: KernelView) -> tuple[str, ...]:
    """Return each once; those that do not hold for all launches say for which they do."""
    whose: dict[str, list[str]] = {}
    told = [(launch, launch.forecast.prediction) for launch in view.told_in_full]
    predicted = [(launch_title(launch), prediction) for launch, prediction in told if prediction]
    for title, prediction in predicted:
        for a in prediction.assumptions:
            cost = f" (may be off by a factor of {a.spread:.2g})" if a.spread > 1.005 else ""
            whose.setdefault(as_sentence(a.text.rstrip(".")) + cost, []).append(title)
    return tuple(
        f"{said}." if len(titles) == len(predicted) else f"{', '.join(titles)}: {said}."
        for said, titles in whose.items()
    )


def _gaps(view: KernelView, snapshot: Snapshot) -> tuple[str, ...]:
    problems: Sequence[str] = [
        f"{p.message} (line {p.line})" if p.line else p.message for p in snapshot.analysis.forecast.problems
    ]
    broken = ["Part of this kernel is not valid OpenCL C; the figures leave it out."] if view.kernel.has_errors else []
    return (*broken, *(as_sentence(problem) for problem in problems))


def _device_notes(snapshot: Snapshot) -> tuple[str, ...]:
    device, say_how = snapshot.device, snapshot.settings.calibration_hints and snapshot.is_device_here
    # Before devices are looked for none is known to be here.
    away = " It is not in this machine." if snapshot.analysis.found and not snapshot.is_device_here else ""
    name = name_and_runtime(device)
    if device.calibrated:
        when = f" on {device.measured_at[:10]}" if device.measured_at else ""
        repeatability = f", repeatability ±{device.noise_percent:.1f} %" if device.noise_percent is not None else ""
        return (f"{name} was calibrated{when}{repeatability}.{away}",)
    how = (
        " Calibrate it for narrower ranges: code action, or `kernelcast calibrate`."
        if say_how and device.source == "driver"
        else ""
    )
    return (f"{name} is not calibrated: its rates come from the {device.source}.{away}{how}",)
