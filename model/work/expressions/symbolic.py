"""Integer expressions over a launch: polynomials whose atoms are symbols or operations that are not polynomial.

An `Expression` is canonical: equal values written differently (`i*n + j`, `j + n*i`) are one object's worth of
terms, so strides are coefficients and common subexpressions are equal keys. Atoms are interned; their serial
numbers give monomials an order. General computer algebra systems were too slow for analysis while typing
(a kernel must be re-analysed within milliseconds) and do not know C's integer division.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from threading import Lock, local
from typing import Any, ClassVar
from weakref import WeakValueDictionary

from model.work.expressions.numbers import Value, is_evaluable

MAX_TERMS = 48
MAX_BITS = 200  # coefficients beyond are nobody's index
_SMALL = 1024  # numbers up to here are made once
MAX_DEPTH = 120  # nesting of atoms; deeper expressions become unknown


class _Interned(local):
    """Of this thread, for one analysis only: results of two analyses share no more than symbols."""

    def __init__(self) -> None:
        self.known: dict[tuple[object, ...], Expression] = {}
        self.cut: dict[Atom, tuple[Expression, ...]] = {}  # what was nested too deeply, and what it was made of


interned = _Interned()


def new_analysis() -> None:
    """Forget the operations of the analysis before."""
    interned.known, interned.cut = {}, {}


def made_of(atom: Atom) -> tuple[Expression, ...]:
    """Return what an operation was made of that became unknown for being nested too deeply."""
    return interned.cut.get(atom, ())


class Atom:
    """A symbol (`kind` "symbol", one name) or an operation over expressions and plain keys. Interned."""

    __slots__ = ("__weakref__", "arguments", "depth", "evaluable", "function", "kind", "leaf_kinds", "operands",
                 "others", "running", "serial", "uses")  # fmt: skip

    _symbols: ClassVar[WeakValueDictionary[str, Atom]] = WeakValueDictionary()
    _serials: ClassVar[Iterator[int]] = itertools.count(1)
    _making: ClassVar[Lock] = Lock()  # two threads must not make two of one: they would differ

    kind: str
    arguments: tuple[Expression | str | int, ...]
    operands: tuple[Expression, ...]  # those of the arguments that are expressions
    serial: int
    others: frozenset[Atom]  # leaves that it rests on; an atom that held itself would only be freed by a search
    leaf_kinds: int  # bits
    depth: int
    evaluable: bool  # a launch (and what is known of the data) gives it a number
    function: Callable[..., Value | None] | None  # a `Function` kept by `evaluate`, once it was asked for often: `uses`
    uses: int
    running: Any  # a `Running` kept by `running_of`, or None

    @classmethod
    def of(cls, kind: str, *arguments: Expression | str | int) -> Atom:
        """Return the one atom that is this. A symbol is the same in all threads and analyses."""
        if kind != "symbol":
            return _single(kind, arguments).terms[0][0][0]
        name = str(arguments[0])
        found = cls._symbols.get(name)
        if found is None:
            with cls._making:
                found = cls._symbols.get(name)
                if found is None:
                    found = cls._symbols[name] = cls.new(kind, arguments)
        return found

    @classmethod
    def new(cls, kind: str, arguments: tuple[Expression | str | int, ...]) -> Atom:
        """Return an atom that was not there before. Only for those who keep them apart: see `of`."""
        found = cls()
        found.kind, found.arguments = kind, arguments
        found.serial = next(cls._serials)
        found.function, found.uses, found.running = None, 0, None
        evaluable, depth = is_evaluable(kind, arguments), 0
        leaves = NO_ATOMS
        leaf_kinds = _BIT_OF_KIND.get(kind, 0)
        found.operands = tuple([inner for inner in arguments if isinstance(inner, Expression)])
        for inner in found.operands:
            leaves = _together(leaves, inner.leaves)
            leaf_kinds |= inner.leaf_kinds
            depth = max(depth, inner.depth)
            evaluable = evaluable and inner.evaluable
        found.others, found.leaf_kinds, found.depth, found.evaluable = leaves, leaf_kinds, depth + 1, evaluable
        return found

    @property
    def leaves(self) -> frozenset[Atom]:
        """Itself, if it is of `LEAF_KINDS`, and the `others`."""
        if self.kind not in LEAF_KINDS:
            return self.others
        return self.others | {self} if self.others else frozenset((self,))

    @property
    def varies(self) -> bool:
        """Whether it rests on more than symbols: on what memory holds, or on what nobody knows."""
        return self.leaf_kinds > 1

    def __repr__(self) -> str:
        return (
            str(self.arguments[0]) if self.kind == "symbol" else f"{self.kind}({', '.join(map(repr, self.arguments))})"
        )


# Atoms that name themselves among an expression's leaves: symbols, what memory holds, what nobody knows.
LEAF_KINDS = frozenset({"symbol", "load", "unknown"})
_BIT_OF_KIND = {"symbol": 1, "load": 2, "unknown": 4}
NO_ATOMS: frozenset[Atom] = frozenset()

Monomial = tuple[Atom, ...]


class Expression:
    """A polynomial: sorted monomials with integer coefficients. Immutable, hashable, cheap to compare.

    `constant` is the value, if it is a plain number; `atom` the one atom this is, if it is just that.
    """

    __slots__ = ("_hash", "atom", "columns", "constant", "depth", "evaluable", "function", "lanes", "leaf_kinds",
                 "leaves", "parts", "terms", "uses")  # fmt: skip

    terms: tuple[tuple[Monomial, int], ...]
    constant: int | None
    atom: Atom | None
    function: Callable[..., Value | None] | None  # as in an atom
    uses: int
    parts: Any  # kept by `slopes_of`, or None
    columns: Any  # kept by `plan_of`, or None
    lanes: Any  # kept by `lane_function`, or None

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        kept = [term for term in terms.items() if term[1]]
        if len(kept) > 1:
            kept.sort(key=_serials_of)
        self.terms = tuple(kept)
        self._hash = hash(self.terms)
        self.constant = self.atom = self.function = None
        self.uses, self.parts, self.columns, self.lanes = 0, None, None, None
        leaves, leaf_kinds, depth, evaluable = NO_ATOMS, 0, 0, True
        for monomial, _ in kept:
            for atom in monomial:
                leaves = _together(leaves, atom.leaves)
                leaf_kinds |= atom.leaf_kinds
                depth = max(depth, atom.depth)
                evaluable = evaluable and atom.evaluable
        self.leaves, self.leaf_kinds, self.depth, self.evaluable = leaves, leaf_kinds, depth, evaluable
        if not kept:
            self.constant = 0
        elif len(kept) == 1:
            monomial, coefficient = kept[0]
            if not monomial:
                self.constant = coefficient
            elif coefficient == 1 and len(monomial) == 1:
                self.atom = monomial[0]

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Expression) and self._hash == other._hash and self.terms == other.terms
        )

    def __repr__(self) -> str:
        return (
            " + ".join("*".join([*([str(c)] if c != 1 or not m else []), *map(repr, m)]) for m, c in self.terms) or "0"
        )

    def __add__(self, other: Expression) -> Expression:
        if not other.terms:
            return self
        if not self.terms:
            return other
        if len(self.terms) + len(other.terms) > MAX_TERMS:
            return opaque("sum", self, other)
        terms = dict(self.terms)
        for monomial, coefficient in other.terms:
            terms[monomial] = terms.get(monomial, 0) + coefficient
        return Expression(terms) if _no_lanes(self.leaves) and _no_lanes(other.leaves) else _with_global_ids(terms)

    def __neg__(self) -> Expression:
        return Expression({m: -c for m, c in self.terms})

    def __sub__(self, other: Expression) -> Expression:
        return self + (-other)

    def __mul__(self, other: Expression) -> Expression:
        if other.constant == 1:
            return self
        if self.constant == 1:
            return other
        if len(self.terms) * len(other.terms) > MAX_TERMS:
            return opaque("product", self, other)
        terms: dict[Monomial, int] = {}
        for m1, c1 in self.terms:
            for m2, c2 in other.terms:
                monomial = tuple(sorted(m1 + m2, key=_serial)) if m1 and m2 else m1 or m2
                if len(monomial) > 8 or abs(c1 * c2).bit_length() > MAX_BITS:
                    return opaque("product", self, other)
                terms[monomial] = terms.get(monomial, 0) + c1 * c2
        return Expression(terms) if _no_lanes(self.leaves) and _no_lanes(other.leaves) else _with_global_ids(terms)

    def has(self, *kinds: str) -> bool:
        """Return whether it rests on leaves of these kinds, "load" or "unknown": see `LEAF_KINDS`."""
        return self.leaf_kinds > 1 and any(self.leaf_kinds & _BIT_OF_KIND[kind] for kind in kinds)

    def coefficient(self, atom: Atom) -> Expression | None:
        """Return the factor of `atom`, when it occurs linearly and in no other atom's arguments; else None."""
        terms: dict[Monomial, int] = {}
        for monomial, coefficient in self.terms:
            times = monomial.count(atom)
            if times > 1 or any(atom in a.leaves for a in monomial if a is not atom):
                return None
            if times:
                rest = tuple(a for a in monomial if a is not atom)
                terms[rest] = terms.get(rest, 0) + coefficient
        return Expression(terms)


