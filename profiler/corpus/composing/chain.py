"""One kernel while it grows: its current values, statements, parameters, helpers and how much work they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from model.launch.launch import Fill, Number
from profiler.corpus.composing.coverage import Coverage
from profiler.corpus.composing.drafting import Buffer, LocalBuffer, Parameter, Scalar, Sizes
from profiler.corpus.composing.hand import Hand
from profiler.corpus.composing.mixing import mixture
from profiler.corpus.draw import Draw
from profiler.corpus.expressions import cost
from profiler.corpus.writing.types import base_type, bytes_of, is_real, lanes

Work = Callable[[Sizes], float]
FENCE = "barrier(CLK_LOCAL_MEM_FENCE);"
REAL_LIMIT = 4.0  # values of floating-point types stay within it from stage to stage, see `profiler.corpus.expressions`
MOST_LOCAL_BYTES = 24_000


class Chain:
    """Stages append to it. `names` are the variables of type `type` that later stages may read.

    `at` is an index that lies inside of every buffer with one value an element.
    """

    def __init__(self, draw: Draw, hand: Hand, cover: Coverage, type_: str) -> None:
        self.draw, self.hand, self.cover, self.type = draw, hand, cover, type_
        self.names: list[str] = []
        self.lines: list[str] = []
        self.before: list[str] = []
        self.helpers: list[str] = []
        self.parameters: list[Parameter] = []
        self.image_parameters: list[str] = []
        self.images: list[str] = []
        self.work: list[Work] = []
        self.data_scalars: list[str] = []  # whose product says how much data an element stands for
        self.local_bytes = 0
        self.repeats: Work = lambda _: 1.0
        self.is_group_wise = cover.form in {"padded", "tiles"} or cover.groups.is_power or bool(cover.groups.fixed)
        self.at = cover.index
        if cover.form in {"padded", "tiles"}:
            self.at = hand.fresh("inside")
            self.lines.append(f"const int {self.at} = min((int){cover.index}, (int){cover.count} - 1);")

    @property
    def value(self) -> str:
        return self.names[-1]

    @property
    def base(self) -> str:
        return base_type(self.type)

    @property
    def is_real(self) -> bool:
        return is_real(self.type)

    @property
    def is_scalar(self) -> bool:
        return lanes(self.type) == 1

    @property
    def total(self) -> str:
        """How many elements there are, as an int."""
        if self.cover.form == "plane":
            return f"{self.cover.width} * {self.cover.height}"
        return f"(int){self.cover.count}" if self.cover.count else "(int)get_global_size(0)"

    def real(self, value: float) -> str:
        return self.hand.literal(value, self.base)

    def whole(self, value: float) -> str:
        """Of the chain's type, also where that is a vector."""
        text = self.real(value)
        return text if self.is_scalar else f"({self.type})({text})"

    def add(self, text: str, *, repeated: float = 1.0) -> None:
        self.lines.append(text)
        amount = (1.0 + cost(text)) * repeated
        self.spend(lambda _: amount)

    def spend(self, work: Work) -> None:
        repeats = self.repeats
        self.work.append(lambda sizes: work(sizes) * repeats(sizes))

    def declare(self, role: str, text: str) -> str:
        """Return a new variable, which becomes the current value."""
        name = self.hand.fresh(role)
        const = "const " if self.draw.chance(0.25) else ""
        self.add(f"{const}{self.type} {name} = {text};")
        self.names.append(name)
        return name

    def variable(self, role: str, text: str) -> str:
        """Return the same, to be assigned to later."""
        name = self.hand.fresh(role)
        self.add(f"{self.type} {name} = {text};")
        self.names.append(name)
        return name

    def buffer(
        self,
        role: str,
        type_: str,
        length: Callable[[Sizes], int],
        fill: Fill | Callable[[Draw, Sizes], Fill] | None = None,
        *,
        is_written: bool = False,
        is_constant: bool = False,
    ) -> str:
        name = self.hand.fresh(role)
        self.parameters.append(Buffer(name, type_, length, fill, is_written, is_constant))
        return name

    def scalar(self, role: str, type_: str, value: Callable[[Draw], Number]) -> str:
        name = self.hand.fresh(role)
        self.parameters.append(Scalar(name, type_, value))
        return name

    def local_array(self, role: str, type_: str, per_item: int = 1) -> str:
        """Room for each item of the group."""
        name = self.hand.fresh(role)
        fixed = self.cover.groups.fixed
        self.local_bytes += bytes_of(type_) * per_item * (fixed or self.cover.groups.most)
        if fixed:
            self.before.append(f"{self.hand.locally} {type_} {name}[{fixed * per_item}];")
        else:
            self.parameters.append(LocalBuffer(name, type_, per_item))
        return name

    def has_room(self, type_: str, per_item: int = 1) -> bool:
        size = self.cover.groups.fixed or self.cover.groups.most
        return self.local_bytes + bytes_of(type_) * per_item * size <= MOST_LOCAL_BYTES

    def once(self, text: str) -> None:
        """Add a line at the kernel's beginning, once however many stages ask for it."""
        if text not in self.before:
            self.before.append(text)

    def lane(self) -> str:
        name = self.hand.name("lane")
        self.once(f"const int {name} = get_local_id(0);")
        return name

    def local_size(self) -> str:
        name = self.hand.name("local size")
        self.once(f"const int {name} = get_local_size(0);")
        return name

    def helper(self, text: str) -> None:
        self.helpers.append(text)

    def bounded(self, text: str, most: float) -> str:
        """Return an expression whose magnitude is at most `most`, brought back to what values may be."""
        if not self.is_real or most <= REAL_LIMIT:
            return text
        if most <= 64 and self.draw.chance(0.6):
            share = self.real(float(f"{REAL_LIMIT / most:.2g}"))
            return f"{text} * {share}" if text.isidentifier() else f"({text}) * {share}"
        return f"clamp({text}, {self.whole(-REAL_LIMIT)}, {self.whole(REAL_LIMIT)})"

    def settle(self, name: str, most: float) -> None:
        """Bring a variable back to what values may be."""
        text = self.bounded(name, most)
        if text != name:
            self.add(f"{name} = {text};")

    def carried(self, name: str, others: Sequence[str], depth: int) -> str:
        """Return an expression that depends on the variable to which it is assigned.

        So no loop around it is in vain.
        """
        return mixture(self.draw, self.hand, [name], self.type, depth, others)

    def unused(self) -> Sequence[str]:
        """Values of which nothing was made yet, other than new values of the same variable."""
        lines = "\n".join(self.lines).splitlines()

        def is_used(name: str) -> bool:
            own = re.compile(rf"\s*(const )?({self.type} )?{name} [-+*^|&]?= ")
            return any(re.search(rf"\b{name}\b", line) for line in lines if not own.match(line))

        return [n for n in dict.fromkeys(self.names) if not is_used(n)]

    def recent(self, count: int = 3) -> Sequence[str]:
        return self.names[-count:]
