"""A configuration of somebody else's may hold more launches than anybody can wait for."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from model.device import Device
from model.engine import Engine
from model.launch.config import parse_config
from model.launch.spec import LaunchSpec
from model.launch_specs import Written, limit_launches

FILE = "".join(
    f"__kernel void k{number}(__global float *a) {{ a[get_global_id(0)] = {number}; }}\n" for number in range(8)
)
LAUNCHES = "".join(f'[[launch]]\nkernel = "*"\nglobal = [{64 * number}]\n' for number in range(1, 6))


@given(st.lists(st.integers(1, 30), min_size=1, max_size=12), st.integers(1, 60))
def test_each_kernel_has_its_share_in_the_order_written(counts: list[int], most: int) -> None:
    written = {f"k{number}": [Written(LaunchSpec()) for _ in range(count)] for number, count in enumerate(counts)}
    shared, left_out = limit_launches(written, most)
    assert sum(map(len, shared.values())) <= max(most, len(counts))
    for name, each in shared.items():
        assert each
        assert written[name][: len(each)] == each
    assert bool(left_out) == (shared != written)


def test_what_has_no_room_is_told_beside_what_has(cpu: Device) -> None:
    config = parse_config(LAUNCHES, Path("/work/kernelcast.toml"))
    bounded = Engine(most_launches=16).forecast(FILE, None, cpu, config=config)
    assert len(bounded.forecasts) == 16
    (problem,) = bounded.problems
    assert "40 launches" in problem.message
    assert "the first 2" in problem.message
    assert len(Engine().forecast(FILE, None, cpu, config=config).forecasts) == 40
