"""`kernelcast predict` as terminals and scripts see it: the real console script."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import answers

Run = Callable[..., "subprocess.CompletedProcess[str]"]
SCALE = """\
__kernel void scale(__global float *x, const int n, const float factor) {
    int i = get_global_id(0);
    if (i < n) x[i] = x[i] * factor;
}
"""
COPY = "kernel void copy(global const float4 *a, global float4 *b) { b[get_global_id(0)] = a[get_global_id(0)]; }\n"
BAD_TEXTS = {
    "syntax": "kernel void f(global float *x) { x[ = ; }\n" + SCALE,
    "unterminated comment": SCALE + "/* and then",
    "empty": "",
    "long line": "/* " + "x" * 1_000_000 + " */\n" + SCALE,
    "binary": "\0\x01\x7fELF" + "\udcff" * 50,
    "recursive macro": "#define A B\n#define B A\n#define F(x) F(x)\nint a = A; int b = F(1);\n" + SCALE,
    "missing include": '#include "nowhere.h"\n' + SCALE,
    "overflow": "// kernelcast: global=9**9**9\n" + SCALE,
    "division by zero": "// kernelcast: global=n/0 n=4\n" + SCALE,
    "unknown name": "// kernelcast: global=widht n=4\n" + SCALE,
    "negative size": "// kernelcast: global=-64 n=4\n" + SCALE,
    "vast buffer": "// kernelcast: global=64 n=64 x=2**62\n" + SCALE,
}


@pytest.fixture
def scale(tmp_path: Path) -> Path:
    file = tmp_path / "scale.cl"
    file.write_text(SCALE)
    return file


def batch(*requests: dict[str, Any] | str) -> str:
    return "".join(f"{r if isinstance(r, str) else json.dumps(r)}\n" for r in requests)


def test_a_batch_is_answered_line_by_line_in_its_own_order(run: Run, scale: Path) -> None:
    good = {"file": str(scale), "kernel": "scale", "global": [1024], "local": [64], "args": {"n": 1024}}
    lines = batch(
        {"id": "first", **good},
        "this is not JSON",
        {"id": "no file"},
        {"id": "gone", "file": "gone.cl"},
        {"id": "kernel", **good, "kernel": "scael"},
        {"id": "typed", **good, "global": {"x": 3}},
        {"id": "sizes", **good, "global": ["9**9**9"]},
        {"id": "device", **good, "device": "no-such-device"},
        "",
        {"id": ["any", {"json": 1}], **good, "global": [4096]},
    )
    done = run("predict", "--batch", "-", "--device", "generic-cpu", stdin=lines)
    found = answers(done)
    assert done.returncode == 1
    assert [a["id"] for a in found] == [
        "first",
        None,
        "no file",
        "gone",
        "kernel",
        "typed",
        "sizes",
        "device",
        ["any", {"json": 1}],
    ]
    assert ["error" in a for a in found] == [False, True, True, True, True, True, True, True, False]
    codes = [a["error"]["code"] for a in found if "error" in a]
    assert codes == ["bad_request", "bad_request", "source", "no_kernel", "bad_request", "launch", "device"]
    assert all(a["error"]["message"] for a in found if "error" in a)


def test_an_answer_has_the_keys_that_are_promised(run: Run, scale: Path) -> None:
    request = {
        "id": 1,
        "file": str(scale),
        "global": [1024],
        "local": None,
        "args": {"n": 1024},
        "buffers": {"x": 1024},
    }
    done = run("predict", "--batch", "-", "--device", "generic-cpu", stdin=batch(request))
    (answer,) = answers(done)
    assert done.returncode == 0
    assert answer["kernel"] == "scale"
    assert answer["device"]["id"] == "generic-cpu"
    assert answer["device"]["name"]
    runtime = answer["runtime_us"]
    assert 0 < runtime["p10"] <= runtime["p50"] <= runtime["p90"]
    assert answer["bound"] in {"compute", "memory", "latency", "launch"}
    assert answer["basis"] in {"analytic", "model", "compiled"}
    assert answer["work"]["global_load_bytes"] == 4096
    assert answer["work"]["global_store_bytes"] == 4096
    assert answer["work"]["flops"] == 1024
    assert isinstance(answer["assumptions"], list)


def test_an_answer_tells_what_the_host_waits_from_what_the_device_spends(run: Run, scale: Path) -> None:
    device = ("--device", "amd-radeon-r9-290x", "--format", "json")
    (answer,) = answers(run("predict", str(scale), "--global", "1024", *device))
    host, runtime = answer["host_runtime_us"], answer["runtime_us"]
    assert runtime["p10"] < host["p10"] < host["p50"] < host["p90"]
    assert host["p50"] > runtime["p50"] + 90


def test_answers_stream_so_that_a_tuner_can_wait_for_each(kernelcast: str, scale: Path) -> None:
    request = json.dumps({"file": str(scale), "global": [1024], "args": {"n": 1024}})
    with subprocess.Popen(
        [kernelcast, "predict", "--batch", "-", "--device", "generic-cpu"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(3):
            process.stdin.write(f"{request}\n")
            process.stdin.flush()
            assert "runtime_us" in json.loads(process.stdout.readline())
        process.stdin.close()
        assert process.wait(timeout=60) == 0


def test_a_batch_may_come_from_a_file(run: Run, scale: Path, tmp_path: Path) -> None:
    (tmp_path / "requests.jsonl").write_text(batch({"id": 1, "file": scale.name, "global": 64}))
    done = run("predict", "--batch", "requests.jsonl", "--device", "generic-cpu")
    assert [a["id"] for a in answers(done)] == [1]
    assert done.returncode == 0


@pytest.mark.parametrize("what", BAD_TEXTS)
def test_bad_source_ends_in_an_answer_or_a_named_error(run: Run, tmp_path: Path, what: str) -> None:
    (tmp_path / "bad.cl").write_bytes(BAD_TEXTS[what].encode("utf-8", "surrogateescape"))
    (tmp_path / "good.cl").write_text(COPY)
    done = run("predict", "bad.cl", "good.cl", "--format", "json", "--device", "generic-cpu")
    found = answers(done)
    assert found[-1]["kernel"] == "copy"
    assert "error" not in found[-1]
    assert found[:-1]
    for answer in found[:-1]:
        problems = [answer["error"]] if "error" in answer else answer["problems"]
        assert "runtime_us" in answer or problems
        assert all(problem["code"] and problem["message"] for problem in problems)
    assert done.returncode == (1 if any("error" in answer for answer in found) else 0)


@pytest.mark.parametrize("what", ["overflow", "division by zero", "unknown name", "negative size"])
def test_a_broken_annotation_is_reported_with_its_line(run: Run, tmp_path: Path, what: str) -> None:
    (tmp_path / "bad.cl").write_text("\n\n" + BAD_TEXTS[what])
    done = run("predict", "bad.cl", "--device", "generic-cpu")
    assert "bad.cl:3: " in done.stderr
    assert "Traceback" not in done.stderr


def test_flags_describe_the_launch(run: Run, scale: Path) -> None:
    flags = ["--global", "2048", "--local", "64", "--arg", "n=2048", "--arg", "factor=0.5", "--buffer", "x=n*2"]
    done = run("predict", scale.name, *flags, "-DUNUSED=1", "--format", "json", "--device", "generic-cpu")
    (answer,) = answers(done)
    assert answer["launch"]["global"] == [2048]
    assert answer["launch"]["local"] == [64]
    assert answer["launch"]["args"] == {"n": 2048, "factor": 0.5}
    assert answer["launch"]["buffers"] == {"x": 4096}
    assert "-DUNUSED=1" in answer["launch"]["options"]


def test_an_argument_that_the_kernel_does_not_have_is_pointed_out(run: Run, scale: Path) -> None:
    done = run("predict", scale.name, "--global", "64", "--arg", "facotr=2", "--device", "generic-cpu")
    assert done.returncode == 0
    assert "`facotr` is neither a parameter of `scale` nor used" in done.stderr
    assert "Did you mean `factor`?" in done.stderr


def test_the_table_is_whole_where_another_program_reads(run: Run, tmp_path: Path) -> None:
    name = "a_kernel_with_a_name_that_is_so_long_that_no_terminal_has_room_for_it_beside_all_of_its_figures"
    (tmp_path / "k.cl").write_text(SCALE.replace("scale", name))
    done = run("predict", "k.cl", "--device", "generic-cpu")
    assert done.returncode == 0
    assert any(line.startswith(name) and "µs" in line for line in done.stdout.splitlines())
    assert "Assumed for" in done.stdout
    assert "…" not in done.stdout


def test_the_table_fits_80_columns(run: Run, scale: Path) -> None:
    done = run("predict", scale.name, "--device", "generic-cpu", COLUMNS="80")
    rows = [line for line in done.stdout.splitlines() if line.startswith(("Kernel", "scale "))]
    assert rows
    assert all(len(row.rstrip()) <= 80 for row in rows)


def test_a_missing_file_spoils_no_other(run: Run, scale: Path) -> None:
    done = run("predict", "gone.cl", scale.name, "--device", "generic-cpu")
    assert done.returncode == 1
    assert "gone.cl cannot be read" in done.stderr
    assert "scale" in done.stdout


def test_launches_come_from_the_configuration(run: Run, scale: Path, tmp_path: Path) -> None:
    (tmp_path / "kernelcast.toml").write_text(
        "[device]\nid = 'generic-gpu'\n[[launch]]\nkernel = 'scale'\nglobal = 512\nargs = { n = 512 }\n"
    )
    (answer,) = answers(run("predict", scale.name, "--format", "json"))
    assert answer["launch"]["global"] == [512]
    assert answer["launch"]["origin"] == "config"
    assert answer["device"]["id"] == "generic-gpu"


def test_a_broken_configuration_is_an_error_with_its_line(run: Run, scale: Path, tmp_path: Path) -> None:
    (tmp_path / "kernelcast.toml").write_text("[[launch]]\nkernl = 'scale'\n")
    done = run("predict", scale.name, "--format", "json", "--device", "generic-cpu")
    (answer,) = answers(done)
    assert answer["error"]["code"] == "config"
    assert answer["error"]["line"] == 2
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "COMMAND"),
        (["predict"], "no FILE and no --batch"),
        (["predict", "k.cl", "--batch", "-"], "not both"),
        (["predict", "--batch", "gone.jsonl"], "gone.jsonl cannot be read"),
        (["predict", "k.cl", "--global", "9**"], "stops short"),
        (["predict", "k.cl", "--global", "1,2,3,4"], "one to 3 dimensions"),
        (["predict", "k.cl", "--arg", "n"], "NAME=VALUE"),
        (["predict", "k.cl", "--fill", "x=lots"], "allowed are random"),
        (["predict", "k.cl", "--device", "no-such-device"], "no-such-device"),
        (["predict", "k.cl", "--format", "xml"], "xml"),
        (["measure"], "no FILE and no --batch"),
        (["measure", "k.cl", "--repeat", "0"], "above 0"),
        (["serve", "--tcp", "99999"], "65535"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_a_wrong_call_says_what_would_be_right(run: Run, arguments: list[str], says: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stdout == ""


def test_without_a_device_the_prediction_is_for_a_generic_one_and_says_so(
    run: Run, scale: Path, tmp_path: Path
) -> None:
    empty = {"OCL_ICD_VENDORS": "/nonexistent.icd", "KERNELCAST_DATA_DIR": str(tmp_path / "data")}
    done = run("predict", scale.name, "--format", "json", **empty)
    (answer,) = answers(done)
    assert done.returncode == 0
    assert answer["device"]["id"] == "generic-cpu"
    assert "no OpenCL platform" in done.stderr


def test_a_reader_that_leaves_early_is_no_error(kernelcast: str, scale: Path) -> None:
    request = json.dumps({"file": str(scale), "global": [1024]}) + "\n"
    with subprocess.Popen(
        [kernelcast, "predict", "--batch", "-", "--device", "generic-cpu"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        _, said = process.communicate(request.encode() * 200, timeout=60)
    assert said == b""


def test_the_version_is_told(run: Run) -> None:
    done = run("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("kernelcast ")
