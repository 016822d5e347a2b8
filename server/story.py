"""The full story of a kernel, as headed tables and lists; `markup` turns it into what the editor can show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from server.format import format_bytes, format_count, format_duration_us, format_interval, format_percent
from server.render import basis_sign, error_percent, shorten, spread_text

if TYPE_CHECKING:
    from model.device import Device
    from model.prediction import Prediction
    from model.work.counts import WorkCounts
    from profiler.measurement import Measurement
    from server.snapshot import KernelView, LaunchView, Snapshot

_LINES_SHOWN = 5
_CELL = 62  # with the widest label this keeps a table row within 80 columns
_BASIS = {
    "analytic": "performance laws",
    "model": "learned model",
    "compiled": "learned model, with what the driver's compiler made of the kernel",
    "measured": "measured",
}


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    rows: tuple[tuple[str, str], ...] = ()
    bullets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Story:
    """`lead` answers the question; the rest says why and how sure."""

    lead: str
    sections: tuple[Section, ...]


def tell(view: KernelView, snapshot: Snapshot) -> Story:
    sections = [section for launch in view.launches for section in _launch(launch, len(view.launches) > 1)]
    if view.kernel.has_errors:
        sections.append(
            Section("Syntax", bullets=("Part of this kernel could not be read; the figures leave it out.",))
        )
    problems = snapshot.analysis.forecast.problems
    if problems:
        said = tuple(f"{p.message} (line {p.line})" if p.line else p.message for p in problems)
        sections.append(Section("File", bullets=said))
    sections.append(Section("Device", bullets=_device_notes(snapshot.device, snapshot.settings.calibration_hints)))
    return Story(_lead(view), tuple(sections))


def _lead(view: KernelView) -> str:
    first = view.launches[0]
    prediction = first.forecast.prediction
    name = view.kernel.name
    more = f" ({len(view.launches)} launches below)" if len(view.launches) > 1 else ""
    if first.measured:
        took = (
            f"`{name}` takes {format_duration_us(first.measured.median_us)} on {first.measured.device_name} (measured)"
        )
        return took + (
            f", predicted {format_duration_us(prediction.runtime_us.p50)}{more}." if prediction else f"{more}."
        )
    if prediction is None:
        reason = first.forecast.problem.message if first.forecast.problem else "nothing is known of it."
        return f"`{name}` has no prediction: {reason}"
    return (
        f"`{name}` will take about {format_duration_us(prediction.runtime_us.p50)} on {prediction.device_name}, "
        f"bound by {prediction.bound}{more}."
    )


def _launch(view: LaunchView, several: bool) -> list[Section]:
    forecast, launch = view.forecast, view.forecast.launch
    title = f"Launch {launch.name or ''}".rstrip() if launch and several else "Prediction"
    rows: list[tuple[str, str]] = []
    if launch is not None:
        rows.append(("Launch", f"{launch.describe()} ({launch.origin})"))
    if forecast.prediction is not None:
        rows += _prediction_rows(forecast.prediction)
    rows += _measurement_rows(view)
    bullets = [f"No prediction: {forecast.problem.message}"] if forecast.problem else []
    if view.failure:
        bullets.append(f"The last measurement failed: {view.failure.message}")
    sections = [Section(title, tuple(rows), tuple(bullets))]
    if forecast.prediction is not None:
        sections += _details(forecast.prediction)
    return sections


def _prediction_rows(prediction: Prediction) -> list[tuple[str, str]]:
    q = prediction.runtime_us
    resources = ", ".join(f"{r.resource} {format_duration_us(r.time_us)}" for r in prediction.resources[:3])
    return [
        ("Predicted", f"{basis_sign(prediction)} {format_duration_us(q.p50)} {spread_text(q)}"),
        ("80 % interval", format_interval(q.p10, q.p90)),
        ("Bound by", f"{prediction.bound}" + (f" ({resources})" if resources else "")),
        ("Basis", _BASIS.get(str(prediction.basis), str(prediction.basis))),
        *_work_rows(prediction.work),
        *([("Novelty", f"{prediction.novelty:.2f} (1: unlike anything in training)")] if prediction.novelty else []),
    ]


def _work_rows(work: WorkCounts) -> list[tuple[str, str]]:
    intensity = work.arithmetic_intensity
    rows = [
        ("Work", f"{format_count(work.flops)} flops, {work.work_items:,} work-items in {work.work_groups:,} groups"),
        (
            "Global memory",
            f"{format_bytes(work.global_load_bytes)} loaded, {format_bytes(work.global_store_bytes)} stored, "
            f"{format_bytes(work.global_footprint_bytes)} distinct",
        ),
        ("Intensity", "no global memory" if intensity is None else f"{intensity:.3g} flop per byte"),
    ]
    if work.local_load_bytes + work.local_store_bytes > 0:
        moved = f"{format_bytes(work.local_load_bytes)} loaded, {format_bytes(work.local_store_bytes)} stored"
        rows.append(("Local memory", moved))
    extras = [(work.barriers, "barriers"), (work.atomics, "atomics")]
    extras += [(work.image_reads, "image reads"), (work.image_writes, "image writes")]
    if any(count for count, _ in extras):
        rows.append(("Also", ", ".join(f"{format_count(count)} {what}" for count, what in extras if count)))
    return rows


def _measurement_rows(view: LaunchView) -> list[tuple[str, str]]:
    prediction = view.forecast.prediction
    if view.measured:
        rows = [("Measured", _measured(view.measured)), ("", _circumstances(view.measured))]
        if prediction is not None:
            rows.append(
                (
                    "Error",
                    f"the prediction is {format_percent(error_percent(prediction, view.measured), signed=True)} off",
                )
            )
        return rows
    if view.stale:
        return [
            ("Measured", f"{_measured(view.stale)}, stale"),
            ("", f"before the kernel or its launch changed ({view.stale.launch})"),
        ]
    return []


def _measured(m: Measurement) -> str:
    return f"{format_duration_us(m.median_us)}, p10 to p90 {format_interval(m.p10_us, m.p90_us)}"


def _circumstances(m: Measurement) -> str:
    return (
        f"{m.repeats} runs in {m.batches} batches {m.batch_spread_percent:.1f} % apart, "
        f"{m.measured_at[:16].replace('T', ' ')} UTC"
    )


def _details(prediction: Prediction) -> list[Section]:
    hottest = tuple(
        (f"line {line.line + 1}", f"{line.share * 100:3.0f} %  {line.what}")
        for line in prediction.lines[:_LINES_SHOWN]
        if line.line >= 0
    )
    sections = [Section("Hottest lines", rows=hottest)] if hottest else []
    if prediction.assumptions:
        said = tuple(
            a.text.rstrip(".") + (f" (may cost a factor of {a.spread:.2g})." if a.spread > 1.005 else ".")
            for a in prediction.assumptions
        )
        sections.append(Section("Assumptions", bullets=said))
    return sections


def _device_notes(device: Device, say_how: bool) -> tuple[str, ...]:
    name = device.name if device.platform in ("", "none") else f"{device.name} ({device.platform})"
    if device.calibrated:
        when = f" on {device.measured_at[:10]}" if device.measured_at else ""
        noise = f", noise {device.noise_percent:.1f} %" if device.noise_percent is not None else ""
        return (f"{name}, calibrated{when}{noise}.",)
    how = (
        " Calibrate it for narrower intervals: code action, or `kernelcast calibrate`."
        if say_how and device.source == "driver"
        else ""
    )
    return (f"{name}, not calibrated; its rates come from the {device.source}.{how}",)


def as_markdown(story: Story) -> str:
    parts = [story.lead]
    for section in story.sections:
        parts.append(f"**{section.title}**")
        if section.rows:
            parts.append("\n".join(["| | |", "| --- | --- |", *(_row(*row) for row in section.rows)]))
        if section.bullets:
            parts.append("\n".join(f"- {bullet}" for bullet in section.bullets))
    return "\n\n".join(parts) + "\n"


def _row(label: str, value: str) -> str:
    return f"| {label} | {shorten(value, _CELL).replace('|', chr(92) + '|')} |"


def as_plain_text(story: Story) -> str:
    lines = [story.lead.replace("`", "")]
    for section in story.sections:
        width = max((len(label) for label, _ in section.rows), default=0)
        lines += ["", section.title]
        lines += [f"  {label:<{width}}  {shorten(value, _CELL)}" for label, value in section.rows]
        lines += [f"  - {bullet}" for bullet in section.bullets]
    return "\n".join(lines) + "\n"
