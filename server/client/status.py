"""What a client's status item shows of a document: the device, what its predictions rest upon, and what is amiss.

The names of the fields are those of the notification `kernelcast/status`.

The notification is sent when it changed, never in a flood, and only to clients that ask for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from model.device import Device
from server.commands import CALIBRATE, CHOOSE_DEVICE
from server.text.format import shown_name
from server.text.hint import basis_text

if TYPE_CHECKING:
    from server.snapshot import Analysis, Snapshot

ERROR, WARNING, INFORMATION = "error", "warning", "information"


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """Facts that hold for all documents."""

    found: tuple[Device, ...]
    discovered: bool
    no_devices_because: str
    busy: str
    setting_problems: tuple[str, ...] = ()
    model_problem: str = ""


@dataclass(frozen=True, slots=True)
class Remedy:
    """A command of ours that mends a problem."""

    title: str
    command: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StatusProblem:
    severity: str
    message: str
    command: Remedy | None = None


@dataclass(frozen=True, slots=True)
class DeviceStatus:
    id: str
    name: str
    here: bool
    calibrated: bool


@dataclass(frozen=True, slots=True)
class Status:
    device: DeviceStatus
    basis: str
    busy: str | None
    problems: tuple[StatusProblem, ...]

    def as_json(self, uri: str, revision: int) -> dict[str, Any]:
        return {"uri": uri, "revision": revision, **asdict(self)}


def status_of(snapshot: Snapshot, facts: ServerFacts) -> Status:
    device = snapshot.device
    here = device.id in {each.id for each in facts.found}
    predictions = (f.prediction for f in snapshot.analysis.forecast.forecasts if f.prediction)
    return Status(
        DeviceStatus(device.id, shown_name(device.name), here, device.calibrated),
        basis_text(next(predictions, None)),
        facts.busy or None,
        tuple(_problems(snapshot, facts, here)),
    )


def _problems(snapshot: Snapshot, facts: ServerFacts, here: bool) -> Iterator[StatusProblem]:
    """Yield the problems, the worst first."""
    analysis, device = snapshot.analysis, snapshot.device
    if analysis.config_problem is not None:
        fault = analysis.config_problem
        place = f"{fault.path.name}, line {fault.line}" if fault.line else fault.path.name
        yield StatusProblem(ERROR, f"{place}: {fault.message}")
    yield from (StatusProblem(WARNING, message) for message in facts.setting_problems)
    if facts.discovered:
        yield from _device_problems(analysis, facts, here, trusted=snapshot.trusted)
    if analysis.memory_problem:
        yield StatusProblem(WARNING, analysis.memory_problem)
    if facts.model_problem:
        yield StatusProblem(WARNING, facts.model_problem)
    if not snapshot.trusted:
        message = "This workspace is not trusted: kernels are predicted, and none is run. Trust it to measure."
        yield StatusProblem(INFORMATION, message)
    elif here and not device.calibrated:
        name = shown_name(device.name)
        message = f"{name} is not calibrated: its rates come from the {device.source}, and intervals are wide."
        yield StatusProblem(INFORMATION, message, Remedy(f"Calibrate {name}", CALIBRATE, (device.id,)))


def _device_problems(analysis: Analysis, facts: ServerFacts, here: bool, *, trusted: bool) -> Iterator[StatusProblem]:
    choose = Remedy("Choose device", CHOOSE_DEVICE)
    if analysis.unknown_device:
        yield StatusProblem(WARNING, unknown_device_message(analysis, facts.found), choose)
    if not facts.found:
        reason = facts.no_devices_because or "no OpenCL device was found"
        yield StatusProblem(WARNING, f"Nothing can be measured: {reason}.")
    elif not here and trusted:
        name = shown_name(analysis.device.name)
        message = f"{name} is not in this machine: kernels are predicted for it, and cannot be measured."
        yield StatusProblem(INFORMATION, message, choose)


def unknown_device_message(analysis: Analysis, found: Sequence[Device]) -> str:
    here = ", ".join(device.id for device in found) or "none"
    return (
        f"There is no device `{analysis.unknown_device}`; predictions are for {shown_name(analysis.device.name)}. "
        f"Devices of this machine: {here}. `kernelcast devices --all` lists those known by their datasheets too."
    )


METHOD = "kernelcast/status"
PAUSE_S = 0.2  # between two that differ in nothing but their revision: typing makes one at every keystroke


class StatusNotifier:
    """Owns what was last told of each document.

    `look` gives a document's status, or None while nothing is known of it; `tell` sends one.
    """

    def __init__(self, look: Callable[[str], Status | None], tell: Callable[[dict[str, Any]], None]) -> None:
        self._look = look
        self._tell = tell
        self._revisions = count(1)
        self._revision: dict[str, int] = {}
        self._told: dict[str, tuple[int, Status]] = {}
        self._told_at_s: dict[str, float] = {}
        self._later: dict[str, asyncio.TimerHandle] = {}

    def shown_anew(self, uri: str) -> None:
        """Send a new status: an analysis or a measurement of the document came in."""
        self._revision[uri] = next(self._revisions)
        self._offer(uri)

    def look_again(self) -> None:
        """Look at all documents again."""
        for uri in list(self._revision):
            self._offer(uri)

    def forget(self, uri: str) -> None:
        """Drop what is kept of a document that was closed."""
        for kept in (self._revision, self._told, self._told_at_s):
            kept.pop(uri, None)
        if later := self._later.pop(uri, None):
            later.cancel()

    def _offer(self, uri: str) -> None:
        status = self._look(uri)
        if status is None:
            return
        revision, told = self._told.get(uri, (0, None))
        if (self._revision[uri], status) == (revision, told):
            return
        loop = asyncio.get_running_loop()
        left_s = self._told_at_s.get(uri, -PAUSE_S) + PAUSE_S - loop.time()
        if status == told and left_s > 0:
            if uri not in self._later:
                self._later[uri] = loop.call_later(left_s, self._now, uri)
            return
        if later := self._later.pop(uri, None):
            later.cancel()
        self._told[uri] = self._revision[uri], status
        self._told_at_s[uri] = loop.time()
        self._tell(status.as_json(uri, self._revision[uri]))

    def _now(self, uri: str) -> None:
        self._later.pop(uri, None)
        self._told_at_s.pop(uri, None)
        self._offer(uri)


class Activities:
    """Device work and discovery, oldest first; `changed` hears of every beginning and end."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._under_way: list[str] = []

    @property
    def foremost(self) -> str:
        """Return what is under way, empty when nothing is. Jobs run one at a time."""
        return self._under_way[0] if self._under_way else ""

    @contextmanager
    def during(self, what: str) -> Iterator[None]:
        self._under_way.append(what)
        self._changed()
        try:
            yield
        finally:
            self._under_way.remove(what)
            self._changed()
