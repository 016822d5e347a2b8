"""What kernels print takes time, and most of it in those that print."""

from __future__ import annotations

from dataclasses import replace

from model.analytic.bounds import floor_us
from model.device import Device
from model.device_catalog import builtin_devices
from model.launch.launch import Launch
from model.opencl.program import read_program
from model.predictor import Predictor
from model.work.analyse import analyse

CPU = next(device for device in builtin_devices() if device.id == "generic-cpu")
ITEMS = 65536


def times_us(body: str, device: Device = CPU) -> tuple[float, float]:
    """Return the prediction of a launch of `ITEMS` work-items, and its bound."""
    program = read_program(f"kernel void k(global int *x) {{ int i = get_global_id(0); x[i] = i; {body} }}")
    kernel = program.kernels[0]
    work, launch = analyse(program, kernel), Launch((ITEMS,), (64,), buffers=(("x", ITEMS),))
    return Predictor().predict(work, launch, device).runtime_us.p50, floor_us(work.count(launch), device)


def test_each_call_takes_its_time() -> None:
    plain, printing = times_us(""), times_us('printf("%d\\n", i);')
    assert printing[0] > plain[0] + 0.1 * ITEMS / CPU.compute_units
    assert printing[0] > printing[1] > plain[1]


def test_only_those_who_print_take_longer() -> None:
    few, all_of_them = times_us('if (i < 655) printf("%d\\n", i);'), times_us('printf("%d\\n", i);')
    assert few[0] < all_of_them[0] / 10


def test_intels_runtime_prints_one_line_at_a_time() -> None:
    intel = replace(CPU, platform="Intel(R) OpenCL")
    assert times_us('printf("%d\\n", i);', intel)[0] > ITEMS
