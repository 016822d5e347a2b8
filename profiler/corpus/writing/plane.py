"""How work-items share the elements of a plane."""

from __future__ import annotations

import math
from dataclasses import dataclass
from textwrap import dedent, indent

from profiler.corpus.draw import Draw
from profiler.corpus.family import Wish
from profiler.corpus.writing.hand import Hand
from profiler.corpus.writing.sizes import line, power_below, within_memory

MOST_ACROSS = 16384  # of an image, on most devices


@dataclass(frozen=True, slots=True)
class Area:
    """Sizes of one launch; `done` of the width x height elements are worked on."""

    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    width: int
    height: int
    done: int


@dataclass(frozen=True, slots=True)
class Plane:
    kind: str
    index: str

    def write(self, body: str, x: str = "x", y: str = "y", w: str = "width", h: str = "height") -> str:
        """Code that runs `body` for each `x`, `y`; it holds neither `continue` nor `return`."""
        body = dedent(body).strip("\n")
        inner, deep, t = indent(body, "    "), indent(body, "        "), self.index
        ids = f"const {t} {x} = get_global_id(0);\nconst {t} {y} = get_global_id(1);\n"
        match self.kind:
            case "exact":
                return f"{ids}{body}\n"
            case "guard":
                return f"{ids}if ({x} < {w} && {y} < {h}) {{\n{inner}\n}}\n"
            case "early":
                return f"{ids}if ({x} >= {w} || {y} >= {h}) return;\n{body}\n"
            case "swapped":
                return (
                    f"{t} {y} = get_global_id(0);\n{t} {x} = get_global_id(1);\n"
                    f"if ({x} >= {w})\n    return;\nif ({y} >= {h})\n    return;\n{body}\n"
                )
            case "grid":
                return (
                    f"for ({t} {y} = get_global_id(1); {y} < {h}; {y} += get_global_size(1))\n"
                    f"    for ({t} {x} = get_global_id(0); {x} < {w}; {x} += get_global_size(0)) {{\n{deep}\n    }}\n"
                )
            case "flat":
                return (
                    f"const {t} place = get_global_id(0);\nif (place < ({t}){w} * {h}) {{\n"
                    f"    const {t} {x} = place % {w};\n    const {t} {y} = place / {w};\n{inner}\n}}\n"
                )
            case "flat_grid":
                return (
                    f"const {t} all = ({t}){w} * {h};\n"
                    f"for ({t} place = get_global_id(0); place < all; place += get_global_size(0)) {{\n"
                    f"    const {t} {y} = place / {w};\n    const {t} {x} = place - {y} * {w};\n{inner}\n}}\n"
                )
            case "rows":
                return (
                    f"const {t} {y} = get_global_id(0);\nif ({y} < {h}) {{\n"
                    f"    for ({t} {x} = 0; {x} < {w}; {x}++) {{\n{deep}\n    }}\n}}\n"
                )
            case _:
                return (
                    f"const {t} {x} = get_global_id(0);\nif ({x} >= {w})\n    return;\n"
                    f"for ({t} {y} = 0; {y} < {h}; ++{y}) {{\n{inner}\n}}\n"
                )

    def size(self, draw: Draw, wish: Wish, bytes_each: float) -> Area:
        most = within_memory(1 << 24, bytes_each)
        if self.kind in ("flat", "flat_grid", "rows", "columns"):
            items, local = line(wish)
            width, height = shape(draw, within_memory(wish.data, bytes_each))
            if self.kind == "rows":
                done = min(items, height) * width
            elif self.kind == "columns":
                done = min(items, width) * height
            else:
                done = width * height if self.kind == "flat_grid" else min(items, width * height)
            return Area((items,), None if local is None else (local,), width, height, done)
        across, local_size = rectangle(wish, most if self.kind == "exact" else 1 << 24)
        if self.kind == "exact":  # no guard: the plane is as large as the global size
            return Area(across, local_size, *across, across[0] * across[1])
        width, height = shape(draw, within_memory(wish.data, bytes_each))
        if self.kind == "grid":
            return Area(across, local_size, width, height, width * height)
        reach = across[::-1] if self.kind == "swapped" else across
        return Area(across, local_size, width, height, min(reach[0], width) * min(reach[1], height))


def plane(draw: Draw, habits: Hand, *, exact: bool = True) -> Plane:
    kinds = {"guard": 4.0, "early": 2.0, "swapped": 1.0, "grid": 1.5, "flat": 2.0, "flat_grid": 1.0, "rows": 1.0}
    kinds["columns"] = 1.0
    return Plane(draw.weighted({**kinds, "exact": 1.5} if exact else kinds, "plane"), habits.index)


def shape(draw: Draw, count: int) -> tuple[int, int]:
    """Width and height of a plane of about so many elements, of no more than that; an image may be so large."""
    width = max(1, -(-count // MOST_ACROSS), min(count, MOST_ACROSS, int(math.sqrt(count) * draw.log_real(1 / 8, 8))))
    return width, max(1, count // width)


def rectangle(wish: Wish, most_items: int = 1 << 24) -> tuple[tuple[int, int], tuple[int, int] | None]:
    """Global and local size in two dimensions; follow from `items` and `local` alone."""
    aspects = Draw("rectangle", wish.items, wish.local or 0)
    items = max(1, min(wish.items, most_items))
    across = max(1, min(items, int(math.sqrt(items) * aspects.log_real(1 / 4, 4))))
    down = max(1, items // across)
    if wish.local is None:
        return (across, down), None
    wide = min(power_below(wish.local), aspects.choose((4, 8, 16, 32, 64, 256)))
    high = max(1, wish.local // wide)
    across = max(1, min(MOST_ACROSS // wide, round(across / wide)))
    down = max(1, min(MOST_ACROSS // high, round(down / high)))
    while across * wide * down * high > most_items and across * down > 1:
        across, down = (across // 2, down) if across >= down else (across, down // 2)
    return (across * wide, down * high), (wide, high)
