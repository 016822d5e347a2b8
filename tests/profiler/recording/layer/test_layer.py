"""The layer writes down what a program launches, and the program does not notice."""

from __future__ import annotations

import hashlib
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from profiler.recording.layer import FLAGS, SOURCES, layer_library
from tests.profiler.recording.layer.conftest import Ran
from tests.profiler.recording.layer.programs import WARNINGS, compile_launcher

pytestmark = pytest.mark.device

Record = Callable[..., Ran]
Run = Callable[..., str]


def float_hex(value: float) -> str:
    return struct.pack("<f", value).hex()


def int_hex(value: int) -> str:
    return struct.pack("<i", value).hex()


def test_each_distinct_launch_is_a_line_with_its_count(launcher: Path, record: Record) -> None:
    ran = record([launcher, "some"])
    assert (ran.status, ran.out, ran.err) == (0, "done\n", "")
    launches = ran.log.of("launch")
    assert [(each["id"], each["kernel"], each["global"], each["local"], each["offset"]) for each in launches] == [
        (0, "scale", [4096], [64], [0]),
        (1, "scale", [512], None, [0]),
        (2, "sum", [4096], [64], [0]),
    ]
    assert ran.log.counts == [2, 1, 1]


def test_arguments_are_buffers_with_bytes_values_in_hex_and_local_bytes(launcher: Path, record: Record) -> None:
    whole, part, summed = (launch["args"] for launch in record([launcher, "some"]).log.of("launch"))
    assert whole[0] == {"kind": "buffer", "bytes": 16384}
    assert whole[1:] == [{"kind": "value", "hex": float_hex(2.0)}, {"kind": "value", "hex": int_hex(4096)}]
    assert part[0] == {"kind": "buffer", "bytes": 2048}
    assert summed[1] == {"kind": "buffer", "bytes": 256}
    assert summed[2] == {"kind": "local", "bytes": 256}


def test_source_and_options_are_kept_to_the_byte(launcher: Path, record: Record) -> None:
    ran = record([launcher, "some"])
    (program,) = ran.log.of("program")
    assert (program["kind"], program["options"]) == ("source", '-DUNUSED="1"')
    source = (ran.folder / program["source"]).read_bytes()
    assert source.startswith(b"__kernel void scale(")
    assert program["sha256"] == hashlib.sha256(source).hexdigest()
    assert program["source"] == f"program-{program['sha256']}.cl"


def test_images_and_samplers_are_told_from_values(launcher: Path, record: Record) -> None:
    (launch,) = record([launcher, "images"]).log.of("launch")
    image, sampler, buffer, _, value = launch["args"]
    assert image == {"kind": "image", "size": [32, 8, 1], "channels": "rgba", "type": "float"}
    assert sampler == {"kind": "sampler"}
    assert buffer["bytes"] == 2048
    assert value == {"kind": "value", "hex": struct.pack("<Q", 7).hex()}
    assert (launch["global"], launch["local"], launch["offset"]) == ([16, 8], [8, 4], [0, 0])


def test_a_linked_program_says_what_it_was_linked_from(launcher: Path, record: Record) -> None:
    ran = record([launcher, "linked"])
    assert (ran.status, ran.err) == (0, "")
    _, compiled, linked = ran.log.of("program")
    assert (compiled["options"], linked["linked"], linked["source"]) == ("-DPART", [compiled["id"]], None)
    (header,) = compiled["headers"]
    assert header["name"] == "twice.h"
    assert b"inline float twice" in (ran.folder / header["source"]).read_bytes()


def test_a_clone_has_the_arguments_of_its_kernel(launcher: Path, record: Record) -> None:
    log = record([launcher, "linked"]).log
    (launch,) = log.of("launch")
    assert log.counts == [2]
    assert launch["args"][0] == {"kind": "svm", "bytes": 1024 - 256}


def test_of_a_binary_the_hash_is_kept(launcher: Path, record: Record) -> None:
    log = record([launcher, "binary"]).log
    program = log.of("program")[1]
    assert (program["kind"], program["source"], len(program["sha256"])) == ("binary", None, 64)
    assert {launch["program"] for launch in log.of("launch")} == {program["id"]}


