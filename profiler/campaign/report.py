"""What a campaign found, as a page that is committed beside its rows: conditions, accuracy before and after, noise."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median

import numpy as np

from model.device import Device
from model.host_cost import host_cost_us
from model.training.figures import Figures, figures_of
from profiler.campaign.kernels import CORPUS, OWN
from profiler.campaign.predicting import Estimate, Predicted
from profiler.campaign.rows import CampaignRow
from profiler.corpus.dataset.export import commit
from profiler.statistics import quantile

FILE_NAME = "report.md"
BEFORE, AFTER = "before: not calibrated", "after: calibrated"
_ANALYTIC = ", analytical model alone"
_CLOCK_SLACK = 1.25  # events and waits are medians of different runs
_MOST_IMPOSSIBLE = 0.05  # of the launches


@dataclass(frozen=True, slots=True)
class Report:
    """`phases`: calls and seconds by name; `failures`: launches and kernels that were given up, by code."""

    device: Device
    calibrated: Device | None
    rows: tuple[CampaignRow, ...]
    predicted: Mapping[tuple[str, str], Predicted]
    phases: Mapping[str, tuple[int, float]]
    failures: Mapping[str, int]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an accuracy table: how near predictions come to one part of the rows."""

    part: str
    who: str
    figures: Figures


@dataclass(frozen=True, slots=True)
class Noise:
    """How far measurements of one part lie apart [percent]: a row's batches, and rows measured twice."""

    part: str
    rows: int
    batches_median: float
    pairs: int
    pairs_median: float
    pairs_p90: float


def accuracy(report: Report) -> list[Line]:
    """Compare event times, own and corpus rows apart, with the predictions before and after the calibration."""
    return list(_lines(report, lambda row: row.stored.timing.median_us, _RUNTIME))


def host_accuracy(report: Report) -> list[Line]:
    """Compare what the host waited, in the same way."""
    return list(_lines(report, lambda row: row.stored.timing.wall_us, _HOST))


def noise(report: Report) -> list[Noise]:
    """Return the noise floor of each part that has rows."""
    return [_noise(part, rows) for part, rows in _parts(report)]


_Of = Callable[[Estimate], float | None]
_WHO: tuple[tuple[str, Callable[[Predicted], Estimate | None]], ...] = (
    (BEFORE, lambda p: p.before),
    (AFTER, lambda p: p.after),
)
_RUNTIME: tuple[tuple[str, _Of], ...] = (("", lambda e: e.runtime_us), (_ANALYTIC, lambda e: e.analytic_us))
_HOST: tuple[tuple[str, _Of], ...] = (("", lambda e: e.host_us),)


def _parts(report: Report) -> Iterator[tuple[str, list[CampaignRow]]]:
    for part in (OWN, CORPUS):
        rows = [row for row in report.rows if row.part == part]
        if rows:
            yield part, rows


def _lines(
    report: Report, measured: Callable[[CampaignRow], float], whats: Sequence[tuple[str, _Of]]
) -> Iterator[Line]:
    for part, rows in _parts(report):
        first = [row for row in rows if row.stored.key.repeat == 0 and measured(row) > 0]
        for who, of_whom in _WHO:
            shown: list[tuple[float, float]] | None = None
            for what, of in whats:
                pairs = [
                    (value, measured(row))
                    for row in first
                    if (predicted := report.predicted.get(row.key)) is not None
                    and (estimate := of_whom(predicted)) is not None
                    and (value := of(estimate)) is not None
                    and value > 0
                ]
                if pairs and pairs != shown:  # without a learned model for the device both are one
                    shown = shown or pairs
                    yield Line(part, who + what, _figures(pairs))


def _figures(pairs: Sequence[tuple[float, float]]) -> Figures:
    logs = np.log2(np.array(pairs, np.float64)).astype(np.float32)
    return figures_of(logs[:, 0], logs[:, 1])


def _noise(part: str, rows: Sequence[CampaignRow]) -> Noise:
    first = {row.key: row.stored.timing for row in rows if row.stored.key.repeat == 0}
    again = [(first[row.key], row.stored.timing) for row in rows if row.stored.key.repeat and row.key in first]
    apart = [
        100 * (max(a.median_us, b.median_us) / min(a.median_us, b.median_us) - 1)
        for a, b in again
        if min(a.median_us, b.median_us) > 0
    ]
    return Noise(
        part,
        len(first),
        median(timing.batch_spread_percent for timing in first.values()) if first else float("nan"),
        len(apart),
        median(apart) if apart else float("nan"),
        quantile(apart, 0.9) if apart else float("nan"),
    )


