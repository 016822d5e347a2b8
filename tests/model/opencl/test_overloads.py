"""Several functions of one name: a call means the one that its arguments fit."""

from __future__ import annotations

import pytest

from model.device_catalog import find_builtin
from model.engine import Engine, Forecast
from model.opencl.builtin_types import builtin_type
from model.opencl.program import read_program
from model.opencl.types import AddressSpace, PointerType, Type

_OVERLOADS = """#define OVERLOADABLE __attribute__((overloadable))
typedef struct { float re, im; } Complex;
int OVERLOADABLE f(int a) { return 1; }
int OVERLOADABLE f(long a) { return 2; }
int OVERLOADABLE f(float a) { return 3; }
int OVERLOADABLE f(double a) { return 4; }
int OVERLOADABLE f(float4 a) { return 5; }
int OVERLOADABLE f(int4 a) { return 6; }
int OVERLOADABLE f(Complex a) { return 7; }
int OVERLOADABLE f(__global float *a) { return 8; }
int OVERLOADABLE f(__local float *a) { return 9; }
int OVERLOADABLE f(float a, int b) { return 10; }
int OVERLOADABLE f(float4 a, float4 b) { return 11; }
"""


def _forecasts(text: str) -> dict[str, Forecast]:
    device = find_builtin("generic-gpu")
    assert device is not None
    return {f.kernel.name: f for f in Engine().forecast(text, None, device).forecasts}


@pytest.mark.parametrize(
    ("arguments", "number"),
    [
        (("int",), 1), (("long",), 2), (("float",), 3), (("double",), 4), (("float4",), 5), (("int4",), 6),
        (("char",), 1), (("bool",), 1), (("half",), 3), (("global float*",), 8), (("local float*",), 9),
        (("float", "int"), 10), (("int", "float"), 10), (("float4", "float"), 11), (("uint",), 1), (("Complex",), 7),
    ],
)  # fmt: skip
def test_a_call_means_the_function_that_its_arguments_fit_best(arguments: tuple[str, ...], number: int) -> None:
    program = read_program(_OVERLOADS)
    functions = program.overloads("f")

    def kind(name: str) -> Type:
        if name.endswith("*"):
            element = builtin_type("float")
            assert element is not None
            return PointerType(element, AddressSpace(name.split(maxsplit=1)[0]))
        found = program.names.type_named(name)
        assert found is not None
        return found

    meant = program.called("f", [kind(each) for each in arguments])
    assert meant is functions[number - 1]


def test_calls_among_overloads_are_no_recursion_and_each_counts_its_own_work() -> None:
    found = _forecasts("""
    float __attribute__((overloadable)) half_of(float x) { return x * 0.5f; }
    float2 __attribute__((overloadable)) half_of(float2 x) { return (float2)(half_of(x.x), half_of(x.y)); }
    float4 __attribute__((overloadable)) half_of(float4 x) { return (float4)(half_of(x.lo), half_of(x.hi)); }
    __kernel void one(__global float *x) { int i = get_global_id(0); x[i] = half_of(x[i]); }
    __kernel void four(__global float4 *x) { int i = get_global_id(0); x[i] = half_of(x[i]); }
    """)
    flops = {}
    for name, forecast in found.items():
        assert forecast.prediction is not None, forecast.problem
        assert forecast.launch is not None
        flops[name] = forecast.prediction.work.flops / forecast.launch.work_items
    assert flops == {"one": 1.0, "four": 4.0}


def test_an_overload_of_a_builtin_function_may_call_it() -> None:
    found = _forecasts("""
    typedef struct { float a, b; } Pair;
    float __attribute__((overloadable)) max(Pair p) { return max(p.a, p.b); }
    __kernel void k(__global Pair *p, __global float *y) { int i = get_global_id(0); y[i] = max(p[i]) + max(y[i], 0.f);
    }
    """)
    assert found["k"].prediction is not None, found["k"].problem


def test_a_function_that_calls_itself_is_still_refused() -> None:
    found = _forecasts("""
    int __attribute__((overloadable)) f(int n) { return n < 2 ? 1 : n * f(n - 1); }
    int __attribute__((overloadable)) f(int n, float x) { return f(n); }
    __kernel void k(__global int *x) { x[0] = f(x[1], 1.0f); }
    """)
    problem = found["k"].problem
    assert problem is not None
    assert "calls itself" in problem.message


def test_an_edit_in_one_overload_changes_what_rests_on_it_and_nothing_else() -> None:
    text = """float __attribute__((overloadable)) f(float x) { return x; }
float __attribute__((overloadable)) f(float2 x) { return x.x; }
__kernel void k(__global float *x) { x[0] = f(x[1]); }
__kernel void other(__global float *x) { x[0] = 1.0f; }
"""
    before = read_program(text)
    after = read_program(text.replace("return x.x;", "return x.y;"), previous=before)
    fresh = read_program(text.replace("return x.x;", "return x.y;"))
    again = read_program(text, previous=after)
    assert after.kernel("k").fingerprint == fresh.kernel("k").fingerprint != before.kernel("k").fingerprint
    assert after.kernel("other").fingerprint == before.kernel("other").fingerprint
    assert again.kernel("k").fingerprint == before.kernel("k").fingerprint
    assert len(after.rests_on["k"]) == 3


def test_of_two_definitions_with_the_same_parameters_the_later_counts() -> None:
    program = read_program("int f(int a) { return 1; }\nint f(int b) { return 2; }\n__kernel void k() { f(1); }")
    (only,) = program.overloads("f")
    assert only is program.functions["f"]
