"""A launch that is kept in `kernelcast.toml` reads back as the same launch."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from model.device import Device
from model.device_catalog import find_builtin
from model.engine import Engine
from model.launch.config import parse_config
from model.launch.config_writing import addition, write_table
from model.launch.launch import Fill, Launch, Number
from model.opencl.kernel import Kernel
from model.opencl.options import BuildOptions
from model.opencl.program import read_program

CONFIG = Path("/work/kernelcast.toml")
FILE = Path("/work/kernels/all [1].cl")
SOURCE = """\
typedef struct { int x; float y; } Pair;
kernel void all(global float *a, int n, float f, Pair p, local int *tmp, read_only image2d_t picture) {
    a[get_global_id(0)] = n * f + p.x;
}
"""
_NUMBERS = st.integers(-(2**31), 2**31) | st.floats(-1e30, 1e30, allow_nan=False)
_TEXTS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=20)
_FILLS = st.sampled_from([Fill("zeros"), Fill("randint", (0, 9)), Fill("uniform", (0.5, 1.5)), Fill("const", (3,))])


def kernel() -> Kernel:
    (found,) = read_program(SOURCE).kernels
    return found


def cpu() -> Device:
    found = find_builtin("generic-cpu")
    assert found is not None
    return found


@st.composite
def launches(draw: st.DrawFn) -> Launch:
    def number() -> Number:
        return draw(_NUMBERS)

    sizes = st.integers(1, 1 << 20)
    return Launch(
        global_size=(64 * draw(sizes),),
        local_size=draw(st.sampled_from([(64,), None])),
        scalars=(("n", draw(st.integers(0, 2**31 - 1))), ("f", number()), ("p.x", number()), ("p.y", number())),
        buffers=(("a", draw(sizes)),),
        images=(("picture", (draw(sizes), draw(sizes), 1)),),
        local_bytes=(("tmp", draw(st.integers(1, 4096))),),
        fills=(*draw(st.sampled_from([(), (("a[3]", Fill("const", (3,))),)])), ("a", draw(_FILLS))),
        options=BuildOptions(
            (("TILE", draw(_TEXTS)),),
            draw(st.sampled_from([(), ("/usr/include/x",)])),
            draw(st.sampled_from([(), ("-cl-mad-enable", "-cl-std=CL1.2")])),
        ),
    )


@given(
    launches(), st.sampled_from(["", "[hints]\nenabled = true", '[[launch]]\nkernel = "x"\nglobal = 1\n', "# x\r\n"])
)
def test_what_is_written_reads_back(launch: Launch, before: str) -> None:
    added = addition(before, write_table(launch, kernel(), FILE, CONFIG.parent), CONFIG)
    assert added is not None
    config = parse_config(before + added, CONFIG)
    (spec,) = config.specs_for("all", FILE)
    assert spec.options.defines == launch.options.defines
    assert spec.options.flags == launch.options.flags
    assert spec.options.include_dirs == launch.options.include_dirs
    assert {name: tuple(e.evaluate({}) for e in each) for name, each in spec.values} == {
        **{name: (value,) for name, value in (*launch.scalars, *launch.buffers, *launch.local_bytes)},
        "picture": launch.images[0][1][:2],
    }
    assert tuple((name, fill.evaluate({})) for name, fill in spec.fills) == launch.fills
    assert spec.driver_chooses_local is (launch.local_size is None)


def test_the_kept_launch_is_predicted_for_that_file_alone() -> None:
    launch = Launch(
        (64,), (64,), (("n", 3), ("f", 2.0), ("p.x", 1), ("p.y", 0.5)), (("a", 64),), local_bytes=(("tmp", 4),)
    )
    config = parse_config(write_table(launch, kernel(), FILE, CONFIG.parent), CONFIG)
    (forecast,) = Engine().forecast(SOURCE, FILE, cpu(), config=config).forecasts
    assert forecast.launch is not None
    assert (forecast.launch.global_size, dict(forecast.launch.scalars)) == ((64,), dict(launch.scalars))
    assert config.specs_for("all", FILE.with_name("all 1.cl")) == ()
    assert config.specs_for("other", FILE) == ()


def test_nothing_is_added_to_a_file_that_it_would_break() -> None:
    table = write_table(Launch((64,)), kernel(), FILE, CONFIG.parent)
    assert addition("launch = []\n", table, CONFIG) is None
    assert addition("this is no TOML", table, CONFIG) is None
