"""What the items of a group do together: their local memory, and trees that combine its elements into the first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from profiler.corpus.family import Wish
from profiler.corpus.writing.habits import Hand
from profiler.corpus.writing.ndrange import Range, line
from profiler.corpus.writing.types import bytes_of

FENCE = "barrier(CLK_LOCAL_MEM_FENCE);"
Combine = Callable[[str, str], str]  # statements that add the second index' element to the first's


@dataclass(frozen=True, slots=True)
class Scratch:
    """Local arrays of so many elements an item, as arguments or of a fixed length."""

    parameters: list[str]
    declarations: str
    most: int  # items in a group
    fixed: int | None  # the group's only size
    element_bytes: Mapping[str, int]  # of arguments; an item's

    def range(self, wish: Wish, bytes_an_item: float = 1) -> Range:
        return line(wish, bytes_an_item, local=self.fixed, most=self.most, barriers=True)

    def bytes(self, size: Range) -> dict[str, int]:
        return {name: each * size.group for name, each in self.element_bytes.items()}

    @property
    def required(self) -> tuple[int] | None:
        return (self.fixed,) if self.fixed else None


def scratch(hand: Hand, arrays: Mapping[str, str], an_item: int = 1, form: str | None = None) -> Scratch:
    """`arrays` gives each name its type. Groups are powers of two. 16 KB at the most."""
    draw = hand.draw
    each = {name: bytes_of(kind) * an_item for name, kind in arrays.items()}
    largest = 1024
    while largest * sum(each.values()) > 16384:
        largest //= 2
    form = form or draw.weighted({"argument": 2, "array": 2, "fixed": 2}, "local memory")
    if form == "argument":
        return Scratch([f"__local {kind}* {name}" for name, kind in arrays.items()], "", largest, None, each)
    most = min(largest, draw.choose((32, 64, 128, 256, 256, 512), "local array"))
    length = str(most * an_item)
    text = "\n".join(f"__local {kind} {name}[{length}];" for name, kind in arrays.items())
    return Scratch([], text, most, most if form == "fixed" else None, {})


def tree(hand: Hand, combine: Combine, me: str = "l", size: str = "get_local_size(0)", fixed: int | None = None) -> str:
    """Combine `size` elements, a power of two, into the first; a barrier comes before it and another ends it.

    All items of the group must get here. `fixed` is the size where it is known, for trees without loops.
    """
    kinds = {"sequential": 3.0, "interleaved": 1, "scattered": 1, "first item": 0.6, "two levels": 0.6}
    kinds |= {"halving while": 1, "unrolled end": 1.5}
    kinds["no loop"] = 2 if fixed and fixed <= 256 else 0
    form = hand.draw.weighted(kinds, "tree")
    s = "int s" if hand.index == "int" else "uint s"
    step = combine(me, f"{me} + s")
    match form:
        case "sequential":
            half = hand.draw.choose((">>= 1", "/= 2"))
            return f"{FENCE}\nfor ({s} = {size} / 2; s > 0; s {half}) {{\nif ({me} < s) {{\n{step}\n}}\n{FENCE}\n}}"
        case "halving while":
            return f"{FENCE}\n{s} = {size};\nwhile (s > 1) {{\ns >>= 1;\nif ({me} < s) {{\n{step}\n}}\n{FENCE}\n}}"
        case "interleaved":
            test = hand.draw.choose((f"{me} % (2 * s) == 0", f"({me} & (2 * s - 1)) == 0"))
            return f"{FENCE}\nfor ({s} = 1; s < {size}; s *= 2) {{\nif ({test}) {{\n{step}\n}}\n{FENCE}\n}}"
        case "scattered":
            inner = f"uint at = 2 * s * {me};\nif (at < {size}) {{\n{combine('at', 'at + s')}\n}}"
            return f"{FENCE}\nfor ({s} = 1; s < {size}; s <<= 1) {{\n{inner}\n{FENCE}\n}}"
        case "first item":
            loop = f"for ({s} = 1; s < {size}; ++s) {{\n{combine('0', 's')}\n}}"
            return f"{FENCE}\nif ({me} == 0) {{\n{loop}\n}}\n{FENCE}"
        case "two levels":
            level = f"if ({me} % 8 == 0) {{\nfor ({s} = 1; s < min(8, (int){size}); ++s) {{\n{step}\n}}\n}}\n{FENCE}"
            last = f"if ({me} == 0) {{\nfor ({s} = 8; s < {size}; s += 8) {{\n{combine('0', 's')}\n}}\n}}\n{FENCE}"
            return f"{FENCE}\n{level}\n{last}"
    steps = [1 << k for k in range(9, -1, -1)]
    if form == "no loop":
        return "\n".join([FENCE, *(_step(combine, me, n, "") for n in steps if fixed and n < fixed)])
    first = f"for ({s} = {size} / 2; s > 16; s >>= 1) {{\nif ({me} < s) {{\n{step}\n}}\n{FENCE}\n}}"
    return "\n".join([FENCE, first, *(_step(combine, me, n, f" && {2 * n} <= {size}") for n in steps if n <= 16)])


def _step(combine: Combine, me: str, half: int, test: str) -> str:
    return f"if ({me} < {half}{test}) {{\n{combine(me, f'{me} + {half}')}\n}}\n{FENCE}"
