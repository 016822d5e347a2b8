"""Tables whose figures stand under each other and whose cells never wrap; wide ones scroll by themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from server.report.markup import Child, Element, tag


@dataclass(frozen=True, slots=True)
class Column:
    """`kind`: `number` aligns right, `words` may wrap, `name` is cut where room is short, `fill` takes what is left.

    `is_roomy`: left out on narrow pages.
    """

    title: str
    kind: str = ""
    is_roomy: bool = False

    @property
    def class_(self) -> str | None:
        return " ".join(word for word in (self.kind, "roomy" if self.is_roomy else "") if word) or None


@dataclass(frozen=True, slots=True)
class Row:
    cells: Sequence[Child]
    class_: str | None = None
    key: str | None = None  # `data-key`, for whoever looks a row up


def table(columns: Sequence[Column], rows: Iterable[Row], class_: str, label: str) -> Element:
    head = tag("tr", [tag("th", c.title, scope="col", class_=c.class_) for c in columns])
    body = [
        tag(
            "tr",
            [tag("td", cell, class_=c.class_) for c, cell in zip(columns, row.cells, strict=True)],
            class_=row.class_,
            data_key=row.key,
        )
        for row in rows
    ]
    made = tag("table", tag("thead", head), tag("tbody", body), class_=class_, aria_label=label)
    return tag("div", made, class_="scroll", tabindex="0", role="region", aria_label=label)
