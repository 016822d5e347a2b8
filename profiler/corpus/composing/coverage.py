"""How work-items cover elements: one each behind a guard, several each, in a grid-stride loop, in two dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from profiler.corpus.composing.hand import Hand
from profiler.corpus.draw import Draw
from profiler.corpus.logarithm import exp2, log2

WHOLE_LOOPS = frozenset({"stride", "range", "tiles"})  # every element is covered, however few the work-items
COUNTED = frozenset({"guard", "leave", "stride", "range", "chunk", "spaced", "reversed", "padded", "tiles"})
FLAT = ("exact", "guard", "leave", "stride", "range", "chunk", "spaced", "reversed", "grouped")
GROUPWISE = ("exact", "padded", "tiles")  # all items of a group come to every barrier
WEIGHTS = {
    "exact": 2.0,
    "guard": 3.0,
    "leave": 3.0,
    "stride": 3.0,
    "range": 1.0,
    "chunk": 1.0,
    "spaced": 1.0,
    "reversed": 0.4,
    "grouped": 0.6,
    "plane": 1.2,
}
_GROUPWISE_WEIGHTS = {"exact": 1.0, "padded": 2.0, "tiles": 1.0}


@dataclass(frozen=True, slots=True)
class Groups:
    """Which local sizes a kernel allows: any (`fixed` 0), powers of two up to `most`, or just `fixed`."""

    fixed: int = 0
    is_power: bool = False
    most: int = 1024

    def size(self, wished: int | None) -> int | None:
        if self.fixed:
            return self.fixed
        if not self.is_power:
            return None if wished is None else min(wished, self.most)
        return 1 << (min(wished or 64, self.most).bit_length() - 1)


@dataclass(frozen=True, slots=True)
class Extent:
    """What a wish came to. `covered` elements are worked on; their indices lie below `bound`.

    `busy` counts the times that the body is run: of a group that comes to barriers all items do what one does.
    """

    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    bound: int
    covered: int
    busy: int
    scalars: tuple[tuple[str, int], ...] = ()

    @property
    def items(self) -> int:
        return prod(self.global_size)

    @property
    def groups(self) -> int:
        return self.items // prod(self.local_size) if self.local_size else self.items


@dataclass(frozen=True, slots=True)
class Coverage:
    """`leave` is the statement that goes on to the next element, or ends the work-item where it has but one.

    `padded` and `tiles` give every item of a group an index, also beyond the count: the body is to look.
    """

    form: str
    type: str  # of the index
    index: str
    count: str
    width: str
    height: str
    per_item: int
    groups: Groups
    split: float  # of the logarithm of the work-items, which part lies in dimension 0

    @property
    def leave(self) -> str:
        return "continue;" if self.form in WHOLE_LOOPS | {"chunk", "spaced"} else "return;"

    @property
    def has_count(self) -> bool:
        return self.form in COUNTED or self.form == "plane"

    @property
    def parameters(self) -> tuple[str, ...]:
        """Declarations of the scalars that the coverage needs."""
        if self.form == "plane":
            return (f"const int {self.width}", f"const int {self.height}")
        # A size_t cannot be a kernel's argument.
        kind = "uint" if self.type == "size_t" else self.type
        return (f"{kind} {self.count}",) if self.form in COUNTED else ()

    def write(self, body: str) -> str:
        """Return the kernel's body around what is done for one element."""
        t, i, n = self.type, self.index, self.count
        match self.form:
            case "exact" | "padded":
                return f"{t} {i} = get_global_id(0);\n{body}"
            case "tiles":
                return (
                    f"for ({t} base = get_group_id(0) * get_local_size(0); base < {n}; base += get_global_size(0)) {{\n"
                    f"const {t} {i} = base + get_local_id(0);\n{body}\n}}"
                )
            case "grouped":
                return f"{t} {i} = get_group_id(0) * get_local_size(0) + get_local_id(0);\n{body}"
            case "guard":
                return f"{t} {i} = get_global_id(0);\nif ({i} < {n}) {{\n{body}\n}}"
            case "leave":
                return f"const {t} {i} = get_global_id(0);\nif ({i} >= {n}) return;\n{body}"
            case "reversed":
                return f"{t} {i} = {n} - 1 - ({t})get_global_id(0);\nif (get_global_id(0) >= {n}) return;\n{body}"
            case "stride":
                return f"for ({t} {i} = get_global_id(0); {i} < {n}; {i} += get_global_size(0)) {{\n{body}\n}}"
            case "range":
                share = f"({n} + ({t})get_global_size(0) - 1) / ({t})get_global_size(0)"
                return (
                    f"const {t} share = {share};\nconst {t} first = share * ({t})get_global_id(0);\n"
                    f"const {t} last = min(first + share, ({t}){n});\n"
                    f"for ({t} {i} = first; {i} < last; {i}++) {{\n{body}\n}}"
                )
            case "chunk":
                first = f"({t})get_global_id(0) * {self.per_item}"
                return (
                    f"for ({t} part = 0; part < {self.per_item}; part++) {{\nconst {t} {i} = {first} + part;\n"
                    f"if ({i} >= {n}) break;\n{body}\n}}"
                )
            case "spaced":
                return (
                    f"{t} at = get_global_id(0);\nfor (int part = 0; part < {self.per_item}; part++) {{\n"
                    f"const {t} {i} = at + part * get_global_size(0);\nif ({i} < {n}) {{\n{body}\n}}\n}}"
                )
            case _:
                return (
                    f"const int col = get_global_id(0);\nconst int row = get_global_id(1);\n"
                    f"if (col >= {self.width} || row >= {self.height}) return;\n"
                    f"const {t} {i} = row * {self.width} + col;\n{body}"
                )

    def extent(self, items: int, data: int, local: int | None) -> Extent:
        """Return the sizes for `data` elements; the global size does not depend on them."""
        size = self.groups.size(local)
        if self.form == "plane":
            return self._plane(items, data, size)
        total = items if size is None else -(-items // size) * size
        shape = None if size is None else (size,)
        if self.form not in COUNTED:
            return Extent((total,), shape, total, total, total)
        covered = data if self.form in WHOLE_LOOPS else min(data, total * self.per_item)
        busy = max(covered, total) if self.form in GROUPWISE else covered
        return Extent((total,), shape, data, covered, busy, ((self.count, data),))

    def _plane(self, items: int, data: int, size: int | None) -> Extent:
        across = max(1, min(items, round(exp2(self.split * log2(items)))))
        down = max(1, items // across)
        shape = None
        if size is not None:
            tall = max(1, min(1 << int((1 - self.split) * size.bit_length()), size))
            while size % tall:
                tall -= 1
            shape = (size // tall, tall)
            across, down = (-(-a // s) * s for a, s in zip((across, down), shape, strict=True))
        width = max(1, min(data, round(exp2(self.split * log2(data)))))
        height = max(1, data // width)
        covered = min(width, across) * min(height, down)
        counts = ((self.width, width), (self.height, height))
        return Extent((across, down), shape, width * height, covered, covered, counts)


def draw_coverage(draw: Draw, hand: Hand, *, forms: tuple[str, ...] = (), groups: Groups | None = None) -> Coverage:
    """Of all forms or of those given; a local size may be anything unless `groups` says otherwise."""
    known = _GROUPWISE_WEIGHTS if "padded" in forms else WEIGHTS
    weights = {f: w for f, w in known.items() if not forms or f in forms}
    form = draw.weighted(weights, "coverage")
    type_ = draw.weighted({"int": 5, "uint": 2, "size_t": 2}, "index_type")
    if form in {"reversed", "plane"}:
        type_ = "int"
    per_item = draw.choose((2, 4, 4, 8, 16), "per_item") if form in {"chunk", "spaced"} else 1
    return Coverage(
        form,
        type_,
        hand.name("index"),
        hand.name("count") if form in COUNTED else "",
        hand.name("width") if form == "plane" else "",
        hand.name("height") if form == "plane" else "",
        per_item,
        groups or Groups(),
        draw.real(0.3, 0.8),
    )
