"""Random nests of loops, guards, breaks and continues, against an interpreter that runs each work-item."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

GLOBAL = 12
N = 5


@dataclass(frozen=True)
class Nest:
    """One statement: `code` in C, and `run(variables, stores)`, which gives how it is left."""

    code: str
    run: Callable[[dict[str, int], list[int]], str]


def _store() -> Nest:
    def run(_: dict[str, int], stores: list[int]) -> str:
        stores[0] += 1
        return ""

    return Nest("atomic_inc(x);", run)


def _leave(word: str) -> Nest:
    return Nest(f"{word};", lambda _, __: word)


def _block(inner: list[Nest]) -> Nest:
    def run(variables: dict[str, int], stores: list[int]) -> str:
        for nest in inner:
            if left := nest.run(variables, stores):
                return left
        return ""

    return Nest(" ".join(n.code for n in inner), run)


def _guard(name: str, operator: str, bound: int, inner: Nest) -> Nest:
    holds: dict[str, Callable[[int], bool]] = {
        "<": lambda v: v < bound,
        ">=": lambda v: v >= bound,
        "==": lambda v: v == bound,
    }

    def run(variables: dict[str, int], stores: list[int]) -> str:
        return inner.run(variables, stores) if holds[operator](variables[name]) else ""

    return Nest(f"if ({name} {operator} {bound}) {{ {inner.code} }}", run)


def _loop(name: str, bound: str, inner: Nest) -> Nest:
    def run(variables: dict[str, int], stores: list[int]) -> str:
        for value in range(variables[bound]):
            left = inner.run({**variables, name: value}, stores)
            if left == "return":
                return left
            if left == "break":
                break
        return ""

    return Nest(f"for (int {name} = 0; {name} < {bound}; ++{name}) {{ {inner.code} }}", run)


def nests(depth: int, names: tuple[str, ...]) -> st.SearchStrategy[Nest]:
    inside = len(names) > 2  # `g`, `n` and the counters of loops around
    leaves = [st.just(_store()), st.just(_leave("return"))]
    if inside:
        leaves += [st.just(_leave("break")), st.just(_leave("continue"))]
    if depth == 0:
        return st.just(_store())
    ends = st.one_of(*leaves)
    guarded = st.builds(
        _guard, st.sampled_from(names), st.sampled_from(["<", ">=", "=="]), st.integers(0, GLOBAL),
        st.one_of(ends, st.lists(nests(depth - 1, names), min_size=1, max_size=2).map(_block)),
    )  # fmt: skip
    counter = f"i{len(names)}"
    looped = st.builds(
        _loop,
        st.just(counter),
        st.sampled_from([n for n in names if n != "g"]),
        st.lists(nests(depth - 1, (*names, counter)), min_size=1, max_size=2).map(_block),
    )
    return st.lists(st.one_of(st.just(_store()), guarded, looped), min_size=1, max_size=3).map(_block)


@given(nest=nests(2, ("g", "n")))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_nests_of_loops_and_guards_are_counted_exactly(nest: Nest, count: Callable[..., Any]) -> None:
    text = f"__kernel void k(__global int *x, int n) {{ int g = get_global_id(0); {nest.code} }}"
    stores = [0]
    for g in range(GLOBAL):
        nest.run({"g": g, "n": N}, stores)
    counted = count(text, (GLOBAL,), n=N)
    assert abs(counted.counts.atomics - stores[0]) <= 1e-6 * max(1, stores[0]), text


def test_an_item_that_returns_in_its_first_round_does_nothing_in_later_ones(count: Callable[..., Any]) -> None:
    code = "for (int i = 0; i < n; ++i) { atomic_inc(x); if (g == 3) { return; } }"
    counted = count(f"__kernel void k(__global int *x, int n) {{ int g = get_global_id(0); {code} }}", (12,), n=5)
    assert counted.counts.atomics == 11 * 5 + 1
