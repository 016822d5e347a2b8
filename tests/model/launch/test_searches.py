"""Searches by halves: what is searched ascends, and what is sought lies anywhere in it, unless somebody says more."""

from __future__ import annotations

from itertools import product

import pytest

from model.device import Device
from model.device_catalog import find_builtin
from model.engine import Engine
from model.forecast import Forecast
from model.observing import Observer

LENGTH = 1 << 20
SEARCH = """// kernelcast: global=65536 n={length} table={length} keys=65536 places=65536 {fills}
__kernel void find(__global const {type} *table, __global const {type} *keys, __global int *places, int n) {{
    const {type} key = keys[get_global_id(0)];
    int low = 0, high = n;
    {loop}
    places[get_global_id(0)] = low;
}}
"""
MIDDLES = ("(low + high) / 2", "low + (high - low) / 2", "(low + high) >> 1", "low + ((high - low) >> 1)")
LOOPS = (
    "while (low < high) {{ int m = {middle}; if (table[m] < key) low = m + 1; else high = m; }}",
    "while (high - low > 1) {{ int m = {middle}; if (table[m] > key) high = m; else low = m; }}",
    "for (; low < high;) {{ int m = {middle}; {type} t = table[m]; if (t == key) break;"
    " if (t < key) low = m + 1; else high = m; }}",
)


@pytest.fixture(scope="module")
def cpu() -> Device:
    found = find_builtin("generic-cpu")
    assert found is not None
    return found


def forecast(source: str, device: Device) -> Forecast:
    (found,) = Engine(observer=Observer(runs=True)).forecast(source, None, device).forecasts
    assert found.prediction is not None, found.problem
    return found


def search(loop: str, type_: str = "int", fills: str = "", middle: str = MIDDLES[0]) -> str:
    return SEARCH.format(length=LENGTH, type=type_, fills=fills, loop=loop.format(middle=middle, type=type_))


def fills_of(found: Forecast) -> dict[str, str]:
    assert found.launch is not None
    return {name: str(fill) for name, fill in found.launch.fills}


@pytest.mark.parametrize(("loop", "middle"), [*product(LOOPS, MIDDLES)])
def test_however_it_is_written_the_table_ascends_and_keys_lie_in_it(loop: str, middle: str, cpu: Device) -> None:
    assert fills_of(forecast(search(loop, middle=middle), cpu)) == {
        "table": f"sorted:0:{2 * LENGTH}", "keys": f"randint:0:{2 * LENGTH}"
    }  # fmt: skip


def test_what_is_assumed_is_said_and_counts_as_a_guess(cpu: Device) -> None:
    found = forecast(search(LOOPS[0]), cpu)
    assert found.prediction is not None
    said = {a.subject: a for a in found.prediction.assumptions if a.subject in ("table", "keys")}
    assert "ascending numbers from 0 to 2,097,152" in said["table"].text
    assert "are looked up in `table`" in said["keys"].text
    assert all(a.is_guess for a in said.values())


@pytest.mark.parametrize(("type_", "table", "keys"), [
    ("float", "sorted:0:1", "uniform:0:1"),
    ("uchar", "sorted:0:256", "randint:0:256"),
    ("char", "sorted:0:128", "randint:0:128"),
    ("ulong", f"sorted:0:{2 * LENGTH}", f"randint:0:{2 * LENGTH}"),
])  # fmt: skip
def test_numbers_fit_the_type(type_: str, table: str, keys: str, cpu: Device) -> None:
    assert fills_of(forecast(search(LOOPS[0], type_), cpu)) == {"table": table, "keys": keys}


def test_what_somebody_says_holds_and_keys_follow_the_table(cpu: Device) -> None:
    found = fills_of(forecast(search(LOOPS[0], fills="fill.table=sorted:10:500"), cpu))
    assert found == {"table": "sorted:10:500", "keys": "randint:10:500"}
    assert fills_of(forecast(search(LOOPS[0], fills="fill.keys=const:7"), cpu))["keys"] == "const:7"
    assert fills_of(forecast(search(LOOPS[0], fills="fill.table=uniform:0:0.5"), cpu))["keys"] == "randint:0:1"


def test_lists_are_not_searches(cpu: Device) -> None:
    chase = "for (int k = 0; k < 16; ++k) low = table[low];"
    assert not fills_of(forecast(search(chase), cpu))


def test_a_search_without_contents_takes_as_long_as_one_with_the_usual_ones(cpu: Device) -> None:
    guessed = forecast(search(LOOPS[0]), cpu).prediction
    said = forecast(search(LOOPS[0], fills=f"fill.table=sorted:0:{2 * LENGTH} fill.keys=randint:0:{2 * LENGTH}"), cpu)
    assert guessed is not None
    assert said.prediction is not None
    assert guessed.runtime_us.p50 == pytest.approx(said.prediction.runtime_us.p50, rel=0.01)
    assert guessed.runtime_us.p90 > said.prediction.runtime_us.p90  # the guess shows
