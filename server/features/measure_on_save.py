"""Setting `kernelcast.measure.onSave`: measure the kernels that were edited since the last save, as a file is saved."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping

from model.errors import KernelcastError
from profiler.measurement import Cancelled, MeasureError, Measurement
from server.client.progress import ProgressBar
from server.client.trust import Trust
from server.device_work.measuring import planned, ready, run_all
from server.documents import Document
from server.launch_view import LaunchView, Slot
from server.session import SETTLE_S, KernelcastServer
from server.snapshot import Snapshot
from server.text.format import format_things

_Versions = Mapping[Slot, tuple[str, str]]  # the kernel's fingerprint and the launch's key


async def note_opened(ls: KernelcastServer, uri: str) -> None:
    """Remember the kernels of a document that was just opened: what is edited from now on is measured on save."""
    document = ls.document(uri)
    if document is None or not ls.awaits(uri):  # the setting may come later than the document
        return
    snapshot = await ls.settled(uri, SETTLE_S)
    if snapshot is not None and snapshot.document.opening == document.opening:
        ls.saved.versions.setdefault(uri, dict(_versions(snapshot)))


async def measure_saved(ls: KernelcastServer, uri: str) -> None:
    """Measure what was touched since the last save and has a launch that is not guessed, within the budget.

    A later save ends what an earlier one began. What does not fit into the budget is left for the next save.
    """
    document = ls.document(uri)
    if document is None or not _is_wanted(ls, document) or not ls.awaits(uri):
        return
    snapshot = await ls.settled(uri, SETTLE_S)
    if snapshot is None or not snapshot.can_run:
        return
    before = ls.saved.versions.get(uri)
    touched = [view for view in _launches(snapshot) if _is_touched(view, before)]
    now = dict(_versions(snapshot))
    # What is not measured in the end is still touched at the next save.
    ls.saved.versions[uri] = now | {v.slot: (before or {}).get(v.slot, ("", "")) for v in touched}
    if not touched:
        return
    if earlier := ls.saved.under_way.pop(uri, None):
        earlier.set()
    bar = await ProgressBar.begin(ls, f"Measuring {_names(touched)}", None)
    ls.saved.under_way[uri] = bar.cancel
    said = "not measured"
    try:
        snapshot = await ready(ls, uri, bar)
        done = await _measured(ls, snapshot, {view.slot for view in touched}, bar)
        ls.saved.versions.setdefault(uri, {}).update({slot: now[slot] for slot in done})
        said = f"{format_things(len(done), 'launch', 'launches')} measured"
    except Cancelled:
        said = "cancelled"
    except KernelcastError as error:
        said = error.message
    finally:
        bar.end(said)
        if ls.saved.under_way.get(uri) is bar.cancel:
            del ls.saved.under_way[uri]


async def _measured(ls: KernelcastServer, snapshot: Snapshot, wanted: set[Slot], bar: ProgressBar) -> list[Slot]:
    """Return the slots that were measured, or that failed: what fails does so again until it is edited."""
    views = [view for view in _launches(snapshot) if view.slot in wanted]
    settings = snapshot.settings
    each_s = min(settings.measure_budget_s, settings.measure_on_save_budget_s / max(1, len(views)))
    timer = threading.Timer(settings.measure_on_save_budget_s, bar.cancel.set)
    timer.daemon = True
    timer.start()
    try:
        plans = [planned(view) for view in views]
        with ls.activities.during(f"Measuring {_names(views)}"):
            outcomes = await run_all(ls, snapshot, plans, bar.report, bar.cancel, budget_s=each_s)
    finally:
        timer.cancel()
    return [
        view.slot
        for view, outcome in zip(views, outcomes, strict=True)
        if isinstance(outcome, Measurement | MeasureError) and not isinstance(outcome, Cancelled)
    ]


def _is_wanted(ls: KernelcastServer, document: Document) -> bool:
    return ls.trust is Trust.SAID and ls.settings_of(document).measure_on_save


def _launches(snapshot: Snapshot) -> Iterator[LaunchView]:
    """Yield the launches that are known: those that are guessed would measure something else than the user runs."""
    for kernel in snapshot.kernels:
        for view in kernel.launches:
            launch = view.forecast.launch
            if launch is not None and launch.origin != "inferred" and not kernel.kernel.has_errors:
                yield view


def _versions(snapshot: Snapshot) -> Iterator[tuple[Slot, tuple[str, str]]]:
    return ((view.slot, _version(view)) for view in _launches(snapshot))


def _version(view: LaunchView) -> tuple[str, str]:
    launch = view.forecast.launch
    return view.forecast.kernel.fingerprint, launch.key if launch is not None else ""


def _is_touched(view: LaunchView, before: _Versions | None) -> bool:
    """Return whether it changed since the last save; where that is not known, since it was measured."""
    if view.measured is not None:
        return False
    return view.stale is not None if before is None else before.get(view.slot) != _version(view)


def _names(views: list[LaunchView]) -> str:
    names = list(dict.fromkeys(view.slot.kernel for view in views))
    return ", ".join(names) if len(names) <= 2 else f"{len(names)} kernels"
