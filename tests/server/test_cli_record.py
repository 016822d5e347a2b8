"""`kernelcast record`: what a program launches is written down, and the program notices nothing of it."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from profiler.recording.layer import LayerUnavailable, layer_library

Run = Callable[..., "subprocess.CompletedProcess[str]"]
SOURCE = """
typedef struct { float gain; int shift; float4 tint; } Tone;
kernel void scale(global float *x, int n, float factor) { int i = get_global_id(0); if (i < n) x[i] *= factor; }
kernel void tone(global const float4 *from, global float4 *to, Tone tone, local float *shared, float2 both)
{ int i = get_global_id(0); shared[get_local_id(0)] = both.x; to[i] = from[i] * tone.gain + tone.tint; }
kernel void copy(read_only image2d_t from, write_only image2d_t to, sampler_t sampler)
{ int2 at = (int2)(get_global_id(0), get_global_id(1)); write_imagef(to, at, read_imagef(from, sampler, at)); }
"""
BEGIN = f"""
import os, signal, sys
import numpy as np
import pyopencl as cl
context = cl.Context([p for p in cl.get_platforms() if p.name == "Portable Computing Language"][0].get_devices()[:1])
timed = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
plain = cl.CommandQueue(context)
program = cl.Program(context, {SOURCE!r}).build(["-DSIDE=4"])
flags = cl.mem_flags
x = cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=np.arange(1024, dtype=np.float32))
y = cl.Buffer(context, flags.READ_WRITE, 16384)
scale, tone, copy = program.scale, program.tone, program.copy
"""
ALL = """
for n in (1000, 1000, 500):
    scale(timed, (1024,), (64,), x, np.int32(n), np.float32(1.5))
scale.set_args(x, np.int32(7), np.float32(2))
cl.enqueue_nd_range_kernel(plain, scale, (512,), None)
value = np.zeros((), np.dtype({"names": ["gain", "shift", "tint"], "formats": ["f4", "i4", "4f4"], "itemsize": 32,
                               "offsets": [0, 4, 16]}))
