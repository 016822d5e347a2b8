"""Programs that a grammar of OpenCL C allows: each kernel is found and predicted, and cut off text is answered."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from model.device_catalog import find_builtin
from model.engine import Engine
from tests.fuzz.inputs import Input
from tests.fuzz.judge import difference, judge
from tests.fuzz.programs import Program, programs

HANG_S = 20.0  # a loop without end counts here, not how fast this machine is
CPU = find_builtin("generic-cpu")
assert CPU is not None


@given(program=programs())
@settings(max_examples=10)
def test_every_kernel_of_a_correct_program_is_predicted(program: Program) -> None:
    assert CPU is not None
    answer = Engine().forecast(program.text, None, CPU)
    assert tuple(kernel.name for kernel in answer.kernels) == program.kernels
    assert [kernel.name for kernel in answer.kernels if kernel.has_errors] == []
    assert [forecast.problem for forecast in answer.forecasts if forecast.prediction is None] == []
    assert answer.problems == ()


@given(program=programs(), data=st.data())
@settings(max_examples=8)
def test_a_program_cut_off_anywhere_is_still_answered(program: Program, data: st.DataObject) -> None:
    end = data.draw(st.integers(0, len(program.text)))
    assert judge(Input("text", (program.text[:end],)), HANG_S).problem == ""


@given(before=programs(), after=programs())
@settings(max_examples=8)
def test_one_program_after_another_is_read_as_if_it_were_the_first(before: Program, after: Program) -> None:
    assert CPU is not None
    engine = Engine()
    engine.forecast(before.text, None, CPU)
    assert difference(engine.forecast(after.text, None, CPU), Engine().forecast(after.text, None, CPU)) == ""
