"""What others publish -> rows: results of BabelStream, FluidX3D's table and hashcat's logs, in their own formats."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from profiler.corpus.public.lattice import SIDE
from profiler.corpus.public.reading_hashcat import hash_rows, rows_of_log
from profiler.corpus.public.reading_hub import campaign_rows
from profiler.corpus.public.reading_lattice import lattice_rows
from profiler.corpus.public.reading_products import rows_of_table
from profiler.corpus.public.reading_stream import rows_of_text, stream_rows
from profiler.corpus.public.table import program_of

STREAM = """BabelStream
Version: 3.3
Precision: double
Array size: 268.4 MB (=0.3 GB)
Reduction kernel config: 120 groups of size 1024
Function    MBytes/sec  Min (sec)   Max         Average
Copy        430000.000  0.00125     0.00131     0.00125
Triad       435000.000  0.00185     0.00187     0.00186
Dot         431000.000  0.00125     0.00127     0.00126
"""


def test_a_bandwidth_becomes_the_time_for_the_bytes_of_its_arrays() -> None:
    copy, triad, dot = rows_of_text(STREAM, "a GPU", is_opencl=True)
    doubles = 1 << 25
    assert dict(copy.settings) == {"operation": "copy", "doubles": str(doubles)}
    assert copy.runtime_us == pytest.approx(2 * 8 * doubles / 430e3)
    assert triad.runtime_us == pytest.approx(3 * 8 * doubles / 435e3)
    assert program_of(copy).launch.local_size is None, "the driver chose"
    assert program_of(dot).launch.global_size == (120 * 1024,)


def test_cuda_gives_its_work_group_and_odd_sizes_are_refused() -> None:
    copy, _, _ = rows_of_text(STREAM, "a GPU", is_opencl=False)
    assert program_of(copy).launch.local_size == (1024,)
    with pytest.raises(ValueError, match="no size that BabelStream"):
        list(rows_of_text(STREAM.replace("0.00125", "0.00025").replace("0.00185", "0.0004"), "a GPU", is_opencl=True))


def test_result_files_are_found_by_their_device(tmp_path: Path) -> None:
    (tmp_path / "v3.3/titanxp").mkdir(parents=True)
    (tmp_path / "v3.3/titanxp/ocl.txt").write_text(STREAM)
    assert {row.device for row in stream_rows(tmp_path)} == {"NVIDIA TITAN Xp"}


README = """
# Benchmarks
<details><summary>Single-GPU/CPU Benchmark Table</summary>

| Device | FP32 | Mem | BW | FP32/FP32 | FP32/FP16S | FP32/FP16C |
| :--- | ---: | ---: | ---: | ---: | ---: | ---: |
| 🟢&nbsp;GeForce&nbsp;RTX&nbsp;3090 | 39.05 | 24 | 936 | 5418&nbsp;(89%) | 10732 (88%) | 10215 (84%) |
| 🔴&nbsp;Radeon&nbsp;HD&nbsp;7970 | 3.79 | 3 | 264 | 193 (11%) | 1270 (37%) | - |
| 🔴&nbsp;Instinct&nbsp;MI250&nbsp;(1&nbsp;GCD) | 45.26 | 64 | 1638 | 5638 (53%) | 9030 (42%) | 8506 (40%) |
| 🔵&nbsp;Arc&nbsp;A770&nbsp;LE | 19.66 | 16 | 560 | 2663 (73%) | 4568 (63%) | 4519 (62%) |
| 🔴&nbsp;Radeon&nbsp;HD&nbsp;5770 | 1.36 | 1 | 77 | 132 (26%) | 63 (6%) | 82 (8%) |
| 🔵&nbsp;2x&nbsp;Xeon&nbsp;6980P | 98.30 | 6144 | 1690 | 7875 (71%) | 5112 (23%) | 5610 (26%) |

