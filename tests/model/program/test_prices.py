"""What commands cost: transfers from a device's profile or assumed, calls beyond the usual, and what if."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.device import Device
from model.device_catalog import device_from_json, device_to_json, find_builtin
from model.device_curves import HostSide, TransferPoint
from model.program.command import Command, CommandKind, CommandSequence, Queue
from model.program.host_sides import engine_of, host_side_of, transfer_us
from model.program.recorded_parts import recorded_parts
from model.program.timeline import Part
from model.program.trace import trace_of
from model.program.what_if import Prices, Scales, program_timeline

SIDE = HostSide(
    1.0, 2.0, 0.5, 3.0,
    tuple(TransferPoint("write", False, size, us) for size, us in ((1000, 2.0), (2000, 3.0), (4000, 7.0))),
)  # fmt: skip


def builtin(name: str) -> Device:
    found = find_builtin(name)
    assert found is not None
    return found


def write(size: int, **more: object) -> Command:
    return replace(Command(CommandKind.WRITE, 0, 0, 0, size_bytes=size), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(("size", "expected_us"), [(1, 2.0), (1500, 2.5), (3000, 5.0), (8000, 15.0)])
def test_transfers_lie_on_the_line_through_what_was_measured(size: int, expected_us: float) -> None:
    assert transfer_us(SIDE, write(size)) == pytest.approx(expected_us)


def test_the_first_write_to_a_buffer_has_a_time_of_its_own() -> None:
    side = replace(SIDE, transfers=(*SIDE.transfers, TransferPoint("first write", False, 1000, 50.0)))
    assert transfer_us(side, write(1000, is_first=True)) == 50.0
    assert transfer_us(SIDE, write(1000, is_first=True)) == 2.0


def test_a_profile_keeps_what_was_measured_of_the_host() -> None:
    device = builtin("generic-gpu")
    measured = replace(device, rates=replace(device.rates, host_side=SIDE))
    assert device_from_json(device_to_json(measured)).rates.host_side == SIDE
    assert host_side_of(measured).note == ""


def test_what_is_assumed_says_so_and_pinned_memory_is_faster_over_pcie() -> None:
    known = host_side_of(builtin("nvidia-h100-pcie"))
    assert "assumed" in known.note
    assert "PCIe 5.0" in known.note
    pinned, plain = (transfer_us(known.side, write(1 << 26, is_pinned=each)) for each in (True, False))
    assert pinned < plain / 2


def test_a_cpu_copies_with_the_threads_that_run_its_kernels() -> None:
    assert engine_of(builtin("generic-cpu"), write(8)) == "kernels"
    assert engine_of(builtin("nvidia-h100-pcie"), write(8)) == "to the device"


def sequence(*commands: Command) -> CommandSequence:
    return CommandSequence(commands, (Queue("gpu"),))


PROGRAM = sequence(
    Command(CommandKind.BUILD, 0, 100),
    Command(CommandKind.WRITE, 110, 160, 0, size_bytes=4000, is_blocking=True, start_us=120, finish_us=150),
    Command(CommandKind.LAUNCH, 170, 171, 0, 0, start_us=175, finish_us=185),
    Command(CommandKind.LAUNCH, 171, 172, 0, 0, start_us=185, finish_us=195),
    Command(CommandKind.FINISH, 172, 200, 0),
)


def prices(**more: object) -> Prices:
    gpu = builtin("generic-gpu")
    device = replace(gpu, rates=replace(gpu.rates, host_side=SIDE))
    return replace(Prices([10.0], ["mm"], {"gpu": device}), **more)  # type: ignore[arg-type]


def test_a_program_is_priced_by_launches_transfers_calls_and_its_own_gaps() -> None:
    found = program_timeline(PROGRAM, prices())
    assert found.busy_us[Part.KERNEL] == 20
    assert found.busy_us[Part.TRANSFER] == 7
    assert found.busy_us[Part.BUILD] == 100
    assert found.busy_us[Part.HOST] == 20
    assert program_timeline(PROGRAM, prices(are_transfers_recorded=True)).busy_us[Part.TRANSFER] == 30


@pytest.mark.parametrize("part", [Part.KERNEL, Part.TRANSFER, Part.HOST, Part.BUILD, Part.CALL])
def test_scaling_a_part_scales_that_part(part: Part) -> None:
    whole, half = (program_timeline(PROGRAM, prices(), Scales(parts={part: each})) for each in (1.0, 0.5))
    assert half.total_us < whole.total_us
    assert half.busy_us[part] == pytest.approx(whole.busy_us[part] / 2)


def test_scaling_a_kernel_leaves_the_others() -> None:
    found = program_timeline(PROGRAM, prices(), Scales(kernels={"mm": 0.0, "other": 5.0}))
    assert found.busy_us.get(Part.KERNEL, 0.0) == 0


def test_a_call_in_which_the_driver_compiled_is_not_the_usual_cost_of_calls() -> None:
    slow = Command(CommandKind.LAUNCH, 0, 5000, 0, 0)
    usual = [Command(CommandKind.LAUNCH, 5000 + 10 * n, 5002 + 10 * n, 0, 0) for n in range(5)]
    found = program_timeline(sequence(slow, *usual), prices())
    assert found.busy_us[Part.BUILD] == pytest.approx(4998)


def test_a_late_first_start_counts_as_a_build() -> None:
    launches = [Command(CommandKind.LAUNCH, 10.0 * n, 10.0 * n + 1, 0, 0, start_us=9e4 + n, finish_us=9e4 + n + 1)
                for n in range(3)]  # fmt: skip
    assert recorded_parts(sequence(*launches)).builds_us == pytest.approx(9e4 - 1)
    assert program_timeline(sequence(*launches), prices()).busy_us[Part.BUILD] == pytest.approx(9e4 - 1)


def test_sums_of_a_recording_are_unknown_without_profiling() -> None:
    found = recorded_parts(sequence(write(4000), Command(CommandKind.LAUNCH, 1, 2, 0, 0)))
    assert (found.kernels_us, found.transfers_us) == (None, None)
    parts = recorded_parts(PROGRAM)
    assert (parts.kernels_us, parts.transfers_us, parts.host_us, parts.total_us) == (20, 30, 20, 200)
    assert parts.without_builds_us == 100


def test_a_trace_has_a_row_for_each_engine_queue_and_thread() -> None:
    trace = trace_of(PROGRAM, ["mm"], program_timeline(PROGRAM, prices()))
    events = trace["traceEvents"]
    rows = {(each["pid"], each["tid"]): each["args"]["name"] for each in events if each["name"] == "thread_name"}
    spans = [each for each in events if each["ph"] == "X"]
    assert all((each["pid"], each["tid"]) in rows and each["dur"] >= 0 and each["ts"] >= 0 for each in spans)
    assert set(rows.values()) == {"gpu: kernels", "gpu: to the device", "gpu: queue 0", "host thread 0"}
    assert sum(each["name"] == "mm" and rows[each["pid"], each["tid"]] == "gpu: kernels" for each in spans) == 2
