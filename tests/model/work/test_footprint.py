"""Distinct bytes of launches, groups and work-items, held against listing the addresses of every work-item."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.launch.launch import Fill
from model.work.memory.footprint import expected_distinct

Count = Callable[..., Any]
Place = Callable[[Mapping[str, int]], int]

# (index in C over x, y, their local and group ids, and the counter k; the same in Python)
AXES = ("x", "y", "lx", "ly", "gx", "gy", "k")
HEAD = """int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
    int gx = get_group_id(0), gy = get_group_id(1); float s = 0;"""


def items(size: tuple[int, int], local: tuple[int, int]) -> Iterator[dict[str, int]]:
    for y, x in product(range(size[1]), range(size[0])):
        (gx, lx), (gy, ly) = divmod(x, local[0]), divmod(y, local[1])
        yield {"x": x, "y": y, "lx": lx, "ly": ly, "gx": gx, "gy": gy}


def touched(place: Place, each: Iterator[dict[str, int]], trips: int, guard: Place) -> set[int]:
    return {
        byte
        for ids in each
        if guard(ids)
        for k in range(trips)
        for byte in range(4 * place({**ids, "k": k}), 4 * place({**ids, "k": k}) + 4)
    }


TERMS = st.lists(st.tuples(st.sampled_from(AXES), st.sampled_from([1, 2, 3, 4, 8, 16, 17, 32])), min_size=1, max_size=4)
LOCAL = st.sampled_from([(4, 2), (8, 1), (2, 4), (4, 4)])


@given(TERMS, TERMS, LOCAL, st.integers(1, 3), st.integers(1, 5), st.integers(1, 16))
def test_affine_nests_touch_what_listing_their_addresses_finds(
    count: Count,
    first: list[tuple[str, int]],
    second: list[tuple[str, int]],
    local: tuple[int, int],
    groups: int,
    trips: int,
    inside: int,
) -> None:
    size = (local[0] * groups, local[1] * 2)
    indices = [" + ".join(f"{c} * {axis}" for axis, c in terms) for terms in (first, second)]
    body = "".join(f"s += a[{index}];" for index in indices)
    text = f"""__kernel void f(__global const float *a, __global float *o, int n, int inside) {{ {HEAD}
        if (x < inside) {{ for (int k = 0; k < n; ++k) {{ {body} }} o[y * 1000 + x] = s; }} }}"""
    counted = count(text, size, local, n=trips, inside=inside)
    facts = next(b for b in counted.counts.facts.buffers if b.buffer == "a")

    def bytes_of(each: list[dict[str, int]]) -> set[int]:
        places = [lambda ids, t=terms: sum(c * ids[axis] for axis, c in t) for terms in (first, second)]
        return set().union(*(touched(p, iter(each), trips, lambda ids: ids["x"] < inside) for p in places))

    everyone = list(items(size, local))
    whole = bytes_of(everyone)
    assert facts.launch.distinct_bytes == len(whole) or not facts.launch.is_exact
    assert facts.launch.line_bytes == 64 * len({byte // 64 for byte in whole}) or not facts.launch.is_exact
    assert facts.launch.distinct_bytes >= len(whole)
    by_group = [
        len(bytes_of([i for i in everyone if (i["gx"], i["gy"]) == (gx, gy)]))
        for gx in range(groups)
        for gy in range(2)
    ]
    assert facts.group.distinct_bytes in by_group or not facts.group.is_exact
    by_item = {len(bytes_of([i])) for i in everyone}
    assert facts.item.distinct_bytes in by_item or not facts.item.is_exact


@pytest.mark.parametrize(
    ("index", "place"),
    [
        ("x % 4 * 16 + x / 4", lambda i: i["x"] % 4 * 16 + i["x"] // 4),
        ("(x & 7) * 8 + (x >> 3)", lambda i: (i["x"] & 7) * 8 + (i["x"] >> 3)),
        ("gx * 8 + lx", lambda i: i["gx"] * 8 + i["lx"]),
        ("x - lx", lambda i: i["x"] - i["lx"]),
        ("x * k", lambda i: i["x"] * i["k"]),
        ("x ^ 5", lambda i: i["x"] ^ 5),
        ("(y * 64 + x) / 2", lambda i: (i["y"] * 64 + i["x"]) // 2),
        ("64 * k - x", lambda i: 64 * i["k"] - i["x"]),
        ("(x + 5) % 64", lambda i: (i["x"] + 5) % 64),
        ("y * 64 + ((x - 1) & 63)", lambda i: i["y"] * 64 + (i["x"] - 1) % 64),
        ("(y << 6) | x", lambda i: i["y"] << 6 | i["x"]),
        ("(y << 6) ^ (x & 31)", lambda i: i["y"] << 6 ^ i["x"] & 31),
        ("(x | 1) * 2 + k", lambda i: (i["x"] | 1) * 2 + i["k"]),
    ],
)
def test_indices_with_digits_products_and_bits_touch_what_listing_finds(count: Count, index: str, place: Place) -> None:
    text = f"""__kernel void f(__global const float *a, __global float *o, int n) {{ {HEAD}
        for (int k = 0; k < n; ++k) s += a[{index}]; o[y * 64 + x] = s; }}"""
    facts = count(text, (64, 4), (8, 2), n=4).counts.facts
    found = touched(place, items((64, 4), (8, 2)), 4, lambda _: 1)
    assert facts.buffers[0].buffer == "a" or facts.buffers[1].buffer == "a"
    whole = next(b for b in facts.buffers if b.buffer == "a").launch
    assert (whole.distinct_bytes, whole.is_exact) == (len(found), True)


def test_a_product_of_matrices_asks_for_each_element_as_often_as_there_are_rows(count: Count) -> None:
    text = """__kernel void f(__global const float *a, __global const float *b, __global float *c, int n) {
        int i = get_global_id(1), j = get_global_id(0); float s = 0;
        for (int k = 0; k < n; ++k) s += a[i * n + k] * b[k * n + j]; c[i * n + j] = s; }"""
    facts = count(text, (256, 256), (16, 16), n=256).counts.facts
    a, b = (next(x for x in facts.buffers if x.buffer == name) for name in "ab")
    assert (a.item.reuse, a.group.reuse, a.launch.reuse) == (1, 16, 256)
    assert (b.item.reuse, b.group.reuse, b.launch.reuse) == (1, 16, 256)
    assert b.item.line_bytes == 256 * 64  # a column: one line for each of its elements
    assert a.group.distinct_bytes == 16 * 256 * 4


def test_a_stencil_shares_its_loads(count: Count) -> None:
    text = """__kernel void f(__global const float *a, __global float *o, int n) {
        int i = get_global_id(1), j = get_global_id(0); if (i < 1 || j < 1 || i >= n - 1 || j >= n - 1) return;
        o[i * n + j] = a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]; }"""
    counted = count(text, (512, 512), (16, 16), n=512).counts
    everything_but_corners_and_middle = 512 * 512 - 4
    assert counted.facts.launch.is_exact
    assert counted.global_footprint_bytes == 4 * (everything_but_corners_and_middle + 510 * 510)


def test_a_column_of_a_matrix_and_every_fourth_element_are_not_their_span(count: Count) -> None:
    column = "__kernel void f(__global float *x, int n) { x[get_global_id(0) * n] = 1; }"
    assert count(column, (1024,), (64,), n=1000).counts.global_footprint_bytes == 4096
    fourth = "__kernel void f(__global float *x) { x[get_global_id(0) * 4] = 1; }"
    counted = count(fourth, (1024,), (64,)).counts
    assert counted.global_footprint_bytes == 4096
    assert counted.facts.launch.line_bytes == 4 * 4096


def test_a_triangle_touches_half_a_matrix(count: Count) -> None:
    text = """__kernel void f(__global const float *a, __global float *o, int n) {
        int i = get_global_id(0); float s = 0; for (int k = 0; k < i; ++k) s += a[i * n + k]; o[i] = s; }"""
    for n in (32, 1024):
        whole = next(b for b in count(text, (n,), (16,), n=n).counts.facts.buffers if b.buffer == "a").launch
        assert whole.distinct_bytes == pytest.approx(4 * n * (n - 1) / 2, rel=0.02)


def test_random_indices_meet_some_elements_more_than_once(count: Count) -> None:
    text = """__kernel void f(__global const int *col, __global const float *x, __global float *y) {
        int i = get_global_id(0); y[i] = x[col[i]]; }"""
    fills = {"col": Fill("randint", (0, 4096))}
    counted = count(text, (4096,), (64,), buffers={"col": 4096, "x": 4096, "y": 4096}, fills=fills)
    x = next(b for b in counted.counts.facts.buffers if b.buffer == "x")
    assert x.launch.distinct_bytes == pytest.approx(4 * 4096 * 0.632, rel=0.01)
    assert not x.launch.is_exact


@given(st.integers(1, 200), st.integers(0, 400))
def test_draws_meet_no_more_places_than_there_are_nor_than_draws(places: int, drawn: int) -> None:
    met = expected_distinct(places, drawn)
    assert 0 <= met <= min(places, drawn) + 1e-6
    by_recurrence = 0.0
    for _ in range(drawn):
        by_recurrence += 1 - by_recurrence / places
    assert met == pytest.approx(by_recurrence, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("index", "addresses"), [("0", 1), ("get_group_id(0)", 16), ("get_local_id(0)", 64), ("g", 1024), ("g % 8", 8)]
)
def test_atomics_are_told_apart_by_how_many_addresses_they_meet_on(count: Count, index: str, addresses: int) -> None:
    text = f"""__kernel void f(__global int *bins) {{ int g = get_global_id(0); atomic_inc(&bins[{index}]); }}"""
    counts = count(text, (1024,), (64,)).counts
    (access,) = counts.accesses
    assert access.is_atomic
    assert access.footprint_bytes == 4 * addresses
    assert counts.facts.accesses[0].launch.reuse == 1024 / addresses


def test_sums_that_stay_in_memory_are_told_from_those_in_registers(count: Count) -> None:
    text = """__kernel void f(__global const float *x, __global float *y, __global float *z, int n) {
        int g = get_global_id(0);
        for (int k = 0; k < n; ++k) y[g] += x[k * n + g];
        for (int k = 0; k < n; ++k) z[g * n + k] += x[k]; }"""
    stores = [a for a in count(text, n=100).counts.facts.accesses if a.count.is_store]
    assert {a.count.buffer: a.is_accumulated_in_memory for a in stores} == {"y": True, "z": False}
