"""From text to answers: whose word counts, what each launch is built with, and where problems are pointed out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from model.device import Device
from model.engine import Engine
from model.forecast import FileForecast, Forecast
from model.launch.config import parse_config
from model.launch.launch import Origin
from model.launch.sizes import parse_sizes
from model.launch.spec import LaunchSpec
from model.observing import Observer
from model.opencl.kernel import Kernel
from model.opencl.options import BuildOptions
from model.opencl.program import Program
from model.work.analyse import analyse
from model.work.work import Work

Ask = Callable[..., FileForecast]

VADD = """__kernel void vadd(__global const float *a, __global float *b, int n) {
    int i = get_global_id(0); if (i < n) b[i] = a[i] + 1.0f; }
"""


@pytest.fixture
def ask(cpu: Device) -> Ask:
    engine = Engine()
    return lambda text, path=None, **more: engine.forecast(text, path, cpu, **more)


def request_for(sizes: str) -> LaunchSpec:
    return LaunchSpec(global_size=parse_sizes(sizes), origin=Origin.REQUEST)


def global_sizes(answer: FileForecast) -> list[tuple[int, ...] | None]:
    return [f.launch.global_size if f.launch else None for f in answer.forecasts]


def stored(forecast: Forecast) -> float:
    assert forecast.prediction is not None, forecast.problem
    return forecast.prediction.work.global_store_bytes


def test_every_annotation_is_a_launch_of_its_own(ask: Ask) -> None:
    answer = ask(f"// kernelcast: n=1000 name=small\n// kernelcast: n=100000 name=large\n{VADD}")
    assert [f.launch.name for f in answer.forecasts if f.launch] == ["small", "large"]
    assert [stored(f) for f in answer.forecasts] == [pytest.approx(4000), pytest.approx(400_000)]


def test_each_launch_is_built_with_its_own_defines(ask: Ask) -> None:
    text = """// kernelcast: global=64 -DTIMES=2
// kernelcast: global=64 -DTIMES=8
__kernel void k(__global float *x) { for (int i = 0; i < TIMES; i++) x[get_global_id(0) + i] = 1; }
"""
    assert [stored(f) for f in ask(text).forecasts] == [64 * 2 * 4, 64 * 8 * 4]


def test_defines_of_the_whole_file_hold_where_a_launch_says_nothing(ask: Ask) -> None:
    text = """// kernelcast: global=64
