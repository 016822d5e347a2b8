"""An exception that nobody foresaw costs the one launch that it comes from, and is logged to be reported."""

from __future__ import annotations

import logging

import pytest

import model.engine
import model.faults
from model.device_catalog import find_builtin
from model.engine import Engine
from model.opencl.kernel import Kernel
from model.opencl.program import Program
from model.work.analyse import analyse
from model.work.work import Work

_TWO = """__kernel void good(__global float *x) { x[get_global_id(0)] = 1.0f; }
__kernel void bad(__global float *x) { x[get_global_id(0)] = 2.0f; }
"""


@pytest.fixture(autouse=True)
def _broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(program: Program, kernel: Kernel) -> Work:
        if kernel.name == "bad":
            raise ZeroDivisionError("x[get_global_id(0)] is somebody's code")
        return analyse(program, kernel)

    monkeypatch.setattr(model.engine, "analyse", breaks)
    monkeypatch.setattr(model.faults, "_logged", set())


def test_the_other_kernels_of_the_file_are_predicted(caplog: pytest.LogCaptureFixture) -> None:
    device = find_builtin("generic-gpu")
    assert device is not None
    engine = Engine()
    with caplog.at_level(logging.ERROR):
        answers = {f.kernel.name: f for f in engine.forecast(_TWO, None, device).forecasts}
        engine.forecast(_TWO + "\n", None, device)
    assert answers["good"].prediction is not None
    problem = answers["bad"].problem
    assert problem is not None
    assert problem.code == "internal"
    assert "ZeroDivisionError" in problem.message
    assert "test_faults.py" in problem.message
    assert "report" in problem.message
    assert "somebody's code" not in problem.message
    records = [record for record in caplog.records if record.name == "model.faults"]
    assert len(records) == 1, "one place is logged once, however often somebody types"
    assert records[0].exc_info is not None


def test_a_file_whose_reading_fails_has_a_named_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    device = find_builtin("generic-gpu")
    assert device is not None

    def breaks(*_: object) -> None:
        raise RuntimeError

    engine = Engine()
    with monkeypatch.context() as broken:
        broken.setattr(model.engine, "annotations_of", breaks)
        assert [p.code for p in engine.forecast(_TWO, None, device).problems] == ["internal"]
    assert len(engine.forecast(_TWO, None, device).forecasts) == 2