def host_sentences(report: Report) -> list[str]:
    """Say how event times and the host's waits go together."""
    timings = [row.stored.timing for row in report.rows if row.stored.key.repeat == 0]
    if not timings:
        return []
    impossible = sum(timing.wall_us * _CLOCK_SLACK < timing.median_us for timing in timings)
    beyond = median(timing.wall_us - timing.median_us for timing in timings)
    found = [
        f"{impossible} of {len(timings)} launches have an event that is a quarter longer than the host waited"
        + (": check this driver's events." if impossible > _MOST_IMPOSSIBLE * len(timings) else "."),
        f"The host waits {beyond:.1f} us more than the event, in the median; "
        f"{host_cost_us(report.device):.1f} us were expected before"
        + (f", {host_cost_us(report.calibrated):.1f} us by the calibration." if report.calibrated else "."),
    ]
    if report.calibrated is not None:
        rates = report.calibrated.rates
        found.append(
            f"An empty kernel takes {rates.launch_floor_us:.2f} us by its event, "
            f"and the host {rates.launch_wall_us:.1f} us."
        )
    return found


def write_report(folder: Path, report: Report) -> None:
    """Write the page, whole or not at all."""
    path = folder / FILE_NAME
    part = path.with_name(f".{FILE_NAME}.part")
    part.write_text("\n".join(_page(report)) + "\n", "utf-8")
    part.replace(path)


def _page(report: Report) -> Iterator[str]:
    device = report.calibrated or report.device
    yield f"# {device.name} (`{device.id}`)\n"
    yield from _conditions(report)
    yield "\n## Accuracy\n"
    yield "Predicted event time, against the measured median. APE is the absolute percentage error, relative to the"
    yield "measurement; no prediction can be better than the noise below.\n"
    yield from _accuracy_table(accuracy(report))
    yield "\n| noise of | rows | between batches, median | measured twice | median difference | 90th percentile |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for n in noise(report):
        cells = (_percent(n.batches_median), str(n.pairs), _percent(n.pairs_median), _percent(n.pairs_p90))
        yield f"| {n.part} | {n.rows} | {' | '.join(cells)} |"
    yield "\n## Host and device times\n"
    yield from (f"- {sentence}" for sentence in host_sentences(report))
    yield "\nPredicted time that the host waits, against the measured median:\n"
    yield from _accuracy_table(host_accuracy(report))
    yield "\n## Time\n\n| phase | calls | seconds |\n| --- | --- | --- |"
    yield from (f"| {name} | {calls} | {seconds:.0f} |" for name, (calls, seconds) in report.phases.items())
    if report.failures or report.notes:
        yield "\n## Not measured\n"
        yield from (f"- given up, `{code}`: {count}" for code, count in sorted(report.failures.items()))
        yield from (f"- {note}" for note in report.notes)


def _conditions(report: Report) -> Iterator[str]:
    device, made = report.device, report.calibrated.calibration if report.calibrated else None
    moments = sorted(row.stored.timing.measured_at for row in report.rows)
    drivers = sorted({row.driver for row in report.rows} | {device.driver})
    kernels = len({row.kernel.id for row in report.rows})
    calibration = "none: the device was not calibrated"
    if report.calibrated is not None and made is not None:
        kind = "quick" if made.is_quick else "full"
        calibration = f"{kind}, {report.calibrated.measured_at}, took {made.duration_s:.0f} s"
        calibration += f"; {len(made.failures)} probes failed" if made.failures else ""
    yield "| | |\n| --- | --- |"
    yield f"| platform, driver | {device.platform}, {', '.join(drivers)} |"
    yield f"| device | {device.type}, {device.compute_units} units, {device.global_mem_bytes / 1e9:.1f} GB |"
    yield f"| rates before | {device.source}; {device.note.replace('|', '/')} |"
    yield f"| calibration | {calibration} |"
    yield f"| host | {platform.system()} {platform.machine()}, {os.cpu_count()} processors |"
    yield f"| Kernelcast | {version('kernelcast')} {commit()[:12]} |"
    when = " to ".join(dict.fromkeys(moments[:1] + moments[-1:]))
    yield f"| rows | {len(report.rows)} of {kernels} kernels, {when} |"


def _accuracy_table(lines: Sequence[Line]) -> Iterator[str]:
    yield "| kernels | prediction | rows | MAPE | median APE | within 2x | rank correlation |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for line in lines:
        yield f"| {line.part} | {line.who} | {' | '.join(figure_cells(line.figures))} |"


def figure_cells(figures: Figures) -> tuple[str, ...]:
    """Return the figures as the cells of a table's line."""
    return (
        f"{figures.rows:,}",
        _percent(figures.mape),
        _percent(figures.median_ape),
        _percent(figures.within_2x),
        "-" if np.isnan(figures.rank_correlation) else f"{figures.rank_correlation:.3f}",
    )


def _percent(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.1f} %"
