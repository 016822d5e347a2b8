"""Pictures of a window as users see it, small enough for a README."""

from __future__ import annotations

import io
import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops

from tests.editors.vscode.workbench import Workbench

COLOURS = 64
FASTEST_MS, SLOWEST_MS, LAST_MS = 60, 900, 3000
LENGTH_MS = 20_000  # of a film: where a machine takes longer, waits are shown faster


@contextmanager
def sized(workbench: Workbench, width: int, height: int) -> Iterator[None]:
    """The window in this size."""
    before = workbench.page.viewport_size
    workbench.page.set_viewport_size({"width": width, "height": height})
    try:
        yield
    finally:
        if before:
            workbench.page.set_viewport_size(before)


def clip_of(workbench: Workbench, *selectors: str, margin: int = 0) -> dict[str, float]:
    """The rectangle around all that these select, within the window."""
    boxes = [box for s in selectors for one in workbench.page.locator(s).all() if (box := one.bounding_box())]
    size = workbench.page.viewport_size or {"width": 10_000, "height": 10_000}
    left, top = (max(0.0, min(box[side] for box in boxes) - margin) for side in ("x", "y"))
    right = min(size["width"], max(box["x"] + box["width"] for box in boxes) + margin)
    bottom = min(size["height"], max(box["y"] + box["height"] for box in boxes) + margin)
    return {"x": left, "y": top, "width": right - left, "height": bottom - top}


def take(workbench: Workbench, clip: dict[str, Any]) -> Image.Image:
    """The pixels, once two looks in a row agree: nothing fades or slides any more."""
    before: Image.Image | None = None

    def settled() -> Image.Image | None:
        nonlocal before
        now = _look(workbench, clip, sharp=True)
        same = before is not None and ImageChops.difference(now, before).getbbox() is None
        before = now
        return now if same else None

    picture = workbench.until(settled, "a window that stands still")
    assert isinstance(picture, Image.Image)
    return picture


def save(picture: Image.Image, file: Path) -> int:
    """As a PNG of few colours; its size in bytes."""
    few = picture.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    few.save(file, optimize=True)
    return file.stat().st_size


class Film:
    """Looks at the window again and again; what changes between looks becomes a frame."""

    def __init__(self, workbench: Workbench, clip: dict[str, Any]) -> None:
        self._workbench, self._clip = workbench, clip
        self._frames: list[tuple[float, Image.Image]] = []
        self._stands_ms: dict[int, int] = {}  # by frame

    def look(self) -> None:
        now = _look(self._workbench, self._clip, sharp=False)
        if not self._frames or ImageChops.difference(now, self._frames[-1][1]).getbbox() is not None:
            self._frames.append((time.monotonic(), now))

    def begin(self) -> None:
        """What was seen so far is not shown, but for the last look."""
        self._frames = [(time.monotonic(), self._frames[-1][1])]
        self._stands_ms.clear()

    def stand(self, ms: int) -> None:
        """Show the last look for so long, for a reader."""
        self._stands_ms[len(self._frames) - 1] = ms

    def look_until(self, condition: Callable[[], object], wanted: str) -> None:
        def seen() -> object:
            self.look()
            return condition()

        self._workbench.until(seen, wanted)
        self.look()

    def look_until_still(self) -> None:
        def still() -> bool:
            before = len(self._frames)
            self.look()
            return len(self._frames) == before

        self._workbench.until(still, "a window that stands still")

    def save(self, file: Path) -> int:
        """As an animated GIF whose frames share one palette; its size in bytes."""
        moving_ms = {
            n: min(1000 * (after - at), SLOWEST_MS)
            for n, ((at, _), (after, _)) in enumerate(itertools.pairwise(self._frames))
            if n not in self._stands_ms
        }
        left_ms = LENGTH_MS - LAST_MS - sum(self._stands_ms.values())
        pace = min(1.0, left_ms / max(sum(moving_ms.values()), 1.0))
        shown_ms = [
            self._stands_ms.get(n) or max(int(pace * moving_ms[n]), FASTEST_MS) for n in range(len(self._frames) - 1)
        ]
        wall = _wall_of([picture for _, picture in self._frames])
        palette = wall.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        few = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for _, picture in self._frames]
        few[0].save(
            file, save_all=True, append_images=few[1:], duration=[*shown_ms, LAST_MS], loop=0, optimize=True, disposal=1
        )
        return file.stat().st_size


def _look(workbench: Workbench, clip: dict[str, Any], *, sharp: bool) -> Image.Image:
    scale = "device" if sharp else "css"
    shot = workbench.page.screenshot(clip=clip, scale=scale, caret="initial", animations="allow")  # type: ignore[arg-type]
    return Image.open(io.BytesIO(shot)).convert("RGB")


def _wall_of(pictures: list[Image.Image]) -> Image.Image:
    """Some of them above each other, so that one palette suits all."""
    some = pictures[:: max(1, len(pictures) // 8)] + pictures[-1:]
    wall = Image.new("RGB", (some[0].width, sum(picture.height for picture in some)))
    top = 0
    for picture in some:
        wall.paste(picture, (0, top))
        top += picture.height
    return wall
