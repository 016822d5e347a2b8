"""What the analysis counts in the kernels that stand for public measurements, by hand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from model.opencl.program import read_program
from model.work.analyse import analyse
from model.work.counts import OpKind
from model.work.work_counts import WorkCounts
from profiler.corpus.public import convolution, dedispersion, gemm, lattice, pnpoly
from profiler.corpus.public.elementwise import elementwise
from profiler.corpus.public.row import PublicLaunch, PublicRow, settings
from profiler.corpus.public.rows_of_floats import layer_norm, softmax
from profiler.corpus.public.small_products import small_products
from profiler.corpus.public.stream import stream


def _row(family: str, said: Mapping[str, object], chosen: Mapping[str, object] | None = None) -> PublicRow:
    return PublicRow(family, "", settings(said), settings(chosen or {}), 1.0, None, "")


def _counts(program: PublicLaunch) -> WorkCounts:
    read = read_program(program.source, options=program.options)
    assert read.notes == ()
    work = analyse(read, read.kernel(program.kernel))
    assert work.assumptions == ()
    return work.count(program.launch)


def test_an_addition_reads_two_floats_and_writes_one() -> None:
    row = _row("elementwise", {"operation": "add", "rows": 8, "columns": 64}, {"group": 64})
    counts = _counts(elementwise(row))
    assert counts.flops == 512
    assert (counts.global_load_bytes, counts.global_store_bytes) == (512 * 8, 512 * 4)


def test_softmax_by_groups_reads_its_row_three_times_and_from_registers_once() -> None:
    said = {"rows": 6, "columns": 1024}
    grouped = _counts(softmax(_row("softmax", said, {"variant": "groups", "lanes": 64, "lines": 1})))
    assert (grouped.global_load_bytes, grouped.global_store_bytes) == (3 * 6 * 4096, 6 * 4096)
    kept = _counts(softmax(_row("softmax", said, {"variant": "registers", "lanes": 32, "lines": 2})))
    assert (kept.global_load_bytes, kept.global_store_bytes) == (6 * 4096, 6 * 4096)


def test_layer_normalisation_reads_its_row_twice_with_gain_and_shift() -> None:
    counts = _counts(layer_norm(_row("layer_norm", {"rows": 5, "columns": 1024}, {"lanes": 32, "lines": 4})))
    assert (counts.global_load_bytes, counts.global_store_bytes) == (4 * 5 * 4096, 5 * 4096)


@pytest.mark.parametrize("use_shmem", [0, 1])
def test_a_convolution_through_local_memory_loads_each_tile_once(use_shmem: int) -> None:
    said = dict(zip(convolution.MACROS, (16, 4, 2, 2, use_shmem, 0), strict=True))
    counts = _counts(convolution.of_size(_row("convolution", said), 64, 64))
    taps = 64 * 64 * 225
    assert counts.flops == 2 * taps
    assert counts.global_store_bytes == 64 * 64 * 4
    assert counts.constant_load_bytes == counts.work_items * 225 * 4
    if use_shmem:
        groups, tile = 2 * 8, (32 + 14) * (8 + 14)
        assert counts.local_bytes_per_group == tile * 4
        assert counts.local_load_bytes == taps * 4
        assert counts.global_load_bytes == pytest.approx(groups * tile * 4, rel=0.02)
        assert counts.barriers == groups
    else:
        assert counts.global_load_bytes == pytest.approx(taps * 4)


def test_dedispersion_adds_a_byte_of_every_channel_to_every_sum() -> None:
    said = dict(zip(dedispersion.MACROS, (4, 16, 2, 2, 1, 0), strict=True))
    counts = _counts(dedispersion.of_size(_row("dedispersion", said), 64, 32, 10))
    sums = 64 * 32
    assert sum(a.bytes for a in counts.accesses if a.buffer == "input") == sums * 10
    assert counts.global_store_bytes == sums * 4
    # In each channel a tile of 2 x 2 turns four bytes into floats, and two products into whole numbers of samples.
    assert sum(op.count for op in counts.ops if op.kind is OpKind.ADD) == sums * 10


def test_each_work_item_divides_once_for_each_edge_of_the_polygon() -> None:
    said = {"block_size_x": 32, "tile_size": 4, "between_method": 0, "use_method": 0}
    counts = _counts(pnpoly.of_size(_row("pnpoly", said), 32 * 4 * 5, 24))
    assert sum(op.count for op in counts.ops if op.kind is OpKind.DIVIDE) == 32 * 5 * 24
    assert counts.global_store_bytes == 32 * 4 * 5 * 4


def test_a_multiplication_through_local_memory_loads_each_tile_once() -> None:
    said = dict(zip(gemm.MACROS, (32, 32, 16, 8, 8, 8, 8, 2, 1, 1, 0, 0, 1, 1), strict=True))
    counts = _counts(gemm.of_size(_row("gemm", said), 64))
    assert counts.flops == 2 * 64**3 + 3 * 64**2
    assert counts.global_load_bytes == 4 * (4 * 64 * (32 + 32) + 64 * 64)
    assert counts.barriers == 4 * 2 * (64 // 16)
    assert counts.local_bytes_per_group == 2 * 32 * 16 * 4


@pytest.mark.parametrize(
    ("operation", "loads", "flops"), [("copy", 1, 0), ("mul", 1, 1), ("add", 2, 1), ("triad", 2, 2)]
)
def test_streams_read_and_write_each_array_once(operation: str, loads: int, flops: int) -> None:
    counts = _counts(stream(_row("stream", {"operation": operation, "doubles": 4096})))
    assert (counts.global_load_bytes, counts.global_store_bytes) == (4096 * 8 * loads, 4096 * 8)
    assert counts.flops == 4096 * flops


def test_a_dot_product_reads_two_arrays_and_writes_a_sum_a_group() -> None:
    counts = _counts(stream(_row("stream", {"operation": "dot", "doubles": 8192}, {"groups": 4, "group": 64})))
    assert (counts.global_load_bytes, counts.global_store_bytes) == (8192 * 16, 4 * 8)


@pytest.mark.parametrize(("storage", "bytes_per_cell"), [("fp32", 153), ("fp16s", 77), ("fp16c", 77)])
def test_a_cell_of_the_lattice_moves_the_published_bytes(storage: str, bytes_per_cell: int) -> None:
    counts = _counts(lattice.of_size(storage, 16))
    assert counts.global_load_bytes + counts.global_store_bytes == 16**3 * bytes_per_cell


def test_a_cell_of_the_lattice_takes_about_the_published_operations() -> None:
    per_cell = {s: sum(op.count for op in _counts(lattice.of_size(s, 16)).ops) / 16**3 for s in lattice.STORAGES}
    assert 300 < per_cell["fp32"] < 550  # 363 published: without the arithmetic of addresses
    assert per_cell["fp16s"] - per_cell["fp32"] == pytest.approx(2 * 38, abs=2)  # scaled and converted
    assert 1100 < per_cell["fp16c"] < 1500  # 1275 published


def test_small_products_multiply_every_triple_and_add_at_the_end_of_each_run() -> None:
    said = {"m": 6, "n": 4, "k": 5, "batch": 32, "rows": 6, "columns": 1, "group": 4, "triples": 320}
    counts = _counts(small_products(_row("small_products", {**said, "type": "double"})))
    assert counts.flops == 2 * 6 * 4 * 5 * 320
    assert counts.atomics == pytest.approx(6 * 4 * 320 / 16, rel=0.3)
