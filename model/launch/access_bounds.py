"""How far each buffer is accessed at most: every index between its bounds, narrowed by the conditions around it.

Where `Work.walk` tries some work-items and counts, this takes all of them at once, and the data with them.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from model.launch.bounds import Bounds, BoundsOf, Scope
from model.launch.fill import DEFAULT_FLOATS, DEFAULT_INTEGER_LIMIT
from model.launch.fill_target import fills_of
from model.launch.launch import Launch
from model.opencl.kernel import ParameterKind
from model.opencl.types import ArrayType, PointerType, ScalarKind, ScalarType, StructType, Type, VectorType
from model.work.expressions.contents import contents_of, held_at
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.numbers import Value
from model.work.expressions.symbolic import (
    GLOBAL_ID,
    GLOBAL_SIZE,
    GROUP_ID,
    LOCAL_ID,
    LOCAL_SIZE,
    NUM_GROUPS,
    ONE,
    Atom,
    Expression,
)
from model.work.regions.region import Access, Block, Branch, Loop
from model.work.work import Work, knowledge

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


@dataclass(slots=True)
class Span:
    """The bytes of a buffer that may be accessed, or texels of an image, from `low` to before `high`.

    Infinite where nothing bounds them.
    """

    low: Value
    high: Value


class AccessBounds:
    """One pass over a kernel's blocks; `spans` has every buffer that is accessed at all.

    Of what buffers hold it takes no more for granted than their fills say; and, where `usual` names them, what stands
    in buffers that nobody filled, or what it says stands in them.
    """

    def __init__(self, work: Work, launch: Launch, usual: Mapping[str, Bounds | None] | None = None) -> None:
        self._work = work
        self._known = knowledge(work.kernel, launch, work.parameters, work.tables)
        self._usual = usual or {}
        self._fills = launch.fills
        # Not `self._held`, which would hold all this until somebody searches for garbage: typing makes megabytes of it.
        this = weakref.proxy(self)
        self._bounds = BoundsOf(self._known, lambda atom: this._held(atom))  # noqa: PLW0108 - looked up when it is asked
        self._ids = _ids(self._known)

    @cached_property
    def spans(self) -> dict[str, Span]:
        """By buffer."""
        found: dict[str, Span] = {}

        def note(access: Access, scope: Scope) -> None:
            low, high = self._bounds.expression(access.offset, scope) if access.offset is not None else (0, math.inf)
            _widen(found.setdefault(access.buffer, Span(low, high)), low, high + access.element_bytes)

        self._visit(self._work.root, self._ids, note)
        return found

    @cached_property
    def texels(self) -> dict[str, list[Span]]:
        """Return the texels that may be accessed: for each image, a span for each of its coordinates."""
        found: dict[str, list[Span]] = {}

        def note(access: Access, scope: Scope) -> None:
            texel = access.offset.atom if access.is_image and access.offset is not None else None
            if texel is None or texel.kind != "texel":
                return
            coordinates = [self._bounds.expression(a, scope) for a in texel.arguments if isinstance(a, Expression)]
            spans = found.setdefault(access.buffer, [Span(low, high) for low, high in coordinates])
            for span, (low, high) in zip(spans, coordinates, strict=False):
                _widen(span, low, high + 1)

        self._visit(self._work.root, self._ids, note)
        return found

    @property
    def falls_short(self) -> bool:
        """Whether a place in front of a buffer may be accessed, as far as anything bounds it."""
        named = {p.name for p in self._work.kernel.of_kind(ParameterKind.BUFFER)}
        return any(-math.inf < span.low < 0 for name, span in self.spans.items() if name in named)

    def bounds(self, expression: Expression) -> Bounds:
        """Of an expression over ids and arguments, whatever the conditions."""
        return self._bounds.expression(expression, self._ids)

    def element_bytes(self, buffer: str) -> int:
        """Of a buffer's elements; 1 where that is not known."""
        parameter = self._work.kernel.parameter(buffer)
        kind = parameter.type if parameter is not None else None
        return max(1, kind.pointee.size_bytes) if isinstance(kind, PointerType) else 1

    def _visit(self, block: Block, scope: Scope, note: Callable[[Access, Scope], None]) -> None:
        for access in block.accesses:
            note(access, scope)
        for inner in block.inner:
            if isinstance(inner, Loop):
                self._loop(inner, scope, note)
            else:
                self._branch(inner, scope, note)

    def _loop(self, loop: Loop, scope: Scope, note: Callable[[Access, Scope], None]) -> None:
        most = self._bounds.expression(loop.trips, scope)[1]
        if most <= 0:
            return
        is_default = loop.leaves is not None or loop.trips.has("unknown")
        within: Scope | None = scope.where({loop.counter: (0, math.inf if is_default else most - 1)})
        if loop.leaves is not None and within is not None:
            limit = self._bounds.expression(loop.leaves.limit, within)[1] if loop.leaves.limit is not None else math.inf
            within = self._given(loop.leaves.before, within.where({loop.counter: (0, limit - 1)}), holds=False)
        if within is not None:
            self._visit(loop.body, within, note)

    def _branch(self, branch: Branch, scope: Scope, note: Callable[[Access, Scope], None]) -> None:
        for side, holds in ((branch.then, True), (branch.otherwise, False)):
            if side.accesses or side.inner:
                within = self._given(branch.condition, scope, holds=holds)
                if within is not None:
                    self._visit(side, within, note)

    # --- conditions --------------------------------------------------------------------------------------

    def _given(self, condition: Expression, scope: Scope, *, holds: bool) -> Scope | None:
        """`scope` where `condition` holds (or does not); None where that cannot be."""
        atom = condition.atom
        if atom is None:
            if condition.constant is None:
                return scope
            return scope if bool(condition.constant) == holds else None
        inner = [a for a in atom.arguments if isinstance(a, Expression)]
        if atom.kind == "not":
            return self._given(inner[0], scope, holds=not holds)
        if atom.kind in ("and", "or"):
            if (atom.kind == "and") != holds:
                return _either([self._given(part, scope, holds=holds) for part in inner], scope)
            for part in inner:
                within = self._given(part, scope, holds=holds)
                if within is None:
                    return None
                scope = within
            return scope
        match atom.kind:
            case "lt0":
                return self._below_zero(inner[0] if holds else -inner[0] - ONE, -1, scope)
            case "eq0" if holds:
                once = self._below_zero(inner[0], 0, scope)
                return self._below_zero(-inner[0], 0, once) if once is not None else None
            case "compare":
                word = str(atom.arguments[0])
                return self._compared(word if holds else _OPPOSITE.get(word, ""), inner, scope)
        return scope

    def _below_zero(self, expression: Expression, most: Value, scope: Scope) -> Scope | None:
        """Where `expression <= most`: each of its linear terms is bounded by what the others leave."""
        terms = [self._bounds.term(monomial, coefficient, scope) for monomial, coefficient in expression.terms]
        if sum(low for low, _ in terms) > most:
            return None
        found: dict[Atom, Bounds] = {}
        for place, (monomial, coefficient) in enumerate(expression.terms):
            if len(monomial) != 1 or not monomial[0].leaves:
                continue
            atom = monomial[0]
            if atom.kind == "symbol" and atom in self._known.symbols:
                continue
            rest = sum(low for low, _ in terms[:place]) + sum(low for low, _ in terms[place + 1 :])
            if not math.isfinite(rest):
                continue
            room = most - rest
            before = scope.said.get(atom) or self._bounds.atom(atom, scope)
            low, high = before
            if coefficient > 0:
                high = min(high, room // coefficient)
            else:
                low = max(low, -(room // -coefficient))
            if low > high:
                return None
            if (low, high) != before:
                found[atom] = (low, high)
        return scope.where(found)

    def _compared(self, word: str, sides: list[Expression], scope: Scope) -> Scope:
        """Floats that are held against each other, where one of them is a single value."""
        if len(sides) != 2:
            return scope
        found: dict[Atom, Bounds] = {}
        for this, other, operator in ((sides[0], sides[1], word), (sides[1], sides[0], _FLIPPED.get(word, ""))):
            if this.atom is None or not this.leaves:
                continue
            low, high = before = self._bounds.expression(this, scope)
            least, most = self._bounds.expression(other, scope)
            if operator in ("<", "<=", "=="):
                high = min(high, most)
            if operator in (">", ">=", "=="):
                low = max(low, least)
            if low <= high and (low, high) != before:
                found[this.atom] = (low, high)
        return scope.where(found)

    # --- data --------------------------------------------------------------------------------------------

    def _held(self, load: Atom) -> Bounds:
        """Return the bounds of an element of a buffer.

        They follow from its fill, from what buffers usually hold, or from its type.
        """
        name, is_untouched = str(load.arguments[0]), load.arguments[2] == 0
        contents, parameter = held_at(load, self._known.contents), self._work.kernel.parameter(name)
        element = parameter.type.pointee if parameter and isinstance(parameter.type, PointerType) else None
        if contents is None and element is not None and (fills := fills_of(self._fills, name)):
            contents = contents_of(1, element, fills).of_load(load.arguments[1])
        if contents is not None and (contents.values or is_untouched) and contents.bounds is not None:
            return contents.bounds
        if name in self._usual and is_untouched and element is not None:
            return self._usual[name] or _usual(element)
        return _of_type(element)


def _widen(span: Span, low: Value, high: Value) -> None:
    span.low, span.high = min(span.low, low), max(span.high, high)


def _either(sides: Iterable[Scope | None], scope: Scope) -> Scope | None:
    """Where one of `sides` of `scope` is, nobody knows which."""
    possible = [side.said for side in sides if side is not None]
    if not possible:
        return None
    shared = set(possible[0]).intersection(*possible[1:])
    ends = {atom: [said[atom] for said in possible] for atom in shared}
    return scope.where({a: (min(low for low, _ in e), max(high for _, high in e)) for a, e in ends.items()})


def _usual(kind: Type) -> Bounds:
    """Return what stands in a buffer of these, as long as nobody says more."""
    match kind:
        case ScalarType():
            return DEFAULT_FLOATS if kind.kind is ScalarKind.FLOAT else (0, DEFAULT_INTEGER_LIMIT - 1)
        case VectorType() | ArrayType():
            return _usual(kind.element)
        case StructType(is_union=False):
            inner = [_usual(member) for _, member in kind.members]
            return min(low for low, _ in inner), max(high for _, high in inner)
        case _:
            return -math.inf, math.inf


def _of_type(kind: Type | None) -> Bounds:
    match kind:
        case VectorType():
            return _of_type(kind.element)
        case ScalarType(kind=ScalarKind.SIGNED) if kind.size_bytes <= 2:
            return -(2 ** (8 * kind.size_bytes - 1)), 2 ** (8 * kind.size_bytes - 1) - 1
        case ScalarType(kind=(ScalarKind.UNSIGNED | ScalarKind.BOOL)) if kind.size_bytes <= 2:
            return 0, 2 ** (8 * kind.size_bytes) - 1
        case _:
            return -math.inf, math.inf


def _ids(known: LaunchBindings) -> Scope:
    found: dict[Atom, Bounds] = {}
    for ids, sizes in ((GLOBAL_ID, GLOBAL_SIZE), (LOCAL_ID, LOCAL_SIZE), (GROUP_ID, NUM_GROUPS)):
        for d in range(3):
            found[ids[d]] = (0, max(1, int(known.symbols[sizes[d]])) - 1)
    return Scope(found)
