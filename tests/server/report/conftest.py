"""Reports of texts, with a store that holds what a test says was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from model.device import Device
from model.device_catalog import find_builtin
from model.engine import Engine
from model.forecast import FileForecast
from profiler.measurement import Measurement
from profiler.store import StoredMeasurement, StoreError
from server.report.builder import Subject, gather
from server.report.facts import Report

SCALE = """// kernelcast: global=N local=64 N=65536 x=N n=N
__kernel void scale(__global float *x, const int n) {
  int i = get_global_id(0);
  if (i < n) x[i] = x[i] * 2.0f;
}
"""
VOID = frozenset({"meta", "br", "hr", "img", "link", "input"})


class Page(HTMLParser):
    """What a browser would make of a page: elements with their attributes, and the text in each."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.elements: list[tuple[str, dict[str, str], list[str]]] = []
        self._open: list[tuple[str, dict[str, str], list[str]]] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = (tag, {name: value or "" for name, value in attrs}, list[str]())
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        for _, _, texts in self._open:
            texts.append(data)

    def all(self, tag: str = "", class_: str = "", **attributes: str) -> list[tuple[str, dict[str, str], str]]:
        """Elements of that name, of all these classes, with these attributes (`data_key` is `data-key`)."""
        wanted = {name.replace("_", "-"): value for name, value in attributes.items()}
        return [
            (name, given, "".join(texts).replace("\u00a0", " "))
            for name, given, texts in self.elements
            if tag in ("", name)
            and set(class_.split()) <= set(given.get("class", "").split())
            and all(given.get(key) == value for key, value in wanted.items())
        ]

    def text(self, tag: str = "", class_: str = "", **attributes: str) -> str:
        """The text of the only such element."""
        ((_, _, text),) = self.all(tag, class_, **attributes)
        return text

    def rows(self, class_: str) -> list[list[str]]:
        """The cells of the tables of that class, row by row, without their heads."""
        found: list[list[str]] = []
        inside = False
        for name, given, texts in self.elements:
            if name == "table":
                inside = class_ in given.get("class", "").split()
            elif inside and name == "tr":
                found.append([])
            elif inside and name == "td":
                found[-1].append("".join(texts))
        return [row for row in found if row]


@pytest.fixture
def cpu() -> Device:
    found = find_builtin("generic-cpu")
    assert found is not None
    return found


@pytest.fixture
def forecast(cpu: Device) -> Callable[..., FileForecast]:
    def run(text: str, device: Device | None = None) -> FileForecast:
        return Engine().forecast(text, None, device or cpu)

    return run


@pytest.fixture
def report_of(cpu: Device, forecast: Callable[..., FileForecast]) -> Callable[..., Report]:
    """A report of a text; `measured` with what was predicted then, the newest first."""

    def build(
        text: str = SCALE,
        *,
        device: Device | None = None,
        here: Iterable[Device] = (),
        remembered: Iterable[Device] = (),
        measured: Iterable[tuple[Measurement, float | None]] = (),
        label: str = "scale.cl",
        broken_store: str = "",
        in_session: tuple[Measurement, ...] = (),
    ) -> Report:
        def history(_path: Path | None, kernel: str) -> tuple[StoredMeasurement, ...]:
            if broken_store:
                raise StoreError(broken_store)
            return tuple(StoredMeasurement(m, p, "") for m, p in measured if m.kernel == kernel)

        chosen = device or cpu
        subject = Subject(None, label, forecast(text, chosen), chosen, in_session)
        return gather(f"Performance of {label}", [subject], tuple(here), tuple(remembered), history)

    return build


@pytest.fixture
def measured_of() -> Callable[..., Measurement]:
    """A measurement of one launch of a report's text."""

    def build(found: FileForecast, place: int = 0, **changes: Any) -> Measurement:
        one = found.forecasts[place]
        assert one.launch is not None
        assert one.prediction is not None
        plain = Measurement(
            kernel=one.kernel.name,
            kernel_fingerprint=one.kernel.fingerprint,
            launch_key=one.launch.key,
            launch=one.launch.describe(),
            device_id=one.prediction.device_id,
            device_name=one.prediction.device_name,
            driver="1.0",
            median_us=100.0,
            p10_us=95.0,
            p90_us=120.0,
            ci95_us=(98.0, 102.0),
            repeats=40,
            batches=5,
            batch_spread_percent=1.8,
            local_size=one.launch.local_size,
            load_average=0.1,
            measured_at="2026-01-02T03:04:05+00:00",
        )
        return replace(plain, **changes)

    return build
