"""The status that clients show: what it says of a document, and how often it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model.device import Device, ProfileSource
from server.client import status
from server.client.status import ServerFacts, Status, StatusNotifier, status_of
from server.snapshot import ConfigProblem, Snapshot

Snapshots = Callable[..., Snapshot]
URI = "file:///work/blur.cl"


@pytest.fixture
def facts(device: Device) -> ServerFacts:
    return ServerFacts((device,), discovered=True, no_devices_because="", busy="")


def calibrated(snapshot: Snapshot) -> Snapshot:
    device = replace(snapshot.device, source=ProfileSource.CALIBRATED)
    return replace(snapshot, analysis=replace(snapshot.analysis, device=device))


def messages(status: Status) -> str:
    return " ".join(problem.message for problem in status.problems)


def test_a_calibrated_device_that_is_here_leaves_nothing_to_say(snapshot_of: Snapshots, facts: ServerFacts) -> None:
    told = status_of(calibrated(snapshot_of()), facts).as_json(URI, 7)
    assert told == {
        "uri": URI,
        "revision": 7,
        "device": {
            "id": "generic-cpu",
            "name": "Generic CPU (8 cores at 3 GHz)",
            "here": True,
            "calibrated": True,
        },
        "basis": "analytical model",
        "busy": None,
        "problems": (),
    }


def test_what_is_under_way_is_named(snapshot_of: Snapshots, facts: ServerFacts) -> None:
    assert status_of(snapshot_of(), replace(facts, busy="Measuring blur")).busy == "Measuring blur"


def test_a_device_that_is_not_calibrated_can_be_calibrated_from_there(
    snapshot_of: Snapshots, facts: ServerFacts
) -> None:
    (problem,) = status_of(snapshot_of(), facts).problems
    assert problem.severity == "information"
    assert problem.command is not None
    assert (problem.command.command, problem.command.arguments) == ("kernelcast.calibrate", ("generic-cpu",))


def test_without_devices_the_reason_is_told_and_nothing_else_is_offered(
    snapshot_of: Snapshots, facts: ServerFacts
) -> None:
    none = replace(facts, found=(), no_devices_because="no OpenCL platform: pip install 'kernelcast[pocl]'")
    (problem,) = status_of(snapshot_of(), none).problems
    assert problem.severity == "warning"
    assert "pip install 'kernelcast[pocl]'" in problem.message
    assert status_of(snapshot_of(), replace(none, discovered=False)).problems == ()


def test_a_device_of_another_machine_is_named_with_the_way_to_choose(
    snapshot_of: Snapshots, facts: ServerFacts, device: Device
) -> None:
    (problem,) = status_of(snapshot_of(), replace(facts, found=(replace(device, id="pocl"),))).problems
    assert "is not in this machine" in problem.message
    assert problem.command is not None
    assert problem.command.command == "kernelcast.chooseDevice"


def test_every_trouble_of_a_document_is_told_worst_first(snapshot_of: Snapshots, facts: ServerFacts) -> None:
    snapshot = snapshot_of(trusted=False)
    analysis = replace(
        snapshot.analysis,
        config_problem=ConfigProblem(Path("/work/kernelcast.toml"), "`globl` is not known", 3),
        memory_problem="the disk is full",
        unknown_device="voodoo",
    )
    status = status_of(replace(snapshot, analysis=analysis), replace(facts, setting_problems=("Setting `x` is bad.",)))
    for words in ("kernelcast.toml, line 3: `globl`", "disk is full", "`voodoo`", "not trusted", "Setting `x`"):
        assert words in messages(status)
    severities = [problem.severity for problem in status.problems]
    assert severities == sorted(severities, key=["error", "warning", "information"].index)


def test_nothing_to_run_is_offered_where_nothing_may_be_run(snapshot_of: Snapshots, facts: ServerFacts) -> None:
    status = status_of(snapshot_of(trusted=False), facts)
    assert not any(problem.command for problem in status.problems)


class Listener:
    """A client that only listens; `status` is what the server would say now."""

    def __init__(self, status: Status) -> None:
        self.status = status
        self.told: list[dict[str, Any]] = []
        self.news = StatusNotifier(lambda _: self.status, self.told.append)


class Clock:
    """The running event loop's clock, which stands still until it is told to go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._now_s = 1000.0
        monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: self._now_s)

    async def goes_on(self, seconds: float) -> None:
        """What is due by then has happened when this ends."""
        self._now_s += seconds
        for _ in range(3):
            await asyncio.sleep(0)


@pytest.mark.asyncio
async def test_typing_makes_few_notifications_and_the_last_one_is_the_newest(
    snapshot_of: Snapshots, facts: ServerFacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    client = Listener(status_of(snapshot_of(), facts))
    for _ in range(100):
        client.news.shown_anew(URI)
    assert len(client.told) == 1
    await clock.goes_on(status.PAUSE_S)
    first, last = (told["revision"] for told in client.told)
    assert last == first + 99


@pytest.mark.asyncio
async def test_what_changes_more_than_the_revision_is_told_at_once(snapshot_of: Snapshots, facts: ServerFacts) -> None:
    client = Listener(status_of(snapshot_of(), facts))
    client.news.shown_anew(URI)
    client.status = status_of(snapshot_of(), replace(facts, busy="Measuring blur"))
    client.news.look_again()
    client.status = status_of(snapshot_of(), facts)
    client.news.look_again()
    client.news.look_again()
    assert [told["busy"] for told in client.told] == [None, "Measuring blur", None]
    assert len({told["revision"] for told in client.told}) == 1


@pytest.mark.asyncio
async def test_a_document_that_was_closed_is_not_spoken_of(
    snapshot_of: Snapshots, facts: ServerFacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    client = Listener(status_of(snapshot_of(), facts))
    client.news.shown_anew(URI)
    client.news.shown_anew(URI)
    client.news.forget(URI)
    client.news.look_again()
    client.news.shown_anew("file:///work/other.cl")
    client.news.shown_anew("file:///work/other.cl")
    await clock.goes_on(status.PAUSE_S)
    assert [told["uri"].rpartition("/")[2] for told in client.told] == ["blur.cl", "other.cl", "other.cl"]