def test_a_crash_keeps_what_was_recorded(launcher: Path, record: Record) -> None:
    ran = record([launcher, "crash"])
    assert ran.status == -signal.SIGABRT
    assert ran.log.counts == [2, 1, 1]


def test_a_child_has_a_log_of_its_own_and_leaves_the_parents_alone(launcher: Path, record: Record) -> None:
    ran = record([launcher, "fork"])
    assert ran.status == 0
    parent, child = sorted(ran.logs, key=lambda log: -len(log.entries))
    assert parent.counts == [4, 2, 2]
    assert child.of("launch") == []
    assert child.of("process")[0]["pid"] != parent.of("process")[0]["pid"]


def test_a_program_that_forks_before_it_opens_a_device_is_recorded_in_the_child(launcher: Path, record: Record) -> None:
    ran = record([launcher, "fork-first"])
    assert ran.log.counts == [2, 1, 1]


@pytest.mark.parametrize("loaders", [1, 2])
def test_a_process_that_initializes_the_layer_twice_can_fork(loaders: int, tmp_path: Path) -> None:
    """Each loader initializes the layer; a layer that OPENCL_LAYERS names twice gets its own functions as the next."""
    text = """
import ctypes, os, sys
layer = ctypes.CDLL(sys.argv[1])
table, count, ours = (ctypes.c_void_p * 160)(*[1] * 160), ctypes.c_uint(), ctypes.POINTER(ctypes.c_void_p)()
for number in range(2):
    target = table if number < int(sys.argv[2]) else ours
    assert layer.clInitLayer(160, target, ctypes.byref(count), ctypes.byref(ours)) == 0
if os.fork() == 0:
    os._exit(0)
print(os.wait()[1], count.value)
"""
    words = [sys.executable, "-c", text, str(layer_library()), str(loaders)]
    settings = {**os.environ, "KERNELCAST_RECORD_DIR": str(tmp_path)}
    ran = subprocess.run(words, env=settings, capture_output=True, text=True, timeout=30, check=True)
    assert ran.stdout == "0 160\n"


def test_a_program_that_closes_all_files_is_still_recorded(launcher: Path, record: Record) -> None:
    ran = record([launcher, "close-files"])
    assert ran.out == "done\ndone\n"
    assert ran.log.counts == [4, 2, 2]


def test_a_file_of_the_program_under_a_number_of_ours_is_left_alone(launcher: Path, record: Record) -> None:
    ran = record([launcher, "reuse-files", "3000"])  # more launches than the counts file has room for at first
    assert (ran.status, ran.out) == (0, "0\n")
    assert ran.log.counts == [1] * 3000


def test_an_argument_that_memory_ran_out_for_is_unset(launcher: Path, record: Record, tmp_path: Path) -> None:
    failing = tmp_path / "failing.c"
    failing.write_text("""
#include <stdlib.h>
void *failing_malloc(size_t bytes) { static int calls; return bytes == 64 && ++calls == 2 ? NULL : malloc(bytes); }
""")
    layer, built = tmp_path / "layer.so", tmp_path / "failing.o"
    subprocess.run(["cc", "-fPIC", "-c", str(failing), "-o", str(built)], check=True, timeout=60)
    sources = map(str, SOURCES.glob("*.c"))
    command = ["cc", *FLAGS, "-Dmalloc=failing_malloc", *sources, str(built), "-o", str(layer)]
    subprocess.run(command, check=True, timeout=120)
    (launch,) = record([launcher, "cloned"], layer=layer).log.of("launch")
    assert launch["args"] == [{"kind": "buffer", "bytes": 1024}, {"kind": "unset"}]


def test_launches_of_four_threads_are_all_counted(launcher: Path, record: Record) -> None:
    log = record([launcher, "threads", "250"]).log
    assert log.counts == [100] * 10


def test_values_that_keep_changing_count_to_the_first_launch(launcher: Path, record: Record) -> None:
    log = record([launcher, "values", "5000"]).log
    assert log.counts == [1 + 5000 - 4096] + [1] * 4095
    assert [entry["launch"] for entry in log.of("varies")] == [0]


