"""Public measurements: from the sources' tables to rows that ship, and from a row to the program it stands for."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from model.known_devices import find_builtin_by_name
from model.opencl.program import read_program
from profiler.corpus.public.convolution import passes_the_edge
from profiler.corpus.public.facts import measured
from profiler.corpus.public.kept_facts import FOREIGN_FAMILIES
from profiler.corpus.public.reading import chosen, tuned_rows, vector_rows
from profiler.corpus.public.row import PublicRow, settings
from profiler.corpus.public.table import FAMILIES, FILE, program_of, read_rows, write_rows


@pytest.fixture(scope="module")
def shipped() -> list[PublicRow]:
    return read_rows()


def _write(path: Path, *rows: dict[str, object]) -> Path:
    text = io.StringIO()
    table = csv.DictWriter(text, list(rows[0]))
    table.writeheader()
    table.writerows(rows)
    path.write_bytes(gzip.compress(text.getvalue().encode()))
    return path


def _tuned(device: str = "NVIDIA RTX A4000", flag: str = "", **defines: int) -> dict[str, object]:
    said = {"block_size_x": 16, "block_size_y": 8, "tile_size_x": 2, "tile_size_y": 1, "read_only": 0, **defines}
    return {
        "kernel": "convolution",
        "device": device,
        "source_file": "convolution.json.gz",
        "defines": json.dumps(said),
        "time_ms_median": "" if flag else 2.5,
        "time_ms_std": "" if flag else 0.025,
        "flag": flag,
    }


def test_a_tuned_configuration_becomes_a_row_in_microseconds(tmp_path: Path) -> None:
    failed = _tuned(flag="FAILED:RuntimeFailedConfig")
    (row,) = tuned_rows(_write(tmp_path / "hub.csv.gz", _tuned(use_padding=1), failed))
    assert (row.runtime_us, row.noise_percent) == (2500.0, 1.0)
    assert dict(row.settings)["use_shmem"] == "1", "what campaigns before there was a choice did"
    launch = program_of(row).launch
    assert (launch.global_size, launch.local_size) == ((2048, 4096), (16, 8))


def test_an_operation_of_pytorch_becomes_a_row(tmp_path: Path) -> None:
    said = {"Device": "Tesla T4", "B": 1000, "H": 900, "Block x": 256, "Block y": 1, "Latency": 0.5}
    name = "void (anonymous namespace)::cunn_SoftMaxForward<4, float>"
    (row,) = vector_rows(_write(tmp_path / "ops.csv.gz", {"OPName": "softmax", "short_kernel": name, **said}))
    assert (row.family, row.runtime_us, dict(row.choices)["variant"]) == ("softmax", 500.0, "groups")
    assert program_of(row).launch.global_size == (256_000,)


def test_the_same_launches_are_chosen_on_all_devices() -> None:
    def row(device: str, tile: int) -> PublicRow:
        return PublicRow("pnpoly", device, settings({"tile_size": tile}), (), 1.0, None, "")

    every = [row(device, tile) for device in "ab" for tile in range(100)]
    kept = chosen([*every, *every], most=10)
    assert Counter(each.device for each in kept) == {"a": 10, "b": 10}
    assert {each.key for each in kept if each.device == "a"} == {each.key for each in kept if each.device == "b"}
    assert chosen(reversed(every), most=10) == kept


def test_rows_come_back_from_the_file_as_they_were(tmp_path: Path, shipped: list[PublicRow]) -> None:
    write_rows(shipped[::500], tmp_path / "rows.parquet")
    again = read_rows(tmp_path / "rows.parquet")
    assert [(r.key, r.device, r.choices, r.runtime_us) for r in again] == [
        (r.key, r.device, r.choices, r.runtime_us) for r in shipped[::500]
    ]


def test_what_ships_is_small_and_says_whose_it_is(shipped: list[PublicRow]) -> None:
    assert FILE.stat().st_size < 1_500_000
    assert {row.family for row in shipped} == set(FAMILIES)
    assert all(row.runtime_us > 0 and math.isfinite(row.runtime_us) for row in shipped)
    assert all(row.source.endswith(")") for row in shipped), "the licence, or what was taken"


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_has_rows_of_devices_that_are_known(shipped: list[PublicRow], family: str) -> None:
    devices = {row.device for row in shipped if row.family == family}
    known = {device for device in devices if find_builtin_by_name(device) is not None}
    assert len(known) >= len(devices) / 3


def test_one_launch_stands_once_for_each_device_and_source(shipped: list[PublicRow]) -> None:
    counted = Counter((row.device, row.key, row.choices, row.source) for row in shipped)
    assert max(counted.values()) == 1


def test_every_kind_of_row_has_a_program_that_reads_without_a_complaint(shipped: list[PublicRow]) -> None:
    for row in [row for row in shipped if row.family not in FOREIGN_FAMILIES][::397]:
        program = program_of(row)
        read = read_program(program.source, options=program.options)
        kernel = read.kernel(program.kernel)
        said = {name for name, _ in (*program.launch.scalars, *program.launch.buffers, *program.launch.local_bytes)}
        assert read.notes == ()
        assert {parameter.name for parameter in kernel.parameters} == said
        required = kernel.attributes.reqd_work_group_size
        assert required is None or required[: len(program.launch.local_size or ())] == program.launch.local_size


def test_groups_past_the_edge_are_told_apart() -> None:
    said = {"block_size_x": 16, "block_size_y": 4, "tile_size_x": 2}
    assert not passes_the_edge(settings({**said, "tile_size_y": 2}))
    assert passes_the_edge(settings({**said, "tile_size_y": 3}))


def test_rows_become_facts_with_one_launch_alike_on_every_device(shipped: list[PublicRow]) -> None:
    key = next(row.key for row in shipped if row.family == "convolution" and passes_the_edge(row.settings))
    same = [row for row in shipped if row.key == key and find_builtin_by_name(row.device) is not None]
    own = same + [row for row in shipped if row.family == "gemm"][:1]
    facts = measured([*own, replace(own[0], device="a GPU that nobody knows")], processes=1)
    assert len(facts) == len(own)
    assert set(facts.family) == {"convolution past the edge", "gemm"}
    edges = facts.where(facts.family == "convolution past the edge")
    assert len(set(edges.device)) == len(edges) > 3
    assert len(set(edges.fact("launch.log.flops"))) == 1
    assert len(set(edges.analytic_us)) > 1
    assert (facts.analytic_us >= facts.least_us).all()
