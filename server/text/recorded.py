"""Recorded launches of a kernel in words: how often the program made them, and how long they took there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from model.recorded_times import total_times_us
from server.text.format import format_count, format_duration_us, format_percent, format_things
from server.text.layout import Section, in_columns

if TYPE_CHECKING:
    from model.forecast import Forecast
    from model.launch.recorded import RecordedUse
    from model.opencl.kernel import SourceRange
    from server.launch_view import LaunchView

_EXACT = 10_000  # counts from here on are rounded
_MOST_NAMED = 2  # arguments
_HEAD = ("launch", "times", "each", "total", "share")


def recorded_words(recording: RecordedUse) -> str:
    """Return `recorded, 14 launches`, with what makes an old recording of it."""
    times = format_things(recording.count, "launch", "launches") if recording.count < _EXACT else _rounded(recording)
    return f"{'stale recording' if recording.is_stale else 'recorded'}, {times}"


def _rounded(recording: RecordedUse) -> str:
    return f"{format_count(recording.count)} launches"


def program_time(recording: RecordedUse | None) -> str:
    """Return `the program's own events, median of 14 launches`; "" where they told no time of this very kernel here."""
    if recording is None or recording.own_us is None:
        return ""
    return f"the program's own events, median of {format_things(recording.count, 'launch', 'launches')}"


def recorded_section(launches: Sequence[LaunchView]) -> Section:
    """Return all recorded launches of a kernel with their shares of its time, and what the recording is worth."""
    own = [view.forecast for view in launches]
    recording = own[0].recorded
    if recording is None:
        return Section("")
    rows = [_HEAD, *_rows(own)] if len(own) > 1 or _others(own) else []
    return Section("Recorded launches", in_columns(rows, right=(1, 2, 3)), tuple(_notes(own, recording)))


def shares(own: Sequence[Forecast]) -> list[float | None]:
    """Return the share of each in the time that the program spends in this kernel; None where it is not known."""
    times = total_times_us(own)
    whole = sum(each or 0.0 for each in times) + (_others_us(own) or 0.0)
    return [each / whole if each is not None and whole > 0 else None for each in times]


def shares_by_forecast(forecasts: Sequence[Forecast]) -> dict[int, float | None]:
    """Return the share of each recorded launch in its own kernel's time, by the `id` of its forecast."""
    by_kernel: dict[tuple[str, SourceRange], list[Forecast]] = {}
    for each in forecasts:
        # Several programs of a host file may have kernels of one name.
        by_kernel.setdefault((each.kernel.name, each.kernel.range), []).append(each)
    recorded = [own for own in by_kernel.values() if own[0].recorded is not None]
    return {id(each): share for own in recorded for each, share in zip(own, shares(own), strict=True)}


def recording_json(recording: RecordedUse | None, share: float | None) -> dict[str, Any] | None:
    """Return what is recorded of a launch, and its share in its kernel's time."""
    if recording is None:
        return None
    return {
        "count": recording.count,
        "distinct": recording.distinct,
        "event_us": recording.own_us,
        "total_us": recording.own_total_us,
        "share": share,
        "stale": recording.is_stale,
        "device_name": recording.elsewhere or None,
        "command": recording.command,
    }


def _rows(own: Sequence[Forecast]) -> list[tuple[str, str, str, str, str]]:
    times = total_times_us(own)
    rows = [
        (title, str(f.recorded.count if f.recorded else 0), _each(f, time), _time(time), _percent(share))
        for title, f, time, share in zip(_titles(own), own, times, shares(own), strict=True)
    ]
    kinds, count = _others(own)
    if kinds:
        time = _others_us(own)
        whole = sum(each or 0.0 for each in times) + (time or 0.0)
        share = time / whole if time is not None and whole > 0 else None
        rows.append((f"{kinds} more", str(count), "", _time(time), _percent(share)))
    return rows


def _titles(own: Sequence[Forecast]) -> list[str]:
    """Return the sizes of each launch, with what tells it from others of the same sizes."""
    plain = [f.launch.describe() if f.launch else "-" for f in own]
    values = [{**dict(f.launch.scalars), **dict(f.launch.buffers)} if f.launch else {} for f in own]
    titles = []
    for title, mine in zip(plain, values, strict=True):
        others = [other for its, other in zip(plain, values, strict=True) if its == title and other is not mine]
        differs = [name for name, value in mine.items() if any(other.get(name) != value for other in others)]
        titles.append(" ".join([title, *(f"{name}={mine[name]}" for name in differs[:_MOST_NAMED])]))
    return titles


def _each(forecast: Forecast, total_us: float | None) -> str:
    if forecast.recorded is None or total_us is None:
        return "-"
    return format_duration_us(total_us / forecast.recorded.count)


def _time(time_us: float | None) -> str:
    return "-" if time_us is None else format_duration_us(time_us)


def _percent(share: float | None) -> str:
    return "-" if share is None else format_percent(100 * share)


def _others(own: Sequence[Forecast]) -> tuple[int, int]:
    """Return how many kinds of launches are not shown, and how often the program made them."""
    shown = [f.recorded for f in own if f.recorded]
    if not shown:
        return 0, 0
    kinds = shown[0].kernel_distinct - sum(each.distinct for each in shown)
    return kinds, shown[0].kernel_count - sum(each.count for each in shown)


def _others_us(own: Sequence[Forecast]) -> float | None:
    """Return the time of those that are not shown, where the program measured all."""
    shown = [f.recorded for f in own if f.recorded]
    times = [each.own_total_us for each in shown]
    if not shown or shown[0].kernel_total_us is None or None in times:
        return None
    return max(0.0, shown[0].kernel_total_us - sum(each or 0.0 for each in times))


def _notes(own: Sequence[Forecast], recording: RecordedUse) -> list[str]:
    when = datetime.fromtimestamp(recording.recorded_at, UTC).strftime("%Y-%m-%d %H:%M")
    whole = format_things(recording.kernel_count, "launch", "launches")
    by = f" by `{recording.command}`" if recording.command else ""
    notes = [f"Recorded {when} UTC{by}: {whole} of this kernel."]
    if recording.distinct > 1:
        notes.append(f"{recording.distinct} kinds of launches that do nearly the same work are taken together.")
    took = f" It took {format_duration_us(recording.event_us)} then." if recording.event_us is not None else ""
    if recording.is_stale:
        notes.append(f"Recorded before the last change of this kernel.{took}")
    elif recording.elsewhere:
        notes.append(f"Recorded on {recording.elsewhere}.{took.replace('then', 'there')}")
    elif recording.event_us is None:
        notes.append("The program's queue had no profiling, so that it told no times.")
    if any(f.recorded and f.recorded.own_total_us is None for f in own) and len(own) > 1:
        notes.append("Times in this table are predicted.")
    return notes
