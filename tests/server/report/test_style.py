"""The report can be read by everybody: contrast as WCAG 2.2 AA asks for it, in both themes; colours never alone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from server.report.facts import Report
from server.report.page import page
from server.report.style import DARK, LIGHT
from tests.server.report.conftest import Page

TEXT_LEAST, GRAPHICS_LEAST = 4.5, 3.0  # WCAG 2.2, 1.4.3 and 1.4.11
TEXTS = ("text", "soft", "link")
GRAPHICS = ("predicted", "measured", "memory", "compute", "warn", "soft")


def colours(theme: str) -> dict[str, str]:
    return dict(re.findall(r"--plain-(\w+): (#[0-9a-f]{6})", theme))


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_computed_as_wcag_does() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("behind", ["page", "card"])
def test_text_and_charts_stand_out(theme: str, behind: str) -> None:
    known = colours(theme)
    low = {name: contrast(known[name], known[behind]) for name in TEXTS}
    assert {name: ratio for name, ratio in low.items() if ratio < TEXT_LEAST} == {}
    drawn = {name: contrast(known[name], known[behind]) for name in GRAPHICS}
    assert {name: ratio for name, ratio in drawn.items() if ratio < GRAPHICS_LEAST} == {}


def test_both_themes_have_every_colour() -> None:
    assert colours(LIGHT).keys() == colours(DARK).keys()
    assert {"page", "card", *TEXTS, *GRAPHICS} <= colours(LIGHT).keys()


def test_every_figure_has_a_legend_that_names_its_marks_and_roofs(report_of: Callable[..., Report]) -> None:
    seen = Page(page(report_of()))
    assert len(seen.all("ul", "legend")) == len(seen.all("figure", "roofline")) + len(seen.all("figure", "sizes")) > 0
    words = " ".join(text for _, _, text in seen.all("ul", "legend"))
    assert "predicted, with its 80 % range" in words
    drawn = {given["class"] for name, given, _ in seen.all("line", "roof")}
    named = {given["data-key"] for name, given, _ in seen.all("li") if "data-key" in given}
    assert drawn <= named, "every roof is in the legend, with its rate"


def test_the_colour_of_a_bar_is_said_in_words(report_of: Callable[..., Report]) -> None:
    seen = Page(page(report_of()))
    rows = {kind: seen.all("tr", f"bound-{kind}") for kind in ("memory", "compute", "latency", "launch")}
    assert any(rows.values())
    assert all(kind in text for kind, found in rows.items() for _, _, text in found)


def test_shares_of_resources_add_up(report_of: Callable[..., Report]) -> None:
    rows = Page(page(report_of())).rows("resources")
    shares = [int(found[0]) for row in rows if (found := re.findall(r"^(\d+) %", row[2]))]
    assert sum(shares) in (99, 100), rows  # what takes less than a thousandth has no row