def _together(a: frozenset[Atom], b: frozenset[Atom]) -> frozenset[Atom]:
    """Return the union; one of the two itself where that is it.

    Long chains of operations rest on the same hundreds of loads again and again: to make a new set for each of them
    takes longer than all else.
    """
    if a is b or not b:
        return a
    if not a:
        return b
    if len(b) <= len(a):
        return a if b <= a else a | b
    return b if a <= b else a | b


def _serial(atom: Atom) -> int:
    return atom.serial


def _serials_of(term: tuple[Monomial, int]) -> list[int]:
    return [atom.serial for atom in term[0]]


def number(value: int) -> Expression:
    """Return a plain number."""
    return _small_number(value) if -_SMALL <= value <= _SMALL else Expression({(): value})


@lru_cache(2 * _SMALL + 1)
def _small_number(value: int) -> Expression:
    return Expression({(): value})


def symbol(name: str) -> Expression:
    """Return a value that the launch, an id or a loop counter gives."""
    return Expression({(Atom.of("symbol", name),): 1})


def opaque(kind: str, *arguments: Expression | str | int) -> Expression:
    """Return an operation kept as it is."""
    return interned.known.get((kind, *arguments)) or _single(kind, arguments)


def _single(kind: str, arguments: tuple[Expression | str | int, ...]) -> Expression:
    known, key = interned.known, (kind, *arguments)
    found = known.get(key)
    if found is None:
        atom = Atom.new(kind, arguments)
        if atom.depth > MAX_DEPTH:
            atom = _cut_off(atom)
        found = known[key] = _alone(atom)
    return found


