"""A file that its host program joins with others, or whose includes begin elsewhere, is read with what it lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.device import Device
from model.engine import Engine
from model.forecast import Forecast
from model.opencl import project_files
from model.opencl.include_policy import Reach
from model.opencl.options import BuildOptions

DEFINES = "#define ID get_global_id(0)\n#define GAIN 3\ntypedef struct { float4 place; float weight; } Body;\n"
HELPERS = (
    "float heavy(float v)\n{\n    float s = 0;\n    for (int i = 0; i < GAIN; ++i)\n        s += v * v;\n"
    "    return s;\n}\n"
)
MAIN = """// moves bodies
__kernel void move(__global Body *bodies, __global float *out)
{
    out[ID] = heavy(bodies[ID].weight);
}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose host program joins three files."""
    (tmp_path / "kernelcast.toml").write_text("")
    folder = tmp_path / "kernels"
    folder.mkdir()
    for name, text in (("defines.cl", DEFINES), ("helpers.cl", HELPERS), ("main.cl", MAIN)):
        (folder / name).write_text(text)
    return folder


def asked(
    file: Path, device: Device, engine: Engine | None = None, text: str | None = None, **options: object
) -> Forecast:
    found = (engine or Engine()).forecast(text or file.read_text(), file, device, **options)  # type: ignore[arg-type]
    (forecast,) = found.forecasts
    assert forecast.problem is None, forecast.problem
    return forecast


def said(forecast: Forecast) -> str:
    assert forecast.launch is not None
    return "\n".join(each.text for each in forecast.launch.assumptions if each.subject == "file")


def flops(forecast: Forecast) -> float:
    assert forecast.prediction is not None
    return forecast.prediction.work.flops / forecast.prediction.work.work_items


def test_files_that_a_host_program_joins_are_counted_as_if_joined(project: Path, cpu: Device, tmp_path: Path) -> None:
    whole = tmp_path / "elsewhere" / "whole.cl"
    whole.parent.mkdir()
    whole.write_text(DEFINES + HELPERS + MAIN)
    alone, joined = asked(project / "main.cl", cpu), asked(whole, cpu)
    assert flops(alone) == flops(joined) == 6
    assert alone.prediction is not None
    assert joined.prediction is not None
    assert alone.prediction.work.global_load_bytes == joined.prediction.work.global_load_bytes
    assert alone.kernel.fingerprint == joined.kernel.fingerprint
    assert "defines.cl and helpers.cl of this project declare them" in said(alone)
    assert said(joined) == ""


def test_a_kernels_places_stay_those_of_its_own_file(project: Path, cpu: Device) -> None:
    kernel = asked(project / "main.cl", cpu).kernel
    assert kernel.name_range.start_line == 1
    assert MAIN.splitlines()[1][kernel.name_range.start_byte : kernel.name_range.end_byte] == "move"


def test_the_nearest_file_is_taken(project: Path, cpu: Device) -> None:
    (project.parent / "helpers_of_old.cl").write_text(HELPERS.replace("v * v", "v"))
    assert flops(asked(project / "main.cl", cpu)) == 6


def test_another_version_of_the_file_is_not_taken(project: Path, cpu: Device) -> None:
    (project / "a_main.cl").write_text(DEFINES.replace("GAIN 3", "GAIN 30") + HELPERS + MAIN)
    assert flops(asked(project / "main.cl", cpu)) == 6


def test_a_file_that_includes_this_one_is_not_taken(project: Path, cpu: Device) -> None:
    (project / "all.cl").write_text('#define GAIN 9\n#include "helpers.cl"\n')
    (project / "defines.cl").write_text(DEFINES.replace("#define GAIN 3\n", ""))
    forecast = asked(project / "helpers.cl", cpu, text=HELPERS + MAIN)
    assert "all.cl" not in said(forecast)


def test_headers_of_the_host_program_are_not_taken(project: Path, cpu: Device) -> None:
    (project / "helpers.cl").unlink()
    (project / "helpers.h").write_text("#include <vector>\nnamespace bodies {\n" + HELPERS + "}\n")
    assert "helpers.h" not in said(asked(project / "main.cl", cpu))


def test_names_that_the_user_gives_are_not_looked_up(project: Path, cpu: Device) -> None:
    text = "// kernelcast: global=64 GAIN=5\n__kernel void f(__global int *a)\n{\n    a[get_global_id(0)] *= GAIN;\n}\n"
    assert said(asked(project / "own.cl", cpu, text=text)) == ""
    plain = text.split("\n", 1)[1]
    assert said(asked(project / "own.cl", cpu, text=plain, options=BuildOptions((("GAIN", "5"),)))) == ""
    assert "defines.cl of this project declares it" in said(asked(project / "own.cl", cpu, text=plain))


def test_what_is_declared_while_one_types_is_not_looked_up_any_more(project: Path, cpu: Device) -> None:
    engine, file = Engine(), project / "main.cl"
    assert "helpers.cl" in said(asked(file, cpu, engine))
    own = asked(file, cpu, engine, text=HELPERS.replace("GAIN", "7") + MAIN)
    assert "helpers.cl" not in said(own)
    assert flops(own) == 14
    assert flops(asked(file, cpu, engine)) == 6


def test_a_changed_file_counts_at_once(project: Path, cpu: Device) -> None:
    engine, file = Engine(), project / "main.cl"
    assert flops(asked(file, cpu, engine)) == 6
    (project / "defines.cl").write_text(DEFINES.replace("GAIN 3", "GAIN 40"))
    assert flops(asked(file, cpu, engine)) == 80


def test_nothing_out_of_reach_is_read(project: Path, cpu: Device, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    assert said(asked(project / "main.cl", cpu, reach=Reach.of([other]))) == ""


def test_an_include_that_begins_at_another_folder_is_found(project: Path, cpu: Device) -> None:
    text = f'#include "kernels/defines.cl"\n#include "../kernels/helpers.cl"\n{MAIN}'
    file = project.parent / "programs" / "moving" / "main.cl"
    file.parent.mkdir(parents=True)
    found = Engine().forecast(text, file, cpu)
    assert [problem.message for problem in found.problems] == []
    assert flops(found.forecasts[0]) == 6
    assert f"{project / 'helpers.cl'} is read" in said(found.forecasts[0])


def test_without_a_project_only_the_files_own_folder_is_looked_at(
    tmp_path: Path, cpu: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_files, "_PROJECT_SIGNS", ())  # whatever lies above the folder of this test
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "defines.cl").write_text(DEFINES)
    (tmp_path / "helpers.cl").write_text(HELPERS)
    assert "helpers.cl" in (notes := said(asked(tmp_path / "main.cl", cpu, text=MAIN)))
    assert "defines.cl" not in notes
