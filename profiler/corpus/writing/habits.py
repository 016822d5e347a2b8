"""A programmer who cares how work is shared: habits drawn once, so that a kernel looks like one person's work.

One of three, see `profiler.corpus.writing.hand`. What is chosen here changes the program's structure: forms of loops,
guards, index types, fused arithmetic, the share of the work that an item takes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression
from profiler.corpus.writing.ndrange import Range
from profiler.corpus.writing.types import base_type, is_real

Text = Callable[[str], str]  # a piece of program about the index of that name
PlaneText = Callable[[str, str], str]

_SUFFIX = {"float": ".0f", "double": ".0", "uint": "u", "ulong": "ul", "long": "l"}


def literal(kind: str, value: float) -> str:
    """Return a constant of that type; vectors are made of a constant of their elements' type."""
    scalar = base_type(kind)
    if is_real(kind):
        text = f"{value:.6g}"
        text = text if "." in text or "e" in text else text + ".0"
        text += "f" if scalar == "float" else ""
    else:
        text = f"{int(value)}{_SUFFIX.get(scalar, '')}"
    return f"({kind})({text})" if scalar != kind else text


@dataclass(frozen=True, slots=True)
class Cover:
    """How a kernel's items come by the elements; `done(range, counts)` is how many elements they get through.

    Without a guard (`is_exact`) there must be as many elements as items in each dimension.
    """

    text: str
    dimensions: int
    done: Callable[[Range, tuple[int, ...]], int]
    is_exact: bool = False

    def fit(self, size: Range, *counts: int) -> tuple[int, ...]:
        """Return the counts that this launch may have, given like the dimensions, the first being x."""
        return tuple(size.global_size) if self.is_exact else counts


