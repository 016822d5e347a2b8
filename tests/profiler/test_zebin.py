"""The notes of Intel's binaries, recorded from ocloc 22.43 for kernels of our own."""

from __future__ import annotations

import pytest

pytest.importorskip("yaml", reason="of the extra offline")
pytest.importorskip("elftools", reason="of the extra offline")

from profiler.offline.zebin import UnreadableBinary, read_notes, read_zebin

# Three kernels for dg2-g10: one that spills, one with a private array, one with local memory and a fixed group.
RECORDED = """\
---
version:         '1.20'
kernels:
  - name:            crowded
    execution_env:
      barrier_count:   1
      grf_count:       128
      has_no_stateless_write: true
      simd_size:       8
      subgroup_independent_forward_progress: true
    per_thread_memory_buffers:
      - type:            scratch
        usage:           single_space
        size:            8192
  - name:            arrays
    execution_env:
      grf_count:       128
      simd_size:       32
    payload_arguments:
      - arg_type:        private_base_stateless
        offset:          64
        size:            8
    per_thread_memory_buffers:
      - type:            global
        usage:           private_space
        size:            400
        is_simt_thread:  true
  - name:            tile
    user_attributes:
      reqd_work_group_size: [ 64, 1, 1 ]
    execution_env:
      barrier_count:   1
      grf_count:       128
      required_work_group_size: [ 64, 1, 1 ]
      simd_size:       32
      slm_size:        1024
...
"""


def test_sizes_of_a_thread_are_shared_among_its_work_items_and_those_of_a_work_item_are_not() -> None:
    kernels = read_notes(RECORDED)
    assert list(kernels) == ["crowded", "arrays", "tile"]
    assert (kernels["crowded"].private_bytes, kernels["crowded"].simd_size) == (8192 // 8, 8)
    assert kernels["arrays"].private_bytes == 400
    assert kernels["tile"].private_bytes == 0


def test_what_is_spilled_is_unknown_where_one_buffer_holds_it_and_arrays() -> None:
    kernels = read_notes(RECORDED)
    assert kernels["crowded"].spill_bytes is None
    assert kernels["tile"].spill_bytes == 0


def test_registers_local_memory_barriers_and_the_required_size_are_read() -> None:
    tile = read_notes(RECORDED)["tile"]
    assert (tile.grf_count, tile.local_bytes, tile.barrier_count) == (128, 1024, 1)
    assert tile.required_local_size == (64, 1, 1)
    assert read_notes(RECORDED)["arrays"].required_local_size is None


def test_newer_compilers_tell_spills_and_private_memory_apart() -> None:
    notes = """\
kernels:
  - name: crowded
    execution_env: {grf_count: 256, simd_size: 16, private_size: 6400, spill_size: 1024}
    per_thread_memory_buffers:
      - {type: scratch, usage: private_space, size: 6400}
      - {type: scratch, usage: spill_fill_space, size: 1024, slot: 1}
"""
    crowded = read_notes(notes)["crowded"]
    assert (crowded.grf_count, crowded.spill_bytes, crowded.private_bytes) == (256, 64, 464)
    without_size = read_notes(notes.replace(", private_size: 6400, spill_size: 1024", ""))["crowded"]
    assert (without_size.spill_bytes, without_size.private_bytes) == (64, 464)


@pytest.mark.parametrize("notes", ["", "kernels: 3", "kernels:\n  - name: k\n", "kernels: [", "- 1"])
def test_notes_that_lack_what_is_promised_are_refused_and_nothing_else_happens(notes: str) -> None:
    with pytest.raises(UnreadableBinary):
        read_notes(notes)


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"no binary at all"])
def test_a_file_that_is_no_binary_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableBinary):
        read_zebin(data)
