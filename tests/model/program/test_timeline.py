"""A composed timeline keeps the order of queues, overlaps what may overlap, and never grows when a part shrinks."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.device_curves import HostSide
from model.program.command import HOST_CALLS, TRANSFERS, Command, CommandKind, CommandSequence, Queue
from model.program.timeline import Cost, Part, Timeline, compose

FREE = HostSide(0.0, 0.0, 0.0, 0.0)
COSTLY = HostSide(enqueue_us=2.0, start_us=5.0, between_us=1.0, finish_us=4.0)


def engine_of(command: Command) -> str:
    return {CommandKind.WRITE: "to", CommandKind.READ: "from"}.get(command.kind, "kernels")


def composed(
    commands: list[Command], costs: list[Cost], side: HostSide = FREE, *, queues: int = 2, out_of_order: bool = False
) -> Timeline:
    sequence = CommandSequence(tuple(commands), (Queue("gpu", out_of_order),) * queues)
    return compose(sequence, costs, lambda _: side, engine_of)


def command(kind: CommandKind, queue: int = 0, begin_us: float = 0.0, **more: object) -> Command:
    return replace(Command(kind, begin_us, begin_us, queue), **more)  # type: ignore[arg-type]


WRITE, LAUNCH, READ, FINISH = CommandKind.WRITE, CommandKind.LAUNCH, CommandKind.READ, CommandKind.FINISH


def test_an_in_order_queue_runs_one_command_after_the_other() -> None:
    found = composed([command(WRITE), command(LAUNCH), command(READ)], [Cost(10), Cost(20), Cost(30)])
    assert found.total_us == 60
    assert found.critical_us == {Part.TRANSFER: 40, Part.KERNEL: 20}
    assert found.bound is Part.TRANSFER


def test_two_queues_overlap_transfers_with_kernels() -> None:
    stages = [command(kind, queue) for queue in (0, 1) for kind in (WRITE, LAUNCH, READ)]
    found = composed(stages, [Cost(10)] * 6)
    assert found.total_us == 40  # of the second queue, only one stage comes after the first queue's end
    assert composed([replace(each, queue=0) for each in stages], [Cost(10)] * 6).total_us == 60


def test_kernels_of_two_queues_share_the_device() -> None:
    assert composed([command(LAUNCH, 0), command(LAUNCH, 1)], [Cost(10), Cost(15)]).total_us == 25


def test_a_blocking_read_holds_the_host_up() -> None:
    calls = [command(LAUNCH), command(READ, is_blocking=True), command(LAUNCH, begin_us=100.0)]
    costs = [Cost(50), Cost(5), Cost(1)]
    assert composed(calls, costs).total_us == 156  # 100 us of the host's own come after the read
    assert composed([calls[0], replace(calls[1], is_blocking=False), calls[2]], costs).total_us == 101


def test_calls_cost_the_host_time_even_if_kernels_take_none() -> None:
    found = composed([command(LAUNCH)] * 100 + [command(FINISH)], [Cost()] * 101, COSTLY)
    assert found.total_us == pytest.approx(99 * 2.0 + 5.0 + 4.0)
    assert found.bound is Part.CALL


def test_events_order_an_out_of_order_queue() -> None:
    free = [command(WRITE), command(LAUNCH)]
    bound = [free[0], replace(free[1], waits=(0,))]
    assert composed(free, [Cost(10), Cost(10)], out_of_order=True).total_us == 10
    assert composed(bound, [Cost(10), Cost(10)], out_of_order=True).total_us == 20


def test_a_barrier_holds_later_commands_of_an_out_of_order_queue() -> None:
    commands = [command(WRITE), command(CommandKind.BARRIER), command(LAUNCH)]
    assert composed(commands, [Cost(10), Cost(), Cost(10)], out_of_order=True).total_us == 20


def test_waiting_for_an_event_waits_for_its_command_alone() -> None:
    calls = [command(WRITE, 0), command(LAUNCH, 1), Command(CommandKind.WAIT, 0, 0, waits=(0,)), command(READ, 0)]
    found = composed(calls, [Cost(10), Cost(100), Cost(), Cost(7)])
    reads = [span for span in found.spans if span.command == 3 and span.engine is not None]
    assert [(span.start_us, span.end_us) for span in reads] == [(10, 17)]


def test_what_a_driver_does_once_counts_as_a_build() -> None:
    found = composed([command(LAUNCH)], [Cost(10, extra_us=3, delay_us=4)])
    assert found.total_us == 17
    assert found.critical_us[Part.BUILD] == 7


def test_threads_of_the_host_run_beside_each_other() -> None:
    calls = [
        Command(CommandKind.BUILD, 0, 50, thread=0),
        Command(CommandKind.BUILD, 10, 60, thread=1),
    ]
    assert composed(calls, [Cost(50), Cost(50)]).total_us == 60


def test_an_empty_program_takes_no_time() -> None:
    found = composed([], [])
    assert (found.total_us, found.spans, found.idle_us) == (0.0, (), 0.0)


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[Command], list[Cost], bool]:
    """Draw a program of a few commands on up to three queues and two threads, with events."""
    count = draw(st.integers(1, 14))
    time = st.integers(0, 50).map(float)
    commands, costs = [], []
    now_us = 0.0
    for place in range(count):
        kind = draw(st.sampled_from([each for each in CommandKind if each != CommandKind.FLUSH]))
        gap_us, call_us = draw(time), draw(time)
        now_us += gap_us
        waits = draw(st.sets(st.integers(0, place - 1), max_size=2)) if place else set()
        commands.append(
            Command(
                kind,
                now_us,
                now_us + call_us,
                None if kind is CommandKind.WAIT else draw(st.integers(0, 2)),
                is_blocking=draw(st.booleans()),
                thread=draw(st.integers(0, 1)),
                waits=tuple(sorted(waits)),
            )
        )
        costs.append(Cost(draw(time), draw(time), draw(time)))
    return commands, costs, draw(st.booleans())


@given(programs())
def test_a_program_takes_at_least_what_each_engine_does_and_its_critical_path_adds_up(
    drawn: tuple[list[Command], list[Cost], bool],
) -> None:
    commands, costs, out_of_order = drawn
    found = composed(commands, costs, COSTLY, queues=3, out_of_order=out_of_order)
    assert found.total_us == pytest.approx(sum(found.critical_us.values()))
    assert all(us <= found.busy_us[part] + 1e-9 for part, us in found.critical_us.items())
    for engine in {span.engine for span in found.spans if span.engine is not None}:
        own = sorted((span.start_us, span.end_us) for span in found.spans if span.engine == engine)
        assert all(before[1] <= after[0] + 1e-9 for before, after in itertools.pairwise(own))
        assert sum(end - start for start, end in own) <= found.total_us + 1e-9
    if not out_of_order:
        for queue in range(3):
            busy = sum(cost.work_us for each, cost in zip(commands, costs, strict=True) if _on(each, queue))
            assert busy <= found.total_us + 1e-9


@given(programs(), st.data())
def test_nothing_becomes_slower_when_one_thing_becomes_faster(
    drawn: tuple[list[Command], list[Cost], bool], data: st.DataObject
) -> None:
    commands, costs, out_of_order = drawn
    place = data.draw(st.integers(0, len(costs) - 1))
    faster = list(costs)
    faster[place] = replace(costs[place], work_us=data.draw(st.floats(0, costs[place].work_us)))
    before = composed(commands, costs, COSTLY, queues=3, out_of_order=out_of_order)
    after = composed(commands, faster, COSTLY, queues=3, out_of_order=out_of_order)
    assert after.total_us <= before.total_us + 1e-9


@given(programs())
def test_halving_transfers_never_lengthens_a_program(drawn: tuple[list[Command], list[Cost], bool]) -> None:
    commands, costs, out_of_order = drawn
    halved = [
        replace(cost, work_us=cost.work_us / 2) if each.kind in TRANSFERS else cost
        for each, cost in zip(commands, costs, strict=True)
    ]
    before = composed(commands, costs, COSTLY, queues=3, out_of_order=out_of_order)
    assert composed(commands, halved, COSTLY, queues=3, out_of_order=out_of_order).total_us <= before.total_us + 1e-9


def _on(each: Command, queue: int) -> bool:
    markers = {CommandKind.MARKER, CommandKind.BARRIER}
    return each.queue == queue and each.kind not in HOST_CALLS and each.kind not in markers
