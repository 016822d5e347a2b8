"""Kernels that read one block of symbols after the other: what all of them have in common."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.composing.coverage import draw_coverage
from profiler.corpus.composing.drafting import Buffer, Parameter, Parts, Scalar, drafted
from profiler.corpus.composing.hand import Hand
from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft


class Block:
    """Of a kernel each of whose elements is a block of so many symbols in a row."""

    def __init__(self, draw: Draw, types: tuple[str, ...], longest: int = 1024) -> None:
        self.draw, self.hand = draw, Hand(draw)
        self.hand.reserve("a", "b", "x", "y", "block", "to_block", "left2")
        self.type = draw.choose(types, "type")
        self.cover = draw_coverage(draw, self.hand)
        name = self.hand.name
        self.x, self.out, self.length, self.j = name("input"), name("output"), name("block length"), name("loop")
        self.longest = longest
        self.parameters: list[Parameter] = []
        self.i = self.cover.index
        pointer = (
            draw.choose(("index", "pointer", "strided"), "reading")
            if self.cover.count
            else draw.choose(("index", "pointer"))
        )
        self.head = ""
        self.symbol = f"{self.x}[(size_t){self.i} * {self.length} + {{}}]"
        if pointer == "pointer":
            self.head = (
                f"{self.hand.globally} const {self.type} *block = {self.x} + (size_t){self.i} * {self.length};\n"
            )
            self.symbol = "block[{}]"
        elif pointer == "strided":
            self.symbol = f"{self.x}[(size_t)({{}}) * {self.cover.count} + {self.i}]"

    def at(self, index: str) -> str:
        return self.symbol.format(index)

    def finished(self, title: tuple[str, ...], body: str, fill: Fill, outputs: list[Parameter], cost: float) -> Draft:
        parameters = [
            Buffer(self.x, self.type, lambda s: (s.bound + 1) * s.of(self.length), fill),
            *outputs,
            Scalar(self.length, "int", lambda d: d.log_integer(4, self.longest)),
            *self.parameters,
        ]
        parts = Parts(
            title,
            self.cover,
            parameters,
            self.head + body,
            lambda s: cost * s.of(self.length),
            data_per_element=lambda scalars: float(scalars[self.length]),
        )
        return drafted(self.draw, self.hand, parts)

    def rows(self, name: str, type_: str) -> Buffer:
        """As many outputs as inputs."""
        return Buffer(name, type_, lambda s: (s.bound + 1) * s.of(self.length), None, True)
