"""What a client's status item shows of a document: the device, what its predictions rest upon, and what is amiss.

The names of the fields are those of the notification `kernelcast/status`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from model.device import Device
from server.commands import CALIBRATE, CHOOSE_DEVICE
from server.text.device_names import shown_name
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