class Hand:
    """Habits, and the stream that all else is drawn from."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.index = draw.weighted({"int": 5, "uint": 2, "size_t": 2}, "index")
        self.is_const, self.is_restrict = draw.chance(0.7), draw.chance(0.35)
        self.leaves_early = draw.chance(0.4, "early return")
        self.fused = draw.weighted({"+=": 5, "fma": 2, "mad": 2, "=": 1}, "multiply-add")
        forms = {"for": 5, "while": 1, "backwards": 0.7, "pragma": 1.5, "by hand": 2.5, "do": 0.5}
        self.form = draw.weighted(forms, "loop")
        self.unroll = draw.choose((2, 4, 8), "unroll")
        self.count_type = {"int": "int", "uint": "uint"}.get(self.index, draw.choose(("int", "uint", "ulong")))

    # ---- declarations
    def reads(self, kind: str, name: str) -> str:
        return f"__global {'const ' * self.is_const}{kind}*{' restrict' * self.is_restrict} {name}"

    def writes(self, kind: str, name: str) -> str:
        return f"__global {kind}*{' restrict' * self.is_restrict} {name}"

    def counts(self, *names: str) -> list[str]:
        return [f"{'const ' * (not self.is_const)}{self.count_type} {name}" for name in names]

    def signature(self, name: str, parameters: list[str], local: tuple[int, ...] | None = None) -> str:
        """Return the line before the body; with a fixed local size where the kernel is written for one."""
        order = self.draw.weighted({"as they come": 5, "scalars first": 1, "outputs first": 2}, "parameters")
        if order == "scalars first":
            parameters = sorted(parameters, key=lambda p: "*" in p)
        elif order == "outputs first":
            parameters = sorted(parameters, key=lambda p: "const" in p or "*" not in p)
        sizes = ", ".join(map(str, (*(local or ()), 1, 1)[:3]))
        fixed = f"__attribute__((reqd_work_group_size({sizes})))\n" if local else ""
        return f"__kernel {fixed}void {name}({', '.join(parameters)})"

    def item(self, name: str, dimension: int = 0) -> str:
        """Declare the item's index."""
        d = dimension
        value = self.draw.weighted(
            {f"get_global_id({d})": 6, f"get_group_id({d}) * get_local_size({d}) + get_local_id({d})": 1}
        )
        return f"{'const ' * self.draw.chance(0.5)}{self.index} {name} = {value};"

    # ---- statements
    def guard(self, limits: dict[str, str], body: str) -> str:
        """`body` for the items whose indices lie below their limits; no barrier may follow."""
        if self.leaves_early:
            return f"if ({' || '.join(f'{name} >= {end}' for name, end in limits.items())})\nreturn;\n{body}"
        return f"if ({' && '.join(f'{name} < {end}' for name, end in limits.items())}) {{\n{body}\n}}"

    def loop(self, name: str, start: str, stop: str, body: Text, step: str = "1", form: str | None = None) -> str:
        """Return a loop from `start` to before `stop`, mostly in this hand's favourite form unless `form` is given.

        `body` must not leave it nor skip, and ends in a newline or brace.
        """
        form = form or (self.form if self.draw.chance(0.7) else "for")
        if step != "1" and form in ("backwards", "by hand", "pragma"):
            form = "for"
        kind = self.index
        forward = f"{name} += {step}" if step != "1" else ("++" + name if self.leaves_early else name + "++")
        match form:
            case "while":
                return f"{{\n{kind} {name} = {start};\nwhile ({name} < {stop}) {{\n{body(name)}\n{forward};\n}}\n}}"
            case "do":
                inner = f"do {{\n{body(name)}\n{forward};\n}} while ({name} < {stop});"
                return f"{{\n{kind} {name} = {start};\nif ({name} < {stop}) {{\n{inner}\n}}\n}}"
            case "backwards":
                return f"for ({kind} {name} = {stop}; {name}-- > {start}; ) {{\n{body(name)}\n}}"
            case "by hand" if len(body(name)) < 300:
                return self._unrolled(name, start, stop, body)
            case _:
                hint = f"#pragma unroll {self.unroll}\n" if form == "pragma" else ""
                return f"{hint}for ({kind} {name} = {start}; {name} < {stop}; {forward}) {{\n{body(name)}\n}}"

    def _unrolled(self, name: str, start: str, stop: str, body: Text) -> str:
        count = self.unroll if len(body(name)) < 120 else 2
        copies = "\n".join(_block(body(f"({name} + {k})" if k else name)) for k in range(count))
        return (
            f"{{\n{self.index} {name} = {start};\n"
            f"for (; {name} + {count - 1} < {stop}; {name} += {count}) {{\n{copies}\n}}\n"
            f"for (; {name} < {stop}; ++{name}) {{\n{body(name)}\n}}\n}}"
        )

    def repeat(self, count: int, body: Text, name: str = "r") -> str:
        """Return a short loop of known length, or so many copies."""
        form = self.draw.weighted({"copies": 1 if count <= 8 else 0, "for": 1, "pragma": 1})
        if form == "copies":
            return "\n".join(_block(body(str(k))) for k in range(count))
        hint = "#pragma unroll\n" if form == "pragma" else ""
        return f"{hint}for (int {name} = 0; {name} < {count}; ++{name}) {{\n{body(name)}\n}}"

    def add_product(self, total: str, a: str, b: str, kind: str) -> str:
        if self.fused in ("fma", "mad") and is_real(kind):
            return f"{total} = {self.fused}({a}, {b}, {total});"
        return f"{total} = {total} + {a} * {b};" if self.fused == "=" else f"{total} += {a} * {b};"

    def mapping(self, kind: str, chance: float = 0.4) -> Text:
        """Return what is made of each element, if anything; floats must lie within -4 .. 4, and then do so again."""
        if not self.draw.chance(chance):
            return lambda value: value
        text = f"({expression(self.draw, ['VALUE'], kind, self.draw.integer(1, 2))})"
        return lambda value: text.replace("VALUE", value)

    def finished(self, value: str, kind: str) -> str:
        """Return a sum of any magnitude, or what is to be kept of it."""
        one, zero = literal(kind, 1), literal(kind, 0)
        whole = {value: 6.0, f"max({value}, {zero})": 1, f"({value} > {one} ? {value} : {zero})": 1}
        real = {f"fabs({value})": 1, f"sqrt(fabs({value}))": 1, f"{value} * {literal(kind, 0.125)}": 1}
        real[f"{value} / ({one} + fabs({value}))"] = 1
        return self.draw.weighted({**whole, **(real if is_real(kind) else {f"({value} >> 2)": 1})})

    # ---- shares of the work
    def cover(self, name: str, count: str, body: Text, may_be_exact: bool = True) -> Cover:
        """Return all of 0 .. `count` - 1 over a line of items; `body` has no barrier and is given `name` itself."""
        form = self.draw.weighted(
            {"one": 5, "stride": 3, "block": 1, "few": 1.5, "exact": 0.7 if may_be_exact else 0}, "share"
        )
        item = self.item(name)
        match form:
            case "one":
                return Cover(f"{item}\n{self.guard({name: count}, body(name))}", 1, lambda r, n: min(r.items, n[0]))
            case "exact":
                return Cover(f"{item}\n{body(name)}", 1, lambda r, n: r.items, is_exact=True)
            case "stride":
                loop = self.loop(name, "get_global_id(0)", count, body, "get_global_size(0)")
                return Cover(loop, 1, lambda r, n: n[0])
            case "block":
                share = f"{self.index} share = ({count} + get_global_size(0) - 1) / get_global_size(0);"
                first = f"{self.index} first = get_global_id(0) * share;"
                last = f"{self.index} last = min(({self.index})(first + share), ({self.index}){count});"
                loop = self.loop(name, "first", "last", body, form="for")
                return Cover(f"{share}\n{first}\n{last}\n{loop}", 1, lambda r, n: n[0])
        each = self.draw.choose((2, 3, 4, 8), "elements an item")
        next_to = self.draw.chance(0.5)
        at = f"get_global_id(0) * {each} + r" if next_to else "get_global_id(0) + r * get_global_size(0)"
        share = f"{self.index} {name} = {at};\nif ({name} < {count}) {{\n{body(name)}\n}}"
        loop = f"for (int r = 0; r < {each}; ++r) {{\n{share}\n}}"
        return Cover(loop, 1, lambda r, n: min(r.items * each, n[0]))

    def cover_plane(self, x: tuple[str, str], y: tuple[str, str], body: PlaneText, may_be_exact: bool = True) -> Cover:
        """Return all cells of a plane; each of `x` and `y` is an index with its count, `body` takes x and y."""
        forms = {"plane": 5.0, "exact": 1.0 * may_be_exact, "flat": 2, "strides": 1, "rows": 0.8, "swapped": 1}
        form = self.draw.weighted(forms, "share")
        (i, columns), (j, rows) = x, y
        if form == "flat":
            kind, inner = self.index, body(i, j)
            split = f"{kind} {j} = {{cell}} / {columns};\n{kind} {i} = {{cell}} % {columns};\n"
            flat = self.cover("cell", f"{rows} * {columns}", lambda c: split.format(cell=c) + inner, False)
            return Cover(flat.text, 1, lambda r, n: flat.done(r, (n[0] * n[1],)))
        if form == "rows":
            line = self.cover(j, rows, lambda _: self.loop(i, "0", columns, lambda k: body(k, j), form="for"), False)
            return Cover(line.text, 1, lambda r, n: line.done(r, (n[1],)) * n[0])
        if form == "strides":
            inner = self.loop(i, "get_global_id(0)", columns, lambda k: body(k, j), "get_global_size(0)", "for")
            outer = self.loop(j, "get_global_id(1)", rows, lambda _: inner, "get_global_size(1)", "for")
            return Cover(outer, 2, lambda r, n: n[0] * n[1])
        first, second = self.item(i, 1 if form == "swapped" else 0), self.item(j, 0 if form == "swapped" else 1)
        if form == "exact":
            return Cover(f"{first}\n{second}\n{body(i, j)}", 2, lambda r, n: r.items, is_exact=True)
        text = f"{first}\n{second}\n{self.guard({i: columns, j: rows}, body(i, j))}"
        turn = -1 if form == "swapped" else 1
        return Cover(text, 2, lambda r, n: min(r.global_size[::turn][0], n[0]) * min(r.global_size[::turn][1], n[1]))


def _block(text: str) -> str:
    """Braces only where something is declared."""
    return f"{{\n{text}\n}}" if text.count(";") > 1 else text


def lay_out(source: str) -> str:
    """Indent by braces; blank lines go, but for those between functions."""
    depth, lines = 0, []
    for line in filter(None, map(str.strip, source.splitlines())):
        depth -= line.startswith("}")
        lines.append(line if line.startswith("#") else "    " * depth + line)
        depth += line.count("{") - line.count("}") + line.startswith("}")
    return "\n".join(lines) + "\n"