// kernelcast: global=64 -DTIMES=8
__kernel void k(__global float *x) { for (int i = 0; i < TIMES; i++) x[get_global_id(0) + i] = 1; }
"""
    answer = ask(text, options=BuildOptions((("TIMES", "3"),)))
    assert [stored(f) for f in answer.forecasts] == [64 * 3 * 4, 64 * 8 * 4]


def test_an_annotation_beats_the_settings_file_which_beats_inference(ask: Ask, tmp_path: Path) -> None:
    config = parse_config('[[launch]]\nkernel = "vadd"\nglobal = 2048\n', tmp_path / "kernelcast.toml")
    path = tmp_path / "k.cl"
    inferred, configured = ask(VADD, path), ask(VADD, path, config=config)
    annotated = ask(f"// kernelcast: global=512\n{VADD}", path, config=config)
    assert inferred.forecasts[0].launch is not None
    assert inferred.forecasts[0].launch.origin is Origin.INFERRED
    assert global_sizes(configured) == [(2048,)]
    assert global_sizes(annotated) == [(512,)]


def test_a_request_is_laid_over_the_annotation(ask: Ask) -> None:
    answer = ask(f"// kernelcast: global=512 local=32 n=300\n{VADD}", requests=(request_for("4096"),))
    (forecast,) = answer.forecasts
    assert forecast.launch is not None
    assert (forecast.launch.global_size, forecast.launch.local_size) == ((4096,), (32,))
    assert dict(forecast.launch.scalars)["n"] == 2400  # what ids are checked against follows their number
    assert forecast.launch.origin is Origin.REQUEST


def test_an_unknown_kernel_is_a_problem_that_names_the_known_ones(ask: Ask) -> None:
    answer = ask(VADD, kernel="vsub")
    assert answer.forecasts == ()
    (problem,) = answer.problems
    assert problem.code == "no_kernel"
    assert "`vadd`" in problem.message


@pytest.mark.parametrize(
    ("written", "blamed"),
    [
        ("global=1/0", "1/0"),
        ("global=9**9**9", "9**9**9"),
        ("global=unknown_name", "unknown_name"),
        ("global=0-5", "0-5"),
        ("n=4 global=n*", "n*"),
    ],
)
def test_a_bad_expression_is_pointed_out_at_its_own_characters(ask: Ask, written: str, blamed: str) -> None:
    text = f"// \U0001f600\n  // kernelcast: {written}\n{VADD}"
    answer = ask(text)
    ranges = [p.range for p in answer.annotation_problems if p.range is not None]
    assert ranges
    line = text.split("\n")[1].encode()
    assert all(r.start_line == 1 for r in ranges)
    assert any(set(line[r.start_byte : r.end_byte].decode()) & set(blamed) for r in ranges)
    assert all(line.index(b"kernelcast:") < r.start_byte < r.end_byte <= len(line) for r in ranges)
    assert [k.name for k in answer.kernels] == ["vadd"]


def test_one_bad_kernel_leaves_the_others_their_answers(ask: Ask) -> None:
    text = f"float f(float x) {{ return f(x); }}\n__kernel void bad(__global float *x) {{ x[0] = f(x[0]); }}\n{VADD}"
    bad, good = ask(text).forecasts
    assert bad.problem is not None
    assert (bad.problem.code, bad.problem.line) == ("analysis", 1)
    assert good.prediction is not None


def test_a_missing_include_is_a_problem_of_the_file_with_its_line(ask: Ask) -> None:
    answer = ask(f'\n#include "nowhere.h"\n{VADD}')
    (problem,) = answer.problems
    assert (problem.line, "nowhere.h" in problem.message) == (2, True)
    assert answer.forecasts[0].prediction is not None


def test_the_same_text_gives_the_same_answer_however_it_came_about(ask: Ask, cpu: Device) -> None:
    edited = VADD.replace("1.0f", "2.0f * a[i]")
    ask(VADD)
    ask(VADD.replace("}", "", 1))
    assert ask(edited).forecasts == Engine().forecast(edited, None, cpu).forecasts


def test_hottest_lines_move_with_the_text(ask: Ask) -> None:
    first = ask(VADD).forecasts[0].prediction
    later = ask("\n\n\n" + VADD).forecasts[0].prediction
    assert first is not None
    assert later is not None
    assert [at.line + 3 for at in first.lines if at.line >= 0] == [at.line for at in later.lines if at.line >= 0]
    assert first.runtime_us == later.runtime_us


@pytest.mark.parametrize(
    "text", ["", "\0\1\2", "/* never", "{", "__kernel", "#include", "int x = " + "1+" * 5000 + "1;"]
)
def test_texts_without_kernels_have_no_forecasts(ask: Ask, text: str) -> None:
    assert ask(text).forecasts == ()


def test_a_kernel_that_is_run_for_its_counts_is_analysed_once(cpu: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    analysed: list[str] = []

    def counted(program: Program, kernel: Kernel) -> Work:
        analysed.append(kernel.name)
        return analyse(program, kernel)

    monkeypatch.setattr("model.engine.analyse", counted)
    monkeypatch.setattr("model.observing.analyse", counted)
    text = """// kernelcast: global=1024 a=1024 fill.a=randint:1:1000
__kernel void until(__global int *a) {
    int i = get_global_id(0), v = a[i]; while (v > 1) v = v & 1 ? 3 * v + 1 : v / 2; a[i] = v; }
"""
    engine = Engine(observer=Observer(runs=True))
    (forecast,) = engine.forecast(text, None, cpu).forecasts
    assert forecast.prediction is not None
    assert forecast.prediction.work.sample is not None
    assert analysed == ["until"]
    engine.forecast(f"// moved\n{text}", None, cpu)
    assert set(analysed) == {"until"}


def test_asking_about_one_of_many_large_kernels_does_not_analyse_them_all(
    cpu: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    analysed: list[str] = []

    def counted(program: Program, kernel: Kernel) -> Work:
        analysed.append(kernel.name)
        return analyse(program, kernel)

    monkeypatch.setattr("model.engine.analyse", counted)
    body = "".join(f"s = fma(s, a[i * n + {j}], b[i + {j}]);\n" for j in range(1000))
    kernels = "".join(
        f"__kernel void k{k}(__global float *a, __global float *b, int n) {{ int i = get_global_id(0); float s = {k};\n"
        f"{body} b[i] = s; }}\n"
        for k in range(12)
    )
    asked = {f.launch for name in ("k11", "k11") for f in Engine().forecast(kernels, None, cpu, kernel=name).forecasts}
    assert len(asked) == 1
    assert len(analysed) // 2 < 8