value["gain"], value["shift"], value["tint"] = 0.5, 3, [1, 2, 3, 4]
tone.set_arg(0, x)
tone.set_arg(1, y)
tone.set_arg(2, value)
tone.set_arg(3, cl.LocalMemory(256))
tone.set_arg(4, np.array([1, 2], np.float32))
cl.enqueue_nd_range_kernel(timed, tone, (4, ), (64, ), g_times_l=True)
form = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)
one, other = (cl.create_image(context, flags.READ_WRITE, form, shape=(32, 16)) for _ in range(2))
sampler = cl.Sampler(context, False, cl.addressing_mode.CLAMP, cl.filter_mode.NEAREST)
copy(timed, (32, 16), None, one, other, sampler)
timed.finish()
plain.finish()
"""


@pytest.fixture(params=["layer", "hook"])
def record(request: pytest.FixtureRequest, run: Run, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Records a program in Python: by the OpenCL layer, or by the hook alone, as on a machine without a compiler."""
    without: dict[str, str] = {}
    if request.param == "hook":
        without = {"CC": "false", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    elif (reason := _why_no_layer()) is not None:
        pytest.skip(reason)

    def recorded(text: str, *flags: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "program.py").write_text(text, "utf-8")
        return run("record", *flags, "--", sys.executable, "program.py", stdin=stdin, **without, **environment)

    return recorded


@functools.cache
def _why_no_layer() -> str | None:
    try:
        layer_library()
    except LayerUnavailable as error:
        return error.message
    return None


@pytest.fixture
def launches(run: Run) -> Callable[[], list[dict[str, Any]]]:
    """What was recorded, as requests."""

    def listed() -> list[dict[str, Any]]:
        done = run("recordings", "--format", "json")
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return listed


def of(launches: list[dict[str, Any]], kernel: str) -> list[dict[str, Any]]:
    return sorted((each for each in launches if each["kernel"] == kernel), key=lambda each: -each["count"])


@pytest.mark.device
def test_all_that_a_program_launches_is_recorded_by_name(record: Any, launches: Any) -> None:
    done = record(BEGIN + ALL)
    assert done.returncode == 0, done.stderr
    assert "recorded 6 launches (5 distinct) of 3 kernels" in done.stderr
    found = launches()
    by_value = {each["args"]["n"]: each for each in of(found, "scale")}
    assert set(by_value) == {1000, 500, 7}
    assert (by_value[1000]["count"], by_value[1000]["global"], by_value[1000]["local"]) == (2, [1024], [64])
    assert (by_value[7]["count"], by_value[7]["global"], by_value[7]["local"]) == (1, [512], None)
    assert by_value[1000]["buffers"] == {"x": 1024}
    assert by_value[1000]["event_us"] > 0
    assert by_value[7]["event_us"] is None  # its queue had no profiling
    (tone,) = of(found, "tone")
    assert (tone["global"], tone["local"]) == ([256], [64])
    assert tone["args"] == {
        "tone.gain": 0.5, "tone.shift": 3, "tone.tint.x": 1, "tone.tint.y": 2, "tone.tint.z": 3, "tone.tint.w": 4,
        "both.x": 1, "both.y": 2,
    }  # fmt: skip
    assert (tone["buffers"], tone["local_bytes"]) == ({"from": 256, "to": 1024}, {"shared": 256})
    (copy,) = of(found, "copy")
    assert copy["images"] == {"from": [32, 16], "to": [32, 16]}
    assert all("-D SIDE=4" in each["options"] or "-DSIDE=4" in each["options"] for each in found)
    assert {each["device"] for each in found} == {"pocl"}


@pytest.mark.device
def test_recorded_launches_can_be_predicted(record: Any, launches: Any, run: Run, tmp_path: Path) -> None:
    record(BEGIN + ALL)
    found = launches()
    assert len(found) == 5
    done = run("predict", "--batch", "-", "--analytic-only", stdin="\n".join(map(json.dumps, found)))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stdout
    for request, answer in zip(found, answers, strict=True):
        assert answer["launch"]["global"] == request["global"]
        assert answer["launch"]["buffers"] == request["buffers"]
        assert answer["launch"]["args"] == request["args"]
    assert run("recordings", "--export", "launches.jsonl").returncode == 0
    assert [json.loads(line) for line in (tmp_path / "launches.jsonl").read_text().splitlines()] == found


@pytest.mark.device
def test_streams_and_status_are_the_programs_own(record: Any) -> None:
    text = "print('out', sys.stdin.read()); print('err', file=sys.stderr); sys.exit(3)"
    done = record(BEGIN + ALL + text, stdin="given")
    assert (done.returncode, done.stdout) == (3, "out given\n")
    assert done.stderr.splitlines()[0] == "err"


@pytest.mark.device
@pytest.mark.parametrize(("end", "status"), [("os.kill(os.getpid(), signal.SIGKILL)", 137), ("os.abort()", 134)])
def test_a_crash_keeps_what_was_recorded_until_then(record: Any, launches: Any, end: str, status: int) -> None:
    done = record(BEGIN + ALL + end)
    assert done.returncode == status
    assert sum(each["count"] for each in launches()) == 6


@pytest.mark.device
def test_a_child_after_a_fork_is_recorded_beside_its_parent(record: Any, launches: Any) -> None:
    # The child of a fork cannot use the parent's devices: the parent forks before it has any.
    text = "import os\nchild = os.fork()\n" + BEGIN + ALL + "\nif child: os.waitpid(child, 0)\n"
    assert record(text).returncode == 0
    assert sum(each["count"] for each in launches()) == 12
    assert len(launches()) == 5


@pytest.mark.device
def test_queues_without_profiling_are_timed_on_request(record: Any, launches: Any) -> None:
    record(BEGIN + ALL, "--profile")
    found = launches()
    assert len(found) == 5
    assert all(each["event_us"] > 0 for each in found)


@pytest.mark.device
def test_contents_are_described_on_request_and_then_alone(record: Any, launches: Any) -> None:
    text = BEGIN + "scale(timed, (1024,), None, x, np.int32(3), np.float32(0))"
    record(text)
    assert [each["fill"] for each in launches()] == [{}]
    record(text, "--contents")
    assert [each["fill"] for each in launches()] == [{"x": "iota"}]


@pytest.mark.device
def test_a_source_that_a_file_holds_is_that_file(record: Any, launches: Any, tmp_path: Path) -> None:
    (tmp_path / "kernels").mkdir()
    file = tmp_path / "kernels/own.cl"
    file.write_text(SOURCE, "utf-8")
    (tmp_path / "source.txt").write_text(SOURCE, "utf-8")
    read = (BEGIN + ALL).replace(repr(SOURCE), "open('source.txt').read()")  # or the program's own text holds it
    record(read)
    assert {each["file"] for each in launches()} == {str(file)}
    file.write_text(SOURCE.replace("*= factor", "+= factor"), "utf-8")
    found = launches()
    assert found
    assert str(file) not in {each["file"] for each in found}
    # Where the text differs, the kernels that still mean the same are the file's.
    record(read)
    files = {each["kernel"]: each["file"] for each in launches()}
    assert (files["tone"], files["copy"]) == (str(file), str(file))
    assert files["scale"] != str(file)


@pytest.mark.device
def test_the_programs_own_sitecustomize_runs(record: Any, launches: Any, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    ours = Path(__file__).parents[1] / "newer_processors" / "sitecustomize.py"  # which this one would hide
    (tmp_path / "site/sitecustomize.py").write_text(f"{ours.read_text('utf-8')}\nsys.own = 'mine'", "utf-8")
    path = os.pathsep.join(filter(None, [str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")]))
    text = "print(sys.own, sys.modules['sitecustomize'].__file__, [p for p in sys.path if 'recording' in p])"
    done = record(BEGIN + ALL + text, PYTHONPATH=path)
    assert done.stdout == f"mine {tmp_path / 'site/sitecustomize.py'} []\n"
    assert len(launches()) == 5


@pytest.mark.device
@pytest.mark.parametrize("record", ["hook"], indirect=True)
def test_a_layer_that_records_already_is_not_doubled(record: Any, launches: Any) -> None:
    """What the layer writes first is a line on the process, and the hook then is silent."""
    text = """
import json, os
with open(os.path.join(os.environ["KERNELCAST_RECORD_DIR"], f"{os.getpid()}-0.jsonl"), "w") as log:
    json.dump({"record": "process", "version": 1, "pid": os.getpid(), "writer": "layer"}, log)
    log.write("\\n")
"""
    assert record(text + BEGIN + ALL).returncode == 0
    assert launches() == []


@pytest.mark.device
def test_recordings_are_shown_and_forgotten(record: Any, run: Run, launches: Any, tmp_path: Path) -> None:
    record(BEGIN + ALL)
    assert "program.py" in run("recordings").stdout
    shown = run("recordings", "--show").stdout
    assert all(word in shown for word in ("1024 / 64", "n=1000", "x[1024]", "tone.tint.x=1", "32x16"))
    assert any((tmp_path / "data/recordings").rglob("program.cl"))
    assert "1 recording forgotten" in run("recordings", "--forget").stderr
    assert launches() == []
    assert not any((tmp_path / "data/recordings").rglob("program.cl"))


@pytest.mark.device
@pytest.mark.parametrize("record", ["hook"], indirect=True)
def test_forgetting_one_kernel_is_refused_and_forgets_nothing(record: Any, run: Run, launches: Any) -> None:
    record(BEGIN + "scale(timed, (1024,), (64,), x, np.int32(1000), np.float32(0.5))")
    done = run("recordings", "--forget", "--kernel", "scale")
    assert (done.returncode, done.stdout) == (2, "")
    assert "leave out --kernel" in done.stderr
    assert len(launches()) == 1


@pytest.mark.device
@pytest.mark.parametrize("record", ["layer"], indirect=True)
def test_a_run_without_launches_says_what_to_do(record: Any) -> None:
    """Record a program as if its loader were linked statically, or took no layers."""
    assert "libOpenCL.so.1 of ocl-icd 2.3 or newer" in record("print('no OpenCL')").stderr
    assert "enqueued no kernel" in record(BEGIN).stderr


@pytest.mark.device
@pytest.mark.parametrize("record", ["layer"], indirect=True)
def test_a_source_is_recorded_though_pyopencl_has_the_program_in_its_cache(
    record: Any, launches: Any, tmp_path: Path
) -> None:
    # As for drivers that have no cache themselves: for PoCL, PyOpenCL would leave it to the driver.
    text = "import pyopencl.characterize\npyopencl.characterize.has_src_build_cache = lambda device: False\n"
    text += BEGIN + "scale(timed, (1024,), (64,), x, np.int32(1000), np.float32(0.5))"
    (tmp_path / "program.py").write_text(text, "utf-8")
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env={**os.environ, **cache}, check=True, timeout=120)
    record(text, **cache)
    assert [each["args"] for each in launches()] == [{"n": 1000, "factor": 0.5}]


@pytest.mark.device
@pytest.mark.parametrize("record", ["hook"], indirect=True)
def test_a_recorded_launch_can_be_measured(record: Any, launches: Any, run: Run) -> None:
    record(BEGIN + "scale(timed, (1024,), (64,), x, np.int32(1000), np.float32(0.5))")
    done = run("measure", "--batch", "-", "--repeat", "3", "--analytic-only", stdin=json.dumps(launches()[0]))
    answer = json.loads(done.stdout)
    assert done.returncode == 0, answer
    assert answer["runtime_us"]["median"] > 0
    assert answer["launch"]["args"] == {"n": 1000, "factor": 0.5}


@pytest.mark.parametrize("record", ["hook"], indirect=True)
def test_a_pyopencl_of_another_shape_is_left_alone_and_that_is_told(record: Any, tmp_path: Path) -> None:
    (tmp_path / "pyopencl").mkdir()
    (tmp_path / "pyopencl/__init__.py").write_text("VERSION_TEXT = '1900.1'\n")
    done = record("import pyopencl; print('runs')")
    assert (done.returncode, done.stdout) == (0, "runs\n")
    assert "PyOpenCL 1900.1 is not built as expected" in done.stderr


@pytest.mark.device
@pytest.mark.parametrize("record", ["hook"], indirect=True)
def test_a_store_that_cannot_be_used_costs_the_recording_alone(record: Any, tmp_path: Path) -> None:
    (tmp_path / "no folder").write_text("")
    done = record(BEGIN + ALL + "sys.exit(4)", KERNELCAST_DATA_DIR=str(tmp_path / "no folder"))
    assert done.returncode == 4
    assert "cannot be used" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_log_of_the_intercept_layer_is_imported(run: Run, launches: Any, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text(
        ">>>> clCreateKernel: program = 0x1, kernel_name = mm\n<<<< clCreateKernel: returned 0x2 -> CL_SUCCESS\n"
        ">>>> clEnqueueNDRangeKernel( mm ): queue = 0x3, kernel = 0x2, global_work_size = < 64 >, "
        "local_work_size = < 8 >\n<<<< clEnqueueNDRangeKernel -> CL_SUCCESS\n"
    )
    done = run("recordings", "--import", "log.txt")
    assert done.returncode == 0
    assert "recorded 1 launch of 1 kernel" in done.stderr
    assert [(each["kernel"], each["global"], each["local"]) for each in launches()] == [("mm", [64], [8])]
    assert run("recordings", "--import", "program.txt").returncode == 1


def test_a_call_without_a_program_is_wrong(run: Run) -> None:
    done = run("record")
    assert (done.returncode, done.stdout) == (2, "")
    assert "record -- COMMAND" in done.stderr


def test_a_program_that_is_not_there_is_told_as_shells_do(run: Run, tmp_path: Path) -> None:
    assert run("record", "--", "no-such-program").returncode == 127
    (tmp_path / "data.txt").write_text("no program")
    assert run("record", "--", str(tmp_path / "data.txt")).returncode == 126


def test_signals_reach_the_program(kernelcast: str, tmp_path: Path) -> None:
    text = "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(9))\n"
    text += "print('up', flush=True)\nsignal.pause()"
    command = [kernelcast, "record", "--", sys.executable, "-c", text]
    environment = {**os.environ, "KERNELCAST_DATA_DIR": str(tmp_path / "data")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as started:
        try:
            assert started.stdout is not None
            assert started.stdout.readline() == b"up\n"
            started.send_signal(signal.SIGTERM)
            assert started.wait(60) == 9
        finally:
            started.kill()
