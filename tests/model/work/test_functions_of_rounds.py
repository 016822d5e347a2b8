"""Loops, draws and lanes as one function give what is worked out one by one."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from model.launch.fill import parse_fill
from model.opencl.builtin_types import FLOAT, INT
from model.work.expressions.contents import contents_of
from model.work.expressions.evaluate import evaluate
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.loop_simulation import Running, running_of
from model.work.expressions.symbolic import Atom, Expression, number, opaque
from model.work.memory.lane_functions import LaneFunction
from model.work.walk import draw_plans
from model.work.walk.chances import Budget, chance, expected

N, ID, LANE = (Atom.of("symbol", name) for name in ("arg.n", "global_id.0", "local_id.0"))
COUNTER = Atom.of("symbol", "loop.1")
VARIABLES = (Atom.of("symbol", "phi.1"), Atom.of("symbol", "phi.2"))
BINARY = ("max", "min", "bitxor", "bitand", "floordiv", "floormod", "shr", "div", "mod", "and", "or")
FLOATS = ("+", "-", "*", "/")


def known() -> LaunchBindings:
    contents = {
        "x": contents_of(64, FLOAT, {"": parse_fill("uniform:0:1").evaluate({})}),
        "kind": contents_of(64, INT, {"": parse_fill("randint:0:8").evaluate({})}),
        "list": contents_of(64, INT, {"": parse_fill("iota").evaluate({})}),
    }
    return LaunchBindings({N: 37}, contents, {})


def single(atom: Atom) -> Expression:
    return Expression({(atom,): 1})


def any_of(random: Random, leaves: list[Expression], size: int) -> Expression:
    made = [*leaves, number(random.randrange(-3, 9))]
    for _ in range(size):
        a, b = random.choices(made, k=2)
        kind = random.choice(("sum", "product", "float", *BINARY))
        if kind in ("sum", "product"):
            made.append(a + b if kind == "sum" else a * b)
        elif kind == "float":
            made.append(opaque("float", random.choice(FLOATS), a, b))
        else:
            made.append(opaque(kind, a, b))
    return made[-1]


@pytest.mark.parametrize("seed", range(150))
def test_all_rounds_at_once_end_where_rounds_one_by_one_do(seed: int) -> None:
    random = Random(seed)
    leaves = [*map(single, (*VARIABLES, N, ID)), opaque("load", "list", single(VARIABLES[0]) * number(4), 0)]
    afters = [single(VARIABLES[0]) + number(1), any_of(random, leaves, 6)]
    starts = [number(0), any_of(random, leaves[2:4], 2)]
    parts = [p for v, s, a in zip(VARIABLES, starts, afters, strict=True) for p in (single(v), s, a)]
    if seed % 3:
        loop = opaque("trips", opaque("lt0", any_of(random, leaves, 4) - number(40)), *parts)
    else:
        loop = opaque("iterate", opaque("max", single(N), number(0)), *parts)
    assert loop.atom is not None
    running = running_of(loop.atom)
    slow = known()  # the first are run round by round, the last as one function
    found = [evaluate(loop, slow, {ID: place}) for place in range(40)]
    loop.atom.running = replace(running, rounds=-1 << 40, is_often=False, is_read=False, function=None, step=None)
    again = known()
    loop.function = loop.atom.function = None
    by_rounds = [evaluate(loop, again, {ID: place}) for place in range(40)]
    assert list(map(repr, found)) == list(map(repr, by_rounds))
    assert slow.steps == again.steps


def test_most_loops_become_functions() -> None:
    loop = opaque("trips", opaque("lt0", single(VARIABLES[0]) - single(ID)), single(VARIABLES[0]), number(0),
                  single(VARIABLES[0]) + single(VARIABLES[0]) + number(1))  # fmt: skip
    assert [evaluate(loop, known(), {ID: place}) for place in (1, 1000, 1 << 40, 1 << 50)] == [1, 10, 41, 51]
    assert loop.atom is not None
    made: Running = running_of(loop.atom)
    assert made.function is not None


@pytest.mark.parametrize("seed", range(150))
def test_all_draws_at_once_hold_as_often_as_operation_by_operation(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    leaves = [
        opaque("load", "x", single(ID) * number(4), 0),
        opaque("load", "kind", single(COUNTER) * number(4), 0),
        opaque("load", "list", opaque("load", "kind", single(ID) * number(4), 0) * number(4), 0),
        *map(single, (N, ID, COUNTER)),
    ]
    condition, given = any_of(random, leaves, 8), any_of(random, leaves, 3)
    ranges = {ID: (3, 40), COUNTER: (0, random.choice((4, 600)))}

    def asked(most: int) -> list[tuple[float | None, float | None, int]]:
        found = []
        for _ in range(10):
            budget = Budget(most)
            share = chance(condition, [(given, True)], known(), {}, ranges, budget)
            found.append((share, expected(condition, known(), {}, ranges, budget), budget.left))
        return found

    at_once = [asked(most) for most in (60_000, 1_500)]
    monkeypatch.setattr(draw_plans, "USES_OF_TEXT", -1)
    condition.columns = given.columns = None
    assert at_once == [asked(most) for most in (60_000, 1_500)]


@pytest.mark.parametrize("seed", range(150))
def test_many_lanes_at_once_decide_as_each_alone_does(seed: int) -> None:
    random = Random(seed)
    steps = [single(VARIABLES[0]), number(0), single(VARIABLES[0]) + single(LANE) + number(1)]
    loop = opaque("trips", opaque("lt0", single(VARIABLES[0]) - single(ID)), *steps)
    leaves = [loop, *map(single, (ID, LANE, N)), opaque("load", "list", single(LANE) * number(4), 0)]
    test, value = any_of(random, leaves, 5), any_of(random, leaves, 5)
    lanes = [{LANE: place, ID: 64 + place} for place in range(32)]
    slow, fast = known(), known()
    expected_values = [evaluate(value, slow, ids) for ids in lanes if bool(evaluate(test, slow, ids)) is bool(seed % 2)]
    function = LaneFunction(((test, bool(seed % 2)),), value, (ID, LANE))
    found = [function.values(value, lanes, fast, {}) for _ in range(6)]
    assert found[0] is None  # not asked for often
    assert found[-1] is None or list(map(repr, found[-1])) == list(map(repr, expected_values))
    if found[-1] is not None:
        assert fast.steps == slow.steps
