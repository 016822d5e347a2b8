"""Writes HTML and SVG as trees of `xml.etree`, never as text: no name or message can then become markup.

A template engine would do this too, but only where nobody forgets to escape, and for one more dependency.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

Element = ElementTree.Element
Child = Element | str | None | Iterable["Child"]
Attribute = str | float | None

# Control characters and halves of surrogate pairs: no page may hold them, and no encoder takes the latter.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def tag(name: str, /, *children: Child, **attributes: Attribute) -> Element:
    """`tag("p", "text", class_="lead", data_kernel=name)`; attributes that are None are left out."""
    made = Element(name)
    for key, value in attributes.items():
        if value is not None:
            made.set(key.rstrip("_").replace("_", "-"), _text(value))
    last: Element | None = None
    for child in _flat(children):
        if isinstance(child, str):
            if last is None:
                made.text = (made.text or "") + _text(child)
            else:
                last.tail = (last.tail or "") + _text(child)
        else:
            made.append(child)
            last = child
    return made


def prose(text: str) -> list[Child]:
    """Return a message as HTML: names between backticks become code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a lone backtick is only a backtick
        return [text]
    return [tag("code", part) if place % 2 else part for place, part in enumerate(parts) if part]


def unbroken(text: str) -> str:
    """Return a figure and its unit stay on one line."""
    return text.replace(" ", "\u00a0")


def document(root: Element) -> str:
    """Return the whole page; the same element may stand in it only once."""
    return "<!DOCTYPE html>\n" + ElementTree.tostring(root, encoding="unicode", method="html") + "\n"


def _flat(children: Iterable[Child]) -> Iterator[Element | str]:
    for child in children:
        if child is None:
            continue
        if isinstance(child, str | Element):
            yield child
        else:
            yield from _flat(child)


def _text(value: str | float) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return _FORBIDDEN.sub("\ufffd", str(value))


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
