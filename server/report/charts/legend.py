"""Legend of a chart: each mark and line as it is drawn, with what it stands for; one list below the figure."""

from __future__ import annotations

from collections.abc import Sequence

from server.report.charts.frame import measured_mark, predicted_mark
from server.report.markup import Child, Element, tag

_WIDTH, _HEIGHT = 30.0, 14.0

Entry = tuple[str, str]  # the classes of what is drawn, and its words


def legend(entries: Sequence[Entry]) -> Element:
    """Return the entries as a list. `mark` is drawn as a mark, `band` and `box` as areas, all else as lines."""
    items = [tag("li", _symbol(classes), words, data_key=classes) for classes, words in entries]
    return tag("ul", items, class_="legend", aria_label="Legend")


def _symbol(classes: str) -> Element:
    return tag(
        "svg",
        _drawn(classes.split(), classes),
        class_="key",
        viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}",
        aria_hidden="true",
    )


def _drawn(words: Sequence[str], classes: str) -> list[Child]:
    middle = _HEIGHT / 2
    if "mark" in words:
        mark = measured_mark if "measured" in words else predicted_mark
        made = mark(_WIDTH / 2, middle)
        made.set("class", classes)
        return [made]
    if "band" in words or "box" in words:
        return [tag("rect", x=0, y=1, width=_WIDTH, height=_HEIGHT - 2, class_=classes)]
    return [tag("line", x1=0, x2=_WIDTH, y1=middle, y2=middle, class_=classes)]
