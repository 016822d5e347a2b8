"""How work-items share the elements of a line: one each, several each, or a loop over the grid."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent, indent

from profiler.corpus.draw import Draw
from profiler.corpus.family import Wish
from profiler.corpus.writing.hand import Hand
from profiler.corpus.writing.sizes import line, within_memory


@dataclass(frozen=True, slots=True)
class Line:
    """Sizes of one launch; `done` of the `count` elements are worked on."""

    global_size: int
    local_size: int | None
    count: int
    done: int


@dataclass(frozen=True, slots=True)
class Walk:
    kind: str
    index: str
    per_item: int = 1

    def write(self, body: str, i: str = "i", n: str = "n") -> str:
        """Code that runs `body` for the elements `i` below `n`; it holds neither `continue` nor `return`."""
        body = dedent(body).strip("\n")
        inner = indent(body, "    ")
        kind, per = self.index, self.per_item
        match self.kind:
            case "exact":
                return f"{kind} {i} = get_global_id(0);\n{body}\n"
            case "guard":
                return f"{kind} {i} = get_global_id(0);\nif ({i} < {n}) {{\n{inner}\n}}\n"
            case "early":
                return f"const {kind} {i} = get_global_id(0);\nif ({i} >= {n})\n    return;\n{body}\n"
            case "grid":
                steps = f"{kind} {i} = get_global_id(0); {i} < {n}; {i} += get_global_size(0)"
                return f"for ({steps}) {{\n{inner}\n}}\n"
            case "grid_while":
                return (
                    f"const {kind} {i}_step = get_global_size(0);\n{kind} {i} = get_global_id(0);\n"
                    f"while ({i} < {n}) {{\n{inner}\n    {i} += {i}_step;\n}}\n"
                )
            case "chunk":
                return (
                    f"const {kind} {i}_begin = get_global_id(0) * {per};\n"
                    f"const {kind} {i}_end = min({i}_begin + {per}, ({kind}){n});\n"
                    f"for ({kind} {i} = {i}_begin; {i} < {i}_end; {i}++) {{\n{inner}\n}}\n"
                )
            case "share":  # as many for each item as there are elements to be shared
                return (
                    f"const {kind} per_item = ({n} + get_global_size(0) - 1) / get_global_size(0);\n"
                    f"const {kind} {i}_begin = get_global_id(0) * per_item;\n"
                    f"const {kind} {i}_end = min({i}_begin + per_item, ({kind}){n});\n"
                    f"for ({kind} {i} = {i}_begin; {i} < {i}_end; ++{i}) {{\n{inner}\n}}\n"
                )
            case _:
                return (
                    f"for (int turn = 0; turn < {per}; turn++) {{\n"
                    f"    const {kind} {i} = get_global_id(0) + turn * get_global_size(0);\n"
                    f"    if ({i} < {n}) {{\n{indent(inner, '    ')}\n    }}\n}}\n"
                )

    def size(self, wish: Wish, bytes_each: float, count: int | None = None) -> Line:
        """`count` elements where the kernel leaves it open, else as many as there are work-items."""
        most = within_memory(1 << 24, bytes_each)
        items, local = line(wish, most if self.kind == "exact" else 1 << 24)
        if self.kind == "exact":  # no guard: the buffers are as long as the global size
            return Line(items, local, items, items)
        count = within_memory(wish.data if count is None else count, bytes_each)
        reach = count if self.kind in ("grid", "grid_while", "share") else items * self.per_item
        return Line(items, local, count, min(reach, count))


def walk(draw: Draw, habits: Hand, *, exact: bool = True) -> Walk:
    kinds = {"guard": 3.0, "early": 2.0, "grid": 2.0, "grid_while": 1.0, "chunk": 1.5, "share": 1.0, "strided": 1.0}
    kind = draw.weighted({**kinds, "exact": 1.5} if exact else kinds, "walk")
    return Walk(kind, habits.index, draw.choose((2, 4, 8, 16)) if kind in ("chunk", "strided") else 1)
