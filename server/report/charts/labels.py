"""Text on a chart: placed where it overlaps nothing that was placed before, or left out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from server.report.markup import Element, tag

SIZE = 12.0
_ADVANCE = 0.6  # of the font size, the mean width of a character in the usual sans-serif fonts
_GAP = 9.0
_STEP = 9.0  # less than any text is high, so that none slips through


@dataclass(frozen=True, slots=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def within(self, other: Box) -> bool:
        return (
            other.left <= self.left
            and self.right <= other.right
            and other.top <= self.top
            and self.bottom <= other.bottom
        )


def text_width(text: str, size: float = SIZE) -> float:
    return len(text) * size * _ADVANCE


@dataclass(slots=True)
class Labels:
    """Remembers what is taken of `area`."""

    area: Box
    taken: list[Box] = field(default_factory=list)

    def keep_free(self, x: float, y: float, radius: float = 7.0) -> None:
        self.taken.append(Box(x - radius, y - radius, x + radius, y + radius))

    def keep_line_free(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """Keep text off a thin line."""
        if x1 == x2 or y1 == y2:
            self.taken.append(Box(min(x1, x2) - 1, min(y1, y2) - 1, max(x1, x2) + 1, max(y1, y2) + 1))
            return
        steps = max(1, math.ceil(math.hypot(x2 - x1, y2 - y1) / _STEP))
        for step in range(steps + 1):
            x, y = x1 + (x2 - x1) * step / steps, y1 + (y2 - y1) * step / steps
            self.taken.append(Box(x - 1, y - 1, x + 1, y + 1))

    def beside(self, texts: Sequence[str], x: float, y: float, class_: str, *, first: str = "start") -> Element | None:
        """Place a label right of a point (left if `first` is `end`), else on the other side, above or below.

        `texts` say the same, the longest first: a shorter one may find a place where a longer one does not.
        """
        for text in texts:
            for at_x, at_y, anchor, box in _places(x, y, text_width(text), first):
                if self._is_free([box]):
                    self.taken.append(box)
                    return _label(text, at_x, at_y, class_, anchor)
        return None

    def along(self, text: str, places: Iterable[tuple[float, float]], angle: float, class_: str) -> Element | None:
        """Place a label centred on one of `places`, turned by `angle` degrees, just above its line."""
        width = text_width(text)
        turn = math.radians(angle)
        lift_x, lift_y = math.sin(turn) * SIZE * 0.7, -math.cos(turn) * SIZE * 0.7
        for x, y in places:
            centre_x, centre_y = x + lift_x, y + lift_y
            boxes = _turned(centre_x, centre_y, width, turn)
            if self._is_free(boxes):
                self.taken.extend(boxes)
                made = _label(text, centre_x, centre_y, class_, "middle")
                if angle:
                    made.set("transform", f"rotate({angle:.1f} {centre_x:.1f} {centre_y:.1f})")
                return made
        return None

    def _is_free(self, boxes: list[Box]) -> bool:
        return all(box.within(self.area) and not any(box.meets(other) for other in self.taken) for box in boxes)


def _places(x: float, y: float, width: float, first: str) -> Iterator[tuple[float, float, str, Box]]:
    sides = ((_GAP, "start"), (-_GAP, "end"))
    for shift, anchor in sides if first == "start" else reversed(sides):
        yield x + shift, y, anchor, _box(x + shift, y, width, anchor)
    for dy in (-SIZE * 1.3, SIZE * 1.3):
        for shift, anchor in ((0.0, "middle"), *sides):
            yield x + shift, y + dy, anchor, _box(x + shift, y + dy, width, anchor)


def _box(x: float, y: float, width: float, anchor: str) -> Box:
    left = {"start": x, "middle": x - width / 2, "end": x - width}[anchor]
    return Box(left, y - SIZE * 0.6, left + width, y + SIZE * 0.6)


def _turned(x: float, y: float, width: float, turn: float) -> list[Box]:
    """Return small boxes along a turned line of text, which together cover about what the text does."""
    half, steps = SIZE * 0.42, max(1, math.ceil(width / SIZE))
    found = []
    for step in range(steps + 1):
        along = (step / steps - 0.5) * width
        at_x, at_y = x + along * math.cos(turn), y + along * math.sin(turn)
        found.append(Box(at_x - half, at_y - half, at_x + half, at_y + half))
    return found


def _label(text: str, x: float, y: float, class_: str, anchor: str) -> Element:
    return tag("text", text, x=x, y=y, class_=class_, text_anchor=anchor, dominant_baseline="central")
