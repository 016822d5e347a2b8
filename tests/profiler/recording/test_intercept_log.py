"""A log of the OpenCL Intercept Layer is read as far as its text tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from profiler.recording.intercept.log import NO_SOURCE, NotALog, read_log
from profiler.recording.naming import Namer
from profiler.recording.sources import Sources

LOG = """\
CLIntercept (64-bit) is loading...
>>>> clCreateBuffer: context = 0x55d0c0, flags = CL_MEM_READ_WRITE (1), size = 4096, host_ptr = (nil)
<<<< clCreateBuffer: returned 0x55d0c8a0 -> CL_SUCCESS
>>>> clCreateImage: context = 0x55d0c0, flags = CL_MEM_READ_ONLY (4), format->channel_order = CL_RGBA, format->channel_\
data_type = CL_FLOAT, desc->type = CL_MEM_OBJECT_IMAGE2D, desc->width = 64, desc->height = 32, desc->depth = 0, desc->\
array_size = 0, desc->row_pitch = 0, host_ptr = (nil)
<<<< clCreateImage: returned 0x55d0d000 -> CL_SUCCESS
>>>> clCreateProgramWithSource: context = 0x55d0c0, count = 1
<<<< clCreateProgramWithSource: returned 0x55d0e000, program number = 0000 -> CL_SUCCESS
>>>> clBuildProgram: program = 0x55d0e000, pfn_notify = (nil)
Build Info for program 0x55d0e000 (0000_5E3C5A1B_0000_9B0A66F3) for 1 device(s):
    Build finished in 70.41 ms.
<<<< clBuildProgram -> CL_SUCCESS
>>>> clCreateKernel: program = 0x55d0e000, kernel_name = mm
<<<< clCreateKernel: returned 0x55d0f000 -> CL_SUCCESS
>>>> clSetKernelArg( mm ): kernel = 0x55d0f000, index = 0, size = 8, value = 0x55d0c8a0
<<<< clSetKernelArg -> CL_SUCCESS
>>>> clSetKernelArg( mm ): kernel = 0x55d0f000, index = 1, size = 4, value = 0x20
<<<< clSetKernelArg -> CL_SUCCESS
>>>> clSetKernelArg( mm ): kernel = 0x55d0f000, index = 2, size = 8, value = 0x3ff8000000000000
<<<< clSetKernelArg -> CL_SUCCESS
>>>> clSetKernelArg( mm ): kernel = 0x55d0f000, index = 3, size = 256
<<<< clSetKernelArg -> CL_SUCCESS
>>>> clSetKernelArg( mm ): kernel = 0x55d0f000, index = 4, size = 8, value = 0x55d0d000
<<<< clSetKernelArg -> CL_SUCCESS
>>>> Time: 41 TID = 7 clEnqueueNDRangeKernel( mm ): queue = 0x55d0a, kernel = 0x55d0f000, global_work_size = < 32 x 8 >\
, local_work_size = < NULL >
<<<< Time: 45 TID = 7 clEnqueueNDRangeKernel -> CL_SUCCESS
>>>> clEnqueueNDRangeKernel( mm ): queue = 0x55d0a, kernel = 0x55d0f000, global_work_size = < 32 x 8 >, local_work_size\
 = < NULL >
<<<< clEnqueueNDRangeKernel -> CL_SUCCESS
>>>> clEnqueueNDRangeKernel( mm ): queue = 0x55d0a, kernel = 0x55d0f000, global_work_size = < 7 >, local_work_size = < \
64 >
<<<< clEnqueueNDRangeKernel -> CL_INVALID_WORK_GROUP_SIZE

Device Performance Timing Results for A GPU (24CUs, 1200MHz):

Total Time (ns): 30000

                   Function Name,  Calls,     Time (ns), Time (%),  Average (ns),      Min (ns),      Max (ns)
                              mm,      2,         30000,  100.00%,         15000,         14000,         16000
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "clintercept_log.txt"
    path.write_text(LOG, "utf-8")
    return path


def dumped(folder: Path) -> None:
    kernel = "kernel void mm(global float *a, int n, double by, local float *t, read_only image2d_t im) { a[0] = n; }\n"
    (folder / "CLI_0000_5E3C5A1B_source.cl").write_text(kernel)
    (folder / "CLI_0000_5E3C5A1B_0000_9B0A66F3_options.txt").write_text("-DTILE=4")


def test_launches_have_names_where_the_sources_were_dumped(log: Path) -> None:
    dumped(log.parent)
    process = read_log(log)
    (launch,) = process.launches
    entry = Namer(Sources(log.parent / "data"), process.cwd).entry(launch)
    assert (entry.kernel, entry.global_size, entry.local_size, entry.count) == ("mm", (32, 8), None, 2)
    assert dict(entry.args) == {"n": 32, "by": 1.5}
    assert (dict(entry.buffers), dict(entry.local_bytes), dict(entry.images)) == (
        {"a": 1024}, {"t": 256}, {"im": (64, 32)},
    )  # fmt: skip
    assert (entry.options, entry.device_name) == ("-DTILE=4", "A GPU")
    assert (entry.event_us, entry.total_us) == (15.0, 30.0)
    assert entry.notes == ()


def test_without_sources_arguments_have_no_names_and_that_is_told(log: Path) -> None:
    process = read_log(log)
    assert process.problems == (NO_SOURCE,)
    entry = Namer(Sources(log.parent / "data"), process.cwd).entry(process.launches[0])
    assert entry.positional[0] == "buffer of 4096 bytes"
    assert entry.notes != ()


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing of the kind\n")
    with pytest.raises(NotALog, match="CallLogging=1"):
        read_log(tmp_path / "notes.txt")
    with pytest.raises(NotALog, match="cannot be read"):
        read_log(tmp_path / "missing.txt")
