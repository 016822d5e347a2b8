"""Which guesses of a launch are named when its kernel goes astray, and that no guess is advised which just failed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from model.launch.launch import Assumption, Fill, Launch
from model.opencl.kernel import Kernel
from model.opencl.types import ArrayType, StructType
from profiler.inferred_args import advice, guessed_among, index_fill, listed, misleading, with_advice
from profiler.measurement import (
    BuildFailed,
    Cancelled,
    DeviceGone,
    KernelCrashed,
    MeasureError,
    MeasureRequest,
    OutOfResources,
    TimedOut,
)
from profiler.process.exit_diagnosis import NO_ROOM

Make = Callable[..., MeasureRequest]


@pytest.fixture
def make(make_kernel: Callable[..., Kernel], make_request: Make, types: Any) -> Make:
    body = StructType("body", (("mass", types.float), ("next", types.int)))
    kernel = make_kernel(
        "k", x=types.buffer(), to=types.buffer(ArrayType(types.int, 2)), bodies=types.buffer(body),
        border=types.int, scale=types.float,
    )  # fmt: skip

    def request(*guessed: str, fills: dict[str, Fill] | None = None) -> MeasureRequest:
        scalars = (("border", 3), ("scale", 0.5), ("v.x", 7), ("p.width", 9))
        assumptions = tuple(Assumption(name, "") for name in guessed)
        lengths = (("x", 64), ("to", 64), ("bodies", 64))
        filled = tuple((fills or {}).items())
        return make_request("", kernel, Launch((64,), (8,), scalars, lengths, fills=filled, assumptions=assumptions))

    return request


def test_only_scalars_that_nobody_gave_are_guesses(make: Make) -> None:
    (border,) = guessed_among(["border", "scale"], make("border"))
    assert (border.key, border.taken) == ("border", "3")
    assert guessed_among(["border"], make()) == []


def test_lanes_and_members_are_called_as_the_launch_calls_them(make: Make) -> None:
    assert [g.key for g in guessed_among(["v.s0", "p.width"], make("v.x", "p.width"))] == ["v.x", "p.width"]
    assert guessed_among(["v.s1"], make("v.x")) == []


def test_advice_names_what_may_mislead_an_index_but_not_the_values_that_did(make: Make) -> None:
    assert advice(misleading(make("border", "scale"))) == (
        "`fill.to` (randint:0:16) and `border` (3) were guessed: say what they are: "
        "// kernelcast: fill.to=... border=..."
    )
    iota = {"to": Fill("iota")}
    assert (
        advice(misleading(make("border", fills=iota)))
        == "`border` was guessed as 3: say what it is: // kernelcast: border=..."
    )


def test_without_guessed_integers_the_rest_is_named(make: Make) -> None:
    iota = {"to": Fill("iota")}
    assert [g.key for g in misleading(make("scale", fills=iota))] == ["scale"]
    assert [g.key for g in misleading(make("global", fills=iota))] == ["global"]
    assert advice(misleading(make(fills=iota))) == ""


def test_a_fill_that_was_inferred_may_still_be_wrong(make: Make) -> None:
    assert "fill.to=" in advice(misleading(make("to", fills={"to": Fill("iota")})))


@pytest.mark.parametrize(
    ("fill", "advised"),
    [
        (Fill("const", (1003,)), "randint:0:64"),
        (Fill("randint", (0, 65)), "randint:0:64"),
        (Fill("randint", (-1, 5)), "randint:0:64"),
        (Fill("csr_rows", (100,)), "randint:0:64"),
        (Fill("randint", (0, 64)), "..."),  # holds no index too large, and yet it failed
        (Fill("iota"), "..."),
        (Fill("zeros"), "..."),
        (None, "..."),
    ],
)
def test_contents_are_advised_only_if_they_are_not_what_failed(make: Make, fill: Fill | None, advised: str) -> None:
    request = make(fills={"to": fill} if fill else None)
    assert index_fill("to", 64, request).value == advised


@pytest.mark.parametrize("name", ["x", "bodies"])
def test_no_random_integers_are_advised_for_floats_and_structs(make: Make, name: str) -> None:
    assert index_fill(name, 64, make(fills={name: Fill("const", (1e9,))})).value == "..."


@pytest.mark.parametrize(
    ("error", "keys"),
    [
        (KernelCrashed("kernel `k` crashed (SIGFPE): an integer division by zero"), "global local fill.to border"),
        (TimedOut("kernel `k` ran longer than 20 s and was stopped"), "global local fill.to border"),
        (OutOfResources("`x` needs 4 GB, but this device allows 2 GB"), "global local x fill.to border"),
        (KernelCrashed("building kernel `k` crashed (SIGSEGV)"), ""),
        (OutOfResources(f"kernel `k` could not go on: {NO_ROOM}"), ""),
        (KernelCrashed("kernel `k` crashed; say what it is: // kernelcast: border=..."), ""),
        (BuildFailed("line 3: no such thing"), ""),
        (DeviceGone("kernel `k`: the device is not available"), ""),
        (Cancelled("cancelled"), ""),
    ],
)
def test_failures_that_guesses_may_be_behind_name_them(make: Make, error: MeasureError, keys: str) -> None:
    told = with_advice(error, make("border", "x", "global", "local"))
    assert type(told) is type(error)
    assert [
        part.partition("=")[0] for part in told.message[len(error.message) :].partition("kernelcast: ")[2].split()
    ] == keys.split()
    assert told.message.startswith(error.message)
    assert str(told) == told.message


def test_a_failure_of_a_launch_about_which_all_was_said_stays_as_it_is(make: Make) -> None:
    error = TimedOut("kernel `k` ran longer than 20 s and was stopped", log="words")
    assert with_advice(error, make(fills={"to": Fill("iota")})) is error
    assert with_advice(error, make("border")).log == "words"


@pytest.mark.parametrize(
    ("names", "text"), [(["a"], "`a`"), (["a", "b"], "`a` and `b`"), (["a", "b", "c"], "`a`, `b` and `c`")]
)
def test_names_are_listed_as_people_do(names: list[str], text: str) -> None:
    assert listed(names) == text