</details>
| 🟢&nbsp;8x&nbsp;H200 | 535.28 | 1128 | 38400 | 1 (1%) | 2 (1%) | 3 (1%) |
"""


def test_cells_a_second_become_the_time_of_one_step() -> None:
    rows = list(lattice_rows(README))
    first = rows[0]
    assert (first.device, dict(first.settings)["storage"]) == ("NVIDIA GeForce RTX 3090", "fp32")
    assert first.runtime_us == pytest.approx(SIDE**3 / 5418)


def test_only_gpus_with_room_and_figures_that_mean_something_are_taken() -> None:
    taken = {(row.device, dict(row.settings)["storage"]) for row in lattice_rows(README)}
    assert ("AMD Instinct MI250", "fp16c") in taken
    assert ("Intel Arc A770 Graphics", "fp32") in taken, "as its driver calls it"
    assert {storage for device, storage in taken if "7970" in device} == {"fp16s"}
    assert not any("5770" in device or "Xeon" in device or "8x" in device for device, _ in taken)


LOG = """hashcat (v6.2.6-813-g686bc227c) starting in benchmark mode
* Device #1: NVIDIA GeForce GTX 1080, 7997/8105 MB, 20MCU
-------------------
* Hash-Mode 0 (MD5)
-------------------
Speed.#1.........: 24661.1 MH/s (106.93ms) @ Accel:256 Loops:1024 Thr:512 Vec:8
* Hash-Mode 1400 (SHA2-256)
Speed.#1.........:  3142.0 MH/s (42.61ms) @ Accel:64 Loops:1024 Thr:1024 Vec:1
* Hash-Mode 2100 (Domain Cached Credentials 2 (DCC2), MS Cache 2) [Iterations: 10239]
Speed.#1.........:   358.6 kH/s (356.79ms) @ Accel:256 Loops:512 Thr:512 Vec:1
* Hash-Mode 1500 (descrypt, DES (Unix), Traditional DES)
Speed.#1.........:  1000.0 MH/s (100.00ms) @ Accel:64 Loops:1024 Thr:512 Vec:1
"""


def test_a_log_gives_launch_and_time_of_each_mode_that_is_known() -> None:
    md5, dcc2 = rows_of_log(LOG)
    assert (md5.family, md5.device, md5.runtime_us) == ("hash", "NVIDIA GeForce GTX 1080", 106930.0)
    assert dict(md5.settings) == {
        "mode": "0", "items": str(256 * 20 * 512), "loops": "1024", "group": "512", "vector": "8"
    }  # fmt: skip
    assert (dcc2.family, dict(dcc2.settings)["loops"]) == ("hash iterated", "512")


def test_a_time_that_does_not_fit_the_speed_is_left_out() -> None:
    assert "1400" not in {dict(row.settings)["mode"] for row in rows_of_log(LOG)}


def test_a_second_log_of_a_device_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "GTX_1080-1.txt").write_text(LOG)
    (tmp_path / "GTX_1080.txt").write_text(LOG.replace("106.93", "107.93"))
    assert next(hash_rows(tmp_path)).runtime_us == 106930.0
    assert len(list(hash_rows(tmp_path))) == 2


def test_a_campaign_counts_the_median_of_the_runs_of_what_ran(tmp_path: Path) -> None:
    ran = {
        "between_method": 1,
        "block_size_x": 64,
        "tile_size": 2,
        "use_method": 0,
        "time": 9.0,
        "times": [2.0, 3.0, 2.5],
    }
    cache = {"a": ran, "b": {**ran, "tile_size": 4, "time": "RuntimeFailedConfig"}}
    (path := tmp_path / "campaign.json.gz").write_bytes(gzip.compress(json.dumps({"cache": cache}).encode()))
    (row,) = campaign_rows(path, "pnpoly", "a GPU")
    assert row.runtime_us == 2500.0
    assert program_of(row).launch.local_size == (64,)


def test_a_tuned_product_has_its_work_group_from_its_blocks(tmp_path: Path) -> None:
    path = tmp_path / "tune_multiply_X.csv"
    path.write_text(
        "DEVICE;TYPEID;M;N;K;S;GFLOPS;BS;BM;BN;BK;WS;WG\n"
        "a GPU;1;22;9;16;30000;1000.0;30;22;1;1;0;0\n"
        "a GPU;3;22;9;16;30000;0;30;22;1;1;0;0\n"
        "a GPU;3;13;13;5;30000;500.0;24;7;2;1;0;1\n"
    )
    single, double = rows_of_table(path)
    assert single.runtime_us == pytest.approx(2e-3 * 22 * 9 * 16 * 30_000 / 1000)
    assert program_of(single).launch.local_size == (9,)
    assert program_of(double).launch.local_size == (32,), "14 items, made up to a warp"
    assert program_of(double).launch.global_size == (1250 * 32,)