def _cut_off(atom: Atom) -> Atom:
    """Return a name for an operation that is nested too deeply; it varies with what it was made of."""
    cut = Atom.new("unknown", (f"deep {atom.serial}",))
    cut.others |= atom.leaves
    interned.cut[cut] = atom.operands
    return cut


def _alone(atom: Atom) -> Expression:
    """Just `atom`: what most expressions are, so made without looking for more."""
    made = Expression.__new__(Expression)
    made.terms = (((atom,), 1),)
    made._hash = hash(made.terms)
    made.constant = made.function = None
    made.atom, made.uses, made.parts, made.columns, made.lanes = atom, 0, None, None, None
    made.leaf_kinds = atom.leaf_kinds
    made.leaves, made.depth, made.evaluable = atom.leaves, atom.depth, atom.evaluable
    return made


Point = Mapping[Atom, Value]  # values of ids and loop counters
Ranges = Mapping[Atom, tuple[int, int]]  # half-open

ZERO = Expression({})
ONE = Expression({(): 1})

# The ids and sizes of the NDRange, by dimension.
GLOBAL_ID = tuple(Atom.of("symbol", f"global_id.{d}") for d in range(3))
LOCAL_ID = tuple(Atom.of("symbol", f"local_id.{d}") for d in range(3))
GROUP_ID = tuple(Atom.of("symbol", f"group_id.{d}") for d in range(3))
NEIGHBOURS = tuple(frozenset({GLOBAL_ID[d], LOCAL_ID[d]}) for d in range(3))  # what tells work-items along d apart
GLOBAL_SIZE = tuple(Atom.of("symbol", f"global_size.{d}") for d in range(3))
LOCAL_SIZE = tuple(Atom.of("symbol", f"local_size.{d}") for d in range(3))
NUM_GROUPS = tuple(Atom.of("symbol", f"num_groups.{d}") for d in range(3))
_no_lanes = frozenset(LOCAL_ID).isdisjoint
_GROUP_STARTS = tuple(tuple(sorted((g, s), key=_serial)) for g, s in zip(GROUP_ID, LOCAL_SIZE, strict=True))


def _with_global_ids(terms: dict[Monomial, int]) -> Expression:
    """`group_id * local_size + local_id`, times anything, is the global id (without an offset)."""
    for d in range(3):
        start, lane = _GROUP_STARTS[d], LOCAL_ID[d]
        for monomial in [m for m in terms if terms[m] and lane in m]:
            rest = list(monomial)
            rest.remove(lane)
            partner = tuple(sorted([*rest, *start], key=_serial))
            coefficient = terms[monomial]
            if coefficient and terms.get(partner) == coefficient:
                whole = tuple(sorted([*rest, GLOBAL_ID[d]], key=_serial))
                terms[whole] = terms.get(whole, 0) + coefficient
                terms[monomial] = terms[partner] = 0
    return Expression(terms)