def test_event_times_are_those_that_the_program_reads(launcher: Path, record: Record) -> None:
    ran = record([launcher, "times", "20", "profiled"])
    times_us = [int(line) / 1000 for line in ran.out.split()]
    count, timed, sum_us, *samples_us = ran.log.slots[0]
    assert (count, timed) == (20, 20)
    assert samples_us[:20] == pytest.approx(times_us)
    assert sum_us == pytest.approx(sum(times_us))


def test_many_launches_that_nothing_waits_for_are_timed_as_well(launcher: Path, record: Record) -> None:
    log = record([launcher, "seconds", "3000", "profiled"]).log
    assert sum(slot[1] for slot in log.slots) == 3001  # one more before those
    assert all(sample_us > 0 for sample_us in max(log.slots)[3:])


def test_profiling_can_be_turned_on_for_a_program_that_does_not_ask(launcher: Path, record: Record) -> None:
    ran = record([launcher, "some"], {"KERNELCAST_RECORD_PROFILE": "1"})
    assert [slot[1] for slot in ran.log.slots[:3]] == [2, 1, 1]


@pytest.mark.parametrize("added", [{}, {"KERNELCAST_RECORD_PROFILE": "1"}], ids=["as it is", "with profiling"])
def test_mistakes_get_the_same_errors_as_without_the_layer(
    launcher: Path, record: Record, run: Run, added: dict[str, str]
) -> None:
    errors = run(launcher, "mistakes")
    assert len(set(errors.split())) > 5
    ran = record([launcher, "mistakes"], added)
    assert (ran.status, ran.out, ran.err) == (0, errors, "")


def test_without_a_folder_the_program_runs_as_ever(launcher: Path, record: Record, tmp_path: Path) -> None:
    for folder in ("", str(tmp_path / "nowhere")):
        ran = record([launcher, "some"], {"KERNELCAST_RECORD_DIR": folder})
        assert (ran.status, ran.out, ran.err, ran.logs) == (0, "done\n", "", [])
        ran.folder.rmdir()


PYOPENCL_PROGRAM = """
import numpy, pyopencl as cl
context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
x = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4000)
for power in (2, 3, 2):
    source = "__kernel void f(__global float *x, float by) { x[get_global_id(0)] *= by * %d; }" % power
    program = cl.Program(context, source)
    program.build(["-cl-fast-relaxed-math"])
    for by in (1, 2):
        event = program.f(queue, (1000,), None, x, numpy.float32(by))
event.wait()
print(event.profile.end - event.profile.start)
"""


def test_pyopencl_programs_are_recorded_and_equal_builds_are_one(record: Record) -> None:
    ran = record([sys.executable, "-c", PYOPENCL_PROGRAM])
    assert ran.status == 0, ran.err
    log = ran.log
    ours = [entry["id"] for entry in log.of("program") if entry["options"].startswith("-cl-fast-relaxed-math")]
    launches = [entry for entry in log.of("launch") if entry["program"] in ours]
    assert len(ours) == 2
    assert [launch["args"][1]["hex"] for launch in launches] == [float_hex(1), float_hex(2)] * 2
    assert [int(log.slots[launch["id"]][0]) for launch in launches] == [2, 2, 1, 1]
    assert int(ran.out) / 1000 in [pytest.approx(us) for us in log.slots[launches[1]["id"]][3:5]]


def test_sanitizers_find_nothing(loader: Path, record: Record, tmp_path: Path) -> None:
    flags = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
    layer, launcher = tmp_path / "layer.so", tmp_path / "launcher"
    shared = ("-std=c11", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread")
    command = ["cc", *shared, *WARNINGS, *flags, *map(str, SOURCES.glob("*.c")), "-o", str(layer)]
    if subprocess.run(command, check=False, timeout=240).returncode != 0:
        pytest.fail("the layer does not compile with all warnings as errors")
    compile_launcher(loader, launcher, *flags)
    for what in (["images"], ["cloned"], ["threads", "100"], ["mistakes"], ["values", "4200", "profiled"]):
        ran = record([launcher, *what], {"ASAN_OPTIONS": "detect_leaks=0", "KERNELCAST_RECORD_PROFILE": "1"}, layer)
        assert (ran.status, ran.err) == (0, "")
        for file in ran.folder.iterdir():
            file.unlink()
        ran.folder.rmdir()
