"""Advice in the editor: quiet, in its place, and off where the user wants it off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from lsprotocol import types

from model.advice.advice import Advice, AdviceCode
from model.forecast import FileForecast
from model.launch.launch import Launch, Origin
from server.analysis.keep_last_prediction import carry_over
from server.client.settings import Settings
from server.documents import changed
from server.features.diagnostics import advice_diagnostics, diagnostics
from server.features.requests import hover_of
from server.positions import position_of
from server.snapshot import Analysis, Snapshot

Snapshots = Callable[..., Snapshot]
Forecasts = Callable[..., FileForecast]

TEXT = "// 😀\n__kernel void blur(__global float *a) {\n\n  a[0] = 1;  \n}\n"
FAR = Advice(AdviceCode.UNCOALESCED_ACCESS, "neighbours store to `a` 4 kB apart", 3, 1000.0)
FEW = Advice(AdviceCode.TOO_FEW_GROUPS, "16 work-groups cannot use more than 16 of the 108 compute units")
FAULT = Advice(AdviceCode.DIVERGENT_BARRIER, "not all work-items come to this barrier", 3, is_fault=True)


@pytest.fixture
def advised(snapshot_of: Snapshots, forecast_of: Forecasts) -> Callable[..., Snapshot]:
    def build(*advice: Advice, text: str = TEXT, **settings: object) -> Snapshot:
        forecast = forecast_of(text, advice=advice)
        return snapshot_of(text, forecast=forecast, settings=Settings(**settings))  # type: ignore[arg-type]

    return build


def test_advice_marks_the_text_of_its_line_and_nothing_around_it(advised: Callable[..., Snapshot]) -> None:
    (found,) = diagnostics(advised(FAR))
    assert found.range == types.Range(types.Position(3, 2), types.Position(3, 11))
    assert found.severity == types.DiagnosticSeverity.Hint
    assert (found.source, found.code) == ("kernelcast", "uncoalesced-access")
    assert found.message == "Neighbours store to `a` 4 kB apart. It may save about 1 ms of 3.2 ms."


def test_advice_on_the_launch_marks_the_name_of_the_kernel(advised: Callable[..., Snapshot]) -> None:
    (found,) = diagnostics(advised(FEW))
    assert found.range == types.Range(types.Position(1, 14), types.Position(1, 18))


def test_the_setting_decides_how_loud_advice_is(advised: Callable[..., Snapshot]) -> None:
    assert [d.severity for d in diagnostics(advised(FAR, advice="information"))] == [
        types.DiagnosticSeverity.Information
    ]
    assert not diagnostics(advised(FAR, FEW, FAULT, advice="off"))


def test_what_is_undefined_is_more_than_a_hint(advised: Callable[..., Snapshot]) -> None:
    assert [d.severity for d in diagnostics(advised(FAULT))] == [types.DiagnosticSeverity.Information]


def test_single_rules_can_be_left_out(advised: Callable[..., Snapshot]) -> None:
    (found,) = diagnostics(advised(FAR, FEW, advice_ignored=("uncoalesced-access",)))
    assert found.code == "too-few-groups"


def test_the_hover_says_what_the_diagnostics_say(advised: Callable[..., Snapshot]) -> None:
    told = hover_of(advised(FAR, FEW), types.Position(1, 15), [])
    assert told is not None
    assert isinstance(told.contents, types.MarkupContent)
    text = " ".join(told.contents.value.split())
    assert "Line 4: Neighbours store to a 4 kB apart." in text.replace("`", "")
    assert "16 work-groups cannot use more" in text
    silent = hover_of(advised(FAR, advice="off"), types.Position(1, 15), [])
    assert silent is not None
    assert isinstance(silent.contents, types.MarkupContent)
    assert "apart" not in silent.contents.value


def test_launches_with_the_same_advice_say_it_once_and_for_whom(snapshot_of: Snapshots, forecast_of: Forecasts) -> None:
    launches = tuple(
        Launch((size,), (64,), origin=Origin.ANNOTATION, name=name) for size, name in ((64, "small"), (4096, "large"))
    )
    found = forecast_of(TEXT, launches=launches, advice=(FAR,))
    less = replace(FAR, gain_us=1.0)
    first = found.forecasts[0]
    assert first.prediction is not None
    forecasts = (replace(first, prediction=replace(first.prediction, candidate_advice=(less,))), found.forecasts[1])
    (told,) = diagnostics(snapshot_of(TEXT, forecast=replace(found, forecasts=forecasts)))
    assert told.message.endswith("This is about launch large (and 1 other).")
    (told,) = diagnostics(
        snapshot_of(TEXT, forecast=replace(found, forecasts=(forecasts[0], found.forecasts[1])[:1] + forecasts[1:]))
    )
    assert "1 ms" in told.message


def after_typing(before: Snapshot, text: str, line: int, seen: FileForecast) -> Snapshot:
    place = types.Position(line, 0)
    change = types.TextDocumentContentChangePartial(range=types.Range(place, place), text=text)
    document = changed(before.document, 2, [change], before.encoding)
    analysis = carry_over(before.analysis, Analysis(2, document, seen, before.analysis.device))
    return replace(before, document=document, analysis=analysis)


def test_advice_stays_while_its_kernel_is_broken_for_a_moment(
    advised: Callable[..., Snapshot], forecast_of: Forecasts
) -> None:
    before = advised(FAR)
    text = TEXT.replace("\n\n", "\n\nif (\n")
    seen = forecast_of(text)
    broken = tuple(replace(kernel, has_errors=True) for kernel in seen.kernels)
    forecasts = tuple(replace(f, kernel=broken[0]) for f in seen.forecasts)
    now = after_typing(before, "if (\n", 3, replace(seen, kernels=broken, forecasts=forecasts))
    (found,) = diagnostics(now)
    assert found.range.start == position_of(now.document.text, now.document.text.value.index("a[0]"), now.encoding)


def test_advice_that_was_heeded_goes_with_the_next_analysis(
    advised: Callable[..., Snapshot], forecast_of: Forecasts
) -> None:
    now = after_typing(advised(FAR), "int b;\n", 3, forecast_of(TEXT.replace("\n\n", "\n\nint b;\n")))
    assert not advice_diagnostics(now)
