"""A launch in numbers: always as many as there are names, always finite, and about what each work-item does."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.device import Device, DeviceType
from model.device_catalog import find_builtin
from model.launch.driver_choice import on_device
from model.launch.launch import Launch
from model.learned.launch_facts import AMOUNTS, LAUNCH_FACT_NAMES, LEAST, launch_facts
from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from model.work.analyse import analyse

SCALE = "kernel void k(global float *x, int n) { int i = get_global_id(0); if (i < n) x[i] *= 2.0f; }"
LOOP = """kernel void k(global float *x, global const float *y, int n) {
    float s = 0.0f;
    for (int j = 0; j < n; ++j) s = fma(y[j], s, sin(s));
    x[get_global_id(0)] = s;
}"""
TREE = """kernel void k(global float *x, local float *t) {
    int l = get_local_id(0);
    t[l] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
        if (l < s) t[l] += t[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) x[get_group_id(0)] = t[0];
}"""
PICTURE = """constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;
kernel void k(read_only image2d_t a, write_only image2d_t b) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(b, at, 0.5f * read_imagef(a, s, convert_float2(at)));
}"""
ATOMIC = "kernel void k(global int *x, int n) { atomic_add(&x[get_global_id(0) % n], 1); }"
EMPTY = "kernel void k(global float *x) { }"
UNTIL = "kernel void k(global float *x) { int i = get_global_id(0); while (x[i] > 1.0f) x[i] *= 0.5f; }"
WIDE = "kernel void k(global float4 *x, global half *h, global long *l) { size_t i = get_global_id(0); " + (
    "x[i] = exp(x[i]) + vload_half(i, h); l[i] /= 7; }"
)
TABLE = "kernel void k(global float *x, global const int *at) { float t[16]; size_t i = get_global_id(0); " + (
    "for (int j = 0; j < 16; ++j) t[j] = x[at[i] + j]; x[i] = t[at[i] & 15]; }"
)
KERNELS = {
    "guard": SCALE, "loop": LOOP, "barriers": TREE, "images": PICTURE, "atomics": ATOMIC, "empty": EMPTY,
    "until": UNTIL, "wide": WIDE, "table": TABLE,
}  # fmt: skip


def launched(items: int, group: int | None, n: int | None = None, height: int | None = None) -> Launch:
    sizes, local = ((items,), None if group is None else (group,))
    if height is not None:
        sizes, local = (items, height), None if group is None else (group, 1)
    return Launch(
        sizes, local, scalars=(("n", n or items),),
        buffers=tuple((name, max(items, n or 0)) for name in ("x", "y", "h", "l", "at")),
        images=(("a", (items, height or 1, 1)), ("b", (items, height or 1, 1))), local_bytes=(("t", 4 * (group or 1)),),
    )  # fmt: skip


def facts(text: str, launch: Launch, options: BuildOptions | None = None) -> Mapping[str, float]:
    program = read_program(text, options=options or BuildOptions())
    launch = replace(launch, options=program.options)
    work = analyse(program, program.kernels[0])
    found = launch_facts(work, work.count(launch), launch)
    assert len(found) == len(LAUNCH_FACT_NAMES)
    assert all(math.isfinite(each) for each in found)
    return dict(zip(LAUNCH_FACT_NAMES, found, strict=True))


def amount(found: Mapping[str, float], name: str) -> float:
    return 2 ** found[name] - LEAST


def size(found: Mapping[str, float], name: str) -> float:
    return 2 ** found[f"log.{name}"] - 1


def test_no_two_facts_have_one_name() -> None:
    assert len(set(LAUNCH_FACT_NAMES)) == len(LAUNCH_FACT_NAMES)


@pytest.mark.parametrize("name", KERNELS)
@given(st.integers(1, 1 << 28), st.integers(0, 10), st.integers(1, 1 << 20))
def test_facts_are_finite_for_whatever_sizes(name: str, items: int, group: int, n: int) -> None:
    whole = max(1, items >> group) << group
    height = 3 if name == "images" else None
    found = facts(KERNELS[name], launched(whole, 1 << group, n, height))
    assert size(found, "items") == pytest.approx(whole * (height or 1))
    assert size(found, "active_items") <= size(found, "items") * (1 + 1e-9)


def test_what_a_kernel_does_shows_in_its_facts() -> None:
    loop = facts(LOOP, launched(4096, 64, 100))
    assert amount(loop, "loop.rounds") == pytest.approx(100)
    assert amount(loop, "op.fma.f32") == pytest.approx(100)
    assert amount(loop, "call.sin") == pytest.approx(100)
    tree = facts(TREE, launched(4096, 64))
    assert size(tree, "group_barriers") == pytest.approx(1 + math.log2(64))
    assert size(tree, "local_bytes") == pytest.approx(4 * 64)
    assert amount(tree, "loop.barrier_rounds") == pytest.approx(math.log2(64))
    picture = facts(PICTURE, launched(64, 8, height=16))
    assert [amount(picture, f"image.{what}") for what in ("reads", "writes", "linear")] == pytest.approx([1, 1, 1])
    assert picture["dimensions"] == 2
    assert amount(facts(ATOMIC, launched(4096, 64, 16)), "atomics") == pytest.approx(1)
    assert amount(facts(WIDE, launched(4096, 64)), "wide.4") > 0


def test_what_a_kernel_does_not_do_is_nothing() -> None:
    found = facts(EMPTY, launched(4096, 64))
    assert all(amount(found, name) == 0 for name in AMOUNTS)
    assert size(found, "active_items") == 0
    assert amount(facts(SCALE, launched(4096, 64)), "atomics") == 0


def test_atomics_that_meet_at_one_address_are_told_from_those_that_do_not() -> None:
    crowded, spread = (amount(facts(ATOMIC, launched(4096, 64, n)), "global.atomic.crowded") for n in (1, 4096))
    assert crowded > 100 * spread


@pytest.mark.parametrize("name", ["guard", "loop", "barriers", "wide", "empty"])
def test_twice_as_many_equal_groups_do_the_same_per_work_item(name: str) -> None:
    # Both far larger than caches: how often data are found in these is a fact as well.
    n = 50 if name == "loop" else None
    once, twice = (facts(KERNELS[name], launched(items, 64, n)) for items in (1 << 22, 1 << 23))
    amounts = [[amount(found, each) for each in AMOUNTS] for found in (once, twice)]
    assert amounts[1] == pytest.approx(amounts[0], rel=1e-6, abs=1e-4)  # what all share is next to nothing of each
    assert size(twice, "groups") == pytest.approx(2 * size(once, "groups"))


def test_a_guard_shows_in_how_many_items_and_groups_are_active() -> None:
    found = facts(SCALE, launched(4096, 64, 100))
    assert size(found, "items") == pytest.approx(4096)
    assert size(found, "active_items") == pytest.approx(100)
    assert size(found, "active_groups") == pytest.approx(2)
    assert amount(found, "global.load.bytes") == pytest.approx(400 / 4096, rel=0.01)


def test_a_last_group_that_is_not_full_shows() -> None:
    assert facts(SCALE, launched(4096, 64))["last_group"] == 1
    assert facts(SCALE, launched(4000, 64))["last_group"] == pytest.approx(4000 / 4032)


def test_local_sizes_that_drivers_choose_show() -> None:
    found = find_builtin("generic-cpu")
    assert found is not None
    assert found.type is DeviceType.CPU

    def chosen(platform: str) -> Mapping[str, float]:
        device: Device = replace(found, platform=platform, compute_units=4)
        return facts(SCALE, on_device(launched(100_000, None), device))

    pocl, intel = chosen("Portable Computing Language"), chosen("Intel(R) OpenCL")
    assert pocl["driver_chooses"] == intel["driver_chooses"] == 1
    assert size(pocl, "group_items") != size(intel, "group_items")
    asked = facts(SCALE, replace(launched(100_000, None), local_size=(round(size(pocl, "group_items")),)))
    assert asked["driver_chooses"] == 0
    assert {name for name in LAUNCH_FACT_NAMES if asked[name] != pocl[name]} == {"driver_chooses"}


@pytest.mark.parametrize(
    ("flag", "names"),
    [("-cl-fast-relaxed-math", {"fast", "mad", "native_divide"}), ("-cl-opt-disable", {"unoptimised"}), ("-w", set())],
)
def test_how_it_is_built_shows(flag: str, names: set[str]) -> None:
    found = facts(SCALE, launched(64, 64), BuildOptions(flags=(flag,)))
    assert {name.removeprefix("flag.") for name in LAUNCH_FACT_NAMES if name[:5] == "flag." and found[name]} == names


def test_a_fence_is_no_call() -> None:
    """What runtimes make of it is priced, and differs from one to the next."""
    text = "kernel void k(global float *x) {{ x[get_global_id(0)] += 1; {} x[get_global_id(0)] *= 2; }}"
    fenced, plain = (facts(text.format(fence), launched(64, 64)) for fence in ("mem_fence(CLK_LOCAL_MEM_FENCE);", ""))
    assert fenced["call.other"] == plain["call.other"]
    assert fenced["straight.called"] == plain["straight.called"]
