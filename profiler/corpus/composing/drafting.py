"""From parts to a draft: the signature, the kernel's text, and launches whose buffers hold what the kernel touches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from model.launch.launch import Fill, Launch, Number
from profiler.corpus.composing.coverage import Coverage, Extent
from profiler.corpus.composing.hand import Hand
from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish
from profiler.corpus.writing.types import bytes_of

MOST_BYTES = 180_000_000  # of all buffers together


@dataclass(frozen=True, slots=True)
class Sizes:
    """What is known of a launch when its buffers' lengths are asked for."""

    extent: Extent
    scalars: Mapping[str, Number]

    @property
    def bound(self) -> int:
        """Indices of elements lie below it."""
        return self.extent.bound

    def of(self, name: str) -> int:
        return int(self.scalars[name])


@dataclass(frozen=True, slots=True)
class Buffer:
    """`length` in elements of `type`; `fill` may depend on the sizes."""

    name: str
    type: str
    length: Callable[[Sizes], int]
    fill: Fill | Callable[[Draw, Sizes], Fill] | None = None
    is_written: bool = False
    is_constant: bool = False


@dataclass(frozen=True, slots=True)
class Scalar:
    """`value` is drawn for each launch."""

    name: str
    type: str
    value: Callable[[Draw], Number]


@dataclass(frozen=True, slots=True)
class LocalBuffer:
    """A local pointer among the parameters: so many elements for each work-item of the group, and some beside."""

    name: str
    type: str
    per_item: int = 1
    beside: int = 0


Parameter = Buffer | Scalar | LocalBuffer


@dataclass(frozen=True, slots=True)
class Parts:
    """A kernel before it is text. `body` works on one element; without a coverage's frame it is the whole kernel.

    `operations` per element covered. `data_per_element` is how many of the wished data one element stands for.
    """

    title: tuple[str, ...]
    coverage: Coverage
    parameters: Sequence[Parameter]
    body: str
    operations: Callable[[Sizes], float]
    helpers: str = ""
    before: str = ""  # in the kernel, ahead of the coverage
    is_framed: bool = True
    data_per_element: Callable[[Mapping[str, Number]], float] = field(default=lambda _: 1.0)
    options: tuple[str, ...] = ()
    in_place: tuple[str, ...] = ()
    images: Callable[[Sizes], tuple[tuple[str, tuple[int, int, int]], ...]] = field(default=lambda _: ())
    image_parameters: tuple[str, ...] = ()
    attribute: str = ""


def each(sizes: Sizes) -> int:
    """Return a buffer's length: as many as there are elements."""
    return sizes.bound


def times(count: int) -> Callable[[Sizes], int]:
    """So many for each element."""
    return lambda sizes: sizes.bound * count


def flat(count: float) -> Callable[[Sizes], float]:
    """Return the same number of operations for each element."""
    return lambda _: count


def just(count: int) -> Callable[[Sizes], int]:
    """Return a buffer's length that depends on nothing."""
    return lambda _: count


def drafted(draw: Draw, hand: Hand, parts: Parts) -> Draft:
    name = hand.kernel_name(*parts.title)
    return Draft(_source(draw, hand, parts, name), name, _launcher(parts), parts.options, parts.in_place)


def _source(draw: Draw, hand: Hand, parts: Parts, name: str) -> str:
    declared = [*parts.image_parameters, *(_declaration(hand, p) for p in parts.parameters)]
    counts = list(parts.coverage.parameters)
    declared = [*counts, *declared] if draw.chance(0.15) else [*declared, *counts]
    between = draw.weighted({", ": 3.0, ",\n": 1.0})
    body = parts.coverage.write(parts.body) if parts.is_framed else parts.body
    fixed = parts.coverage.groups.fixed
    attribute = parts.attribute or (
        f"__attribute__((reqd_work_group_size({fixed}, 1, 1)))" if fixed and draw.chance(0.6) else ""
    )
    head = " ".join(part for part in (hand.kernel, attribute, f"void {name}") if part)
    signature = f"{head}({between.join(declared)}) {{"
    text = f"{hand.macros()}\n{parts.helpers}\n\n{signature}\n{parts.before}\n{body}\n}}"
    return hand.laid_out(text)


def _declaration(hand: Hand, parameter: Parameter) -> str:
    match parameter:
        case Scalar():
            return f"const {parameter.type} {parameter.name}" if hand.is_const else f"{parameter.type} {parameter.name}"
        case LocalBuffer():
            return f"{hand.locally} {parameter.type} *{parameter.name}"
        case Buffer():
            if parameter.is_constant:
                return f"{hand.constantly} {parameter.type} *{parameter.name}"
            const = "const " if hand.is_const and not parameter.is_written else ""
            restrict = "restrict " if hand.is_restrict else ""
            return f"{hand.globally} {const}{parameter.type} *{restrict}{parameter.name}"


def _launcher(parts: Parts) -> Callable[[Draw, Wish], Sized]:
    buffers = [p for p in parts.parameters if isinstance(p, Buffer)]

    def launch(draw: Draw, wish: Wish) -> Sized:
        scalars: dict[str, Number] = {p.name: p.value(draw) for p in parts.parameters if isinstance(p, Scalar)}
        per_element = max(1.0, parts.data_per_element(scalars))
        items, data = wish.items, max(1, int(wish.data / per_element))
        while True:
            extent = parts.coverage.extent(items, data, wish.local)
            sizes = Sizes(extent, {**scalars, **dict(extent.scalars)})
            lengths = {b.name: max(1, b.length(sizes)) for b in buffers}
            total = sum(lengths[b.name] * bytes_of(b.type) for b in buffers)
            if total <= MOST_BYTES or max(items, data) == 1:
                break
            if parts.coverage.has_count and data > 1:
                data //= 2
            else:
                items = max(1, items // 2)
        slack = draw.weighted({0: 6.0, 1: 1.0, 64: 1.0, 1000: 1.0})
        fills = {b.name: b.fill(draw, sizes) if callable(b.fill) else b.fill for b in buffers}
        return Sized(
            Launch(
                global_size=extent.global_size,
                local_size=extent.local_size,
                scalars=tuple(sizes.scalars.items()),
                buffers=tuple((name, length + slack * (fills[name] is None)) for name, length in lengths.items()),
                images=parts.images(sizes),
                local_bytes=tuple(_local_bytes(parts, extent)),
                fills=tuple((name, fill) for name, fill in fills.items() if fill is not None),
            ),
            extent.busy * max(1.0, parts.operations(sizes)) + extent.items,
        )

    return launch


def _local_bytes(parts: Parts, extent: Extent) -> list[tuple[str, int]]:
    size = 1
    for part in extent.local_size or (1,):
        size *= part
    return [
        (p.name, (p.per_item * size + p.beside) * bytes_of(p.type))
        for p in parts.parameters
        if isinstance(p, LocalBuffer)
    ]
