"""A launch on several devices: hover, `kernelcast compare --devices` and report say the same, in honest words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lsprotocol import types

from model.device import Device
from model.device_catalog import find_builtin
from model.engine import Engine
from model.pairs import unrelated_ratio
from model.prediction import Quantiles, Ratio
from server.analysis.device_search import DeviceSearch, snapshot_sources
from server.analysis.elsewhere import DeviceTime
from server.analysis.store_cache import StoreCache
from server.cli.compare_devices import DevicesWanted, devices_compared
from server.cli.forecasts import Forecaster
from server.cli.requests import Request
from server.client.settings import Settings
from server.features.requests import hover_of
from server.launch_view import Rows
from server.report.builder import Subject, gather
from server.snapshot import Snapshot
from server.text.devices import cells, device_json, devices_table, names_apart, ratio_words, short_name

IDS = ("generic-cpu", "generic-gpu", "nvidia-h200", "nvidia-geforce-rtx-3080", "intel-arc-a770-graphics")
SOURCE = """// kernelcast: global=n local={local} n={n} a=n*{stride} b=n
__kernel void scale(__global const float *a, __global float *b, const int n) {{
    int i = get_global_id(0);
    float s = 0;
    for (int k = 0; k < {loops}; ++k) s += a[i * {stride}] * k;
    b[i] = s;
}}
"""
times = st.floats(1e-2, 1e8)
intervals = st.tuples(times, st.floats(1, 50), st.floats(1, 50)).map(
    lambda drawn: Quantiles(drawn[0] / drawn[1], drawn[0], drawn[0] * drawn[2])
)


def device_of(name: str | None) -> Device:
    found = find_builtin(name or "generic-cpu")
    assert found is not None
    return found


def nobody_answers(questions: Sequence[object], _lessons: object) -> list[None]:
    return [None] * len(questions)


@given(
    ids=st.lists(st.sampled_from(IDS), min_size=2, max_size=4, unique=True),
    n=st.sampled_from([1 << 10, 1 << 16, 1 << 22]),
    local=st.sampled_from([32, 64, 2048]),
    loops=st.integers(1, 400),
    stride=st.sampled_from([1, 7]),
)
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_hover_call_and_report_say_the_same(
    snapshot_of: Callable[..., Snapshot],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    ids: list[str],
    n: int,
    local: int,
    loops: int,
    stride: int,
) -> None:
    text = SOURCE.format(n=n, local=local, loops=loops, stride=stride)
    file = tmp_path / "scale.cl"
    file.write_text(text)
    main, *others = map(device_of, ids)
    plain = snapshot_of(text)
    found = Engine().forecast(text, file, main)
    snapshot = replace(plain, analysis=replace(plain.analysis, forecast=found, device=main))

    rows = DeviceSearch(nobody_answers).rows(snapshot, others)
    assert rows is not None
    sources = replace(snapshot_sources(snapshot, None, StoreCache()), ask=None)
    report = gather("", [Subject(file, "", found, main)], others, (), lambda *_: (), sources)
    shown = {row.device.id: row for row in report.kernels[0].launches[0].devices}
    capsys.readouterr()
    devices_compared(
        Forecaster(device_of, sources), sources, Request(file), DevicesWanted(ids, device_of), is_json=True
    )
    told = json.loads(capsys.readouterr().out.splitlines()[0])
    shown_to_user = hover_of(replace(snapshot, elsewhere=rows), types.Position(1, 16), [types.MarkupKind.PlainText])
    assert shown_to_user is not None
    assert isinstance(shown_to_user.contents, types.MarkupContent)
    words = " ".join(shown_to_user.contents.value.split())
    for mine in rows.values():
        assert [each.device.id for each in mine] == ids
        for each, said in zip(mine, told["devices"], strict=True):
            assert device_json(each) == said
            reported = shown[each.device.id]
            assert (each.prediction is None) == (reported.prediction is None)
            assert each.ratio == reported.ratio
            if each.prediction is not None and reported.prediction is not None:
                assert each.prediction.runtime_us == reported.prediction.runtime_us
                assert each.prediction.bound == reported.prediction.bound
            if each is not mine[0]:
                assert all(" ".join(cell.split()) in words for cell in cells(each, 24)[:4])


@given(new=intervals, old=intervals)
def test_a_ratio_is_that_of_the_times_and_no_surer_than_either(new: Quantiles, old: Quantiles) -> None:
    ratio = unrelated_ratio(new, old)
    assert ratio.p50 == pytest.approx(new.p50 / old.p50)
    assert ratio.p10 <= ratio.p50 <= ratio.p90
    for each in (new, old):
        assert ratio.p90 / ratio.p10 >= 0.99 * each.p90 / each.p10


@given(new=intervals, old=intervals)
def test_words_claim_a_winner_only_where_the_interval_lies_on_one_side(new: Quantiles, old: Quantiles) -> None:
    ratio = unrelated_ratio(new, old)
    words = ratio_words(ratio)
    says_faster, says_slower = "faster" in words, "slower" in words
    if not words.startswith(("as fast", "up to")) and says_faster != says_slower:
        assert ratio.p90 < 1 if says_faster else ratio.p10 > 1
    # A factor that rounds to 1 wins nothing.
    assert not (ratio.p90 < 1 and says_slower)
    assert not (ratio.p10 > 1 and says_faster)
    assert says_faster or ratio.p90 > 0.9
    assert says_slower or ratio.p10 < 1.1
    assert "e+" not in words


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (Ratio(1 / 3, 0.5, 1 / 1.2), "1.2 to 3x faster"),
        (Ratio(1.2, 2, 3), "1.2 to 3x slower"),
        (Ratio(0.5, 0.9, 2), "2x faster to 2x slower"),
        (Ratio(0.5, 0.5, 0.5), "2x faster"),
        (Ratio(0.999, 1, 1.001), "as fast"),
        (Ratio(0.5, 0.8, 1.0), "up to 2x faster"),
        (Ratio(0.09, 0.3, 0.98), "up to 11x faster"),
        (Ratio(0.0006, 0.00067, 0.0007), "1,400 to 1,700x faster"),
        (Ratio(1 / 400, 1 / 300, 1 / 200), "200 to 400x faster"),
    ],
)
def test_ratios_in_words(ratio: Ratio, words: str) -> None:
    assert ratio_words(ratio) == words


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("NVIDIA H200", "H200"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("Intel(R) Arc(TM) A770 Graphics", "Arc A770"),
        ("AMD", "AMD"),
        ("A device with a very long name", "A device with…"),
    ],
)
def test_devices_have_short_names_in_hints(name: str, short: str) -> None:
    assert short_name(name) == short


def test_a_hint_shows_a_second_device_where_there_is_room(snapshot_of: Callable[..., Snapshot]) -> None:
    text = SOURCE.format(n=65536, local=64, loops=3, stride=1)
    main, other = device_of("generic-cpu"), device_of("nvidia-h200")
    found = Engine().forecast(text, None, main)
    plain = snapshot_of(text, settings=Settings(second_device=True))
    snapshot = replace(plain, analysis=replace(plain.analysis, forecast=found, device=main))
    alone = snapshot.kernels[0].label
    rows = DeviceSearch(nobody_answers).rows(snapshot, [other])
    assert rows is not None
    label = replace(snapshot, elsewhere=rows).kernels[0].label
    assert re.fullmatch(r"[~≈] .* · H200 [~≈] [\d.]+ (ns|µs|ms)", label)
    assert label.startswith(alone.partition(" ·")[0].partition(" ±")[0][:6])
    assert replace(snapshot, elsewhere=rows, settings=Settings()).kernels[0].label == alone


def test_what_is_known_of_a_kernel_is_not_predicted_again(
    snapshot_of: Callable[..., Snapshot],
) -> None:
    """A line typed above moves the kernel, and what it takes elsewhere stays."""
    text = SOURCE.format(n=65536, local=64, loops=3, stride=1)
    main, other = device_of("generic-cpu"), device_of("nvidia-h200")
    search = DeviceSearch(nobody_answers)

    def rows_of(text: str) -> Rows:
        plain = snapshot_of(text)
        analysis = replace(plain.analysis, forecast=Engine().forecast(text, None, main), device=main)
        found = search.rows(replace(plain, analysis=analysis), [other])
        assert found is not None
        (rows,) = found.values()
        return rows

    first = rows_of(text)
    assert rows_of(f"\n\n{text}") is first
    assert rows_of(text.replace("* k", "* k * k")) is not first


def test_a_keystroke_ends_the_search(snapshot_of: Callable[..., Snapshot]) -> None:
    text = SOURCE.format(n=65536, local=64, loops=3, stride=1)
    assert DeviceSearch(nobody_answers).rows(snapshot_of(text), [device_of("nvidia-h200")], lambda: True) is None


def test_devices_of_one_name_are_told_apart_by_their_ids() -> None:
    main, other = map(device_of, IDS[:2])
    twins = [replace(other, id="first-card"), replace(other, id="second-card")]
    rows = [DeviceTime(each, None, "no reason") for each in (main, *twins)]
    assert names_apart(rows) == [main.name, "first-card", "second-card"]
    lines = devices_table(rows)
    assert [any(name in line for line in lines) for name in ("first-card", "second-card")] == [True, True]
