"""Compiling a kernel's tree into closures: names, variables, sites, limits. What the parts of it share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from tree_sitter import Node

from model.launch.launch import Number
from model.opencl.builtin_types import INT
from model.opencl.declarations import Declared
from model.opencl.item_parser import Function
from model.opencl.jumps import Jumps
from model.opencl.kernel import Kernel
from model.opencl.program import Program, Reader
from model.opencl.types import Type
from model.sampling.code import Code, Place, Run
from model.sampling.counters import FunctionSites
from model.sampling.taint import Flows, Tokens
from model.sampling.values import NO_TAINT, NotInterpreted, Value, dtype_of, element_of
from model.work.regions.region import Site

Step = Callable[[Any], bool]  # a statement: gives whether no lane is left to go on
MAX_NODES = 150_000
MAX_DEPTH = 200  # of expressions and statements in each other: each takes a few of the frames that Python allows
MAX_CALLS = 24
MAX_PRIVATE_BYTES = 1 << 20  # of one lane
MAX_LOCAL_BYTES = 8 << 20

PRIVATE_BASE, LOCAL_BASE = 0, 1  # slots that every kernel has: addresses of a lane's own memory
FIRST_FREE = 2


@dataclass(frozen=True, slots=True)
class Variable:
    """`slot`: where its value is kept; None for one that lies in memory, at `address`."""

    name: str
    type: Type
    slot: int | None
    address: Run | None = None
    tokens: Tokens = NO_TAINT  # of its address
    base: int = 0  # the slot that its address rests on


@dataclass(slots=True)
class Compiled:
    """A function: `run` its body; `result` is the slot of what it returns."""

    function: Function
    parameters: list[Variable]
    run: Callable[[Any], bool]
    result: int
    sites: FunctionSites
    slots: frozenset[int]
    cost: int
    calls: frozenset[str] = frozenset()


@dataclass(slots=True)
class Layout:
    """Where variables of private and local memory lie, in bytes."""

    private_bytes: int = 0
    local_bytes: int = 0

    def private(self, kind: Type) -> int:
        self.private_bytes, at = _after(self.private_bytes, kind, "private", MAX_PRIVATE_BYTES)
        return at

    def local(self, kind: Type) -> int:
        self.local_bytes, at = _after(self.local_bytes, kind, "local", MAX_LOCAL_BYTES)
        return at


def _after(used: int, kind: Type, space: str, limit: int) -> tuple[int, int]:
    at = -(-used // 16) * 16
    size = kind.size_bytes
    if at + size > limit:
        raise NotInterpreted(f"its {space} memory is too large to be interpreted")
    return at + size, at


@dataclass(frozen=True, slots=True)
class NodeCompilers:
    """The functions that compile nodes, by the type of node: see `dispatch`, which calls them.

    `places` are the expressions that may name a place; they give None where one is a mere value.
    """

    expressions: Mapping[str, Callable[[Compiler, Node], Code]]
    statements: Mapping[str, Callable[[Compiler, Node], Step]]
    places: Mapping[str, Callable[[Compiler, Node], Place | None]]


class Compiler:
    """Holds what is known while one kernel is compiled; the work is done by functions of other modules."""

    def __init__(
        self,
        program: Program,
        kernel: Kernel,
        free_names: dict[str, Number],
        wanted: frozenset[Site] | None,
        by_node: NodeCompilers,
    ) -> None:
        self.by_node = by_node
        self.wanted = None if wanted is None else {(s.function, s.start_byte, s.end_byte) for s in wanted}
        self.program = program
        self.kernel = kernel
        self.names = program.names.child()
        self.free_names = free_names
        self.flows = Flows()
        self.jumps = Jumps()
        self.layout = Layout()
        self.functions: dict[Function, Compiled] = {}
        self.globals: dict[str, Variable] = {}
        self.tables: list[Table] = []
        self.notes: dict[str, None] = {}
        self.slots = FIRST_FREE
        self.used: set[int] = set()
        self.cost = 0
        self.nodes = 0
        self.depth = 0
        self.node: Node | None = None
        self.has_barriers = False
        self.address_taints: frozenset[str] = NO_TAINT
        self.atomic_taints: frozenset[str] = NO_TAINT  # of what atomic operations give back
        self.ending_taints: frozenset[str] = NO_TAINT  # of what ends loops
        self.takes_turns = False  # somewhere lanes go one by one
        self.may_misalign = False
        self.fixed: dict[int, Any] = {}  # what some slots hold throughout
        self.launch_slots: dict[tuple[str, int], int] = {}
        # Of the function that is being compiled:
        self.calling: list[Function] = []
        self.scopes: list[dict[str, Variable]] = [{}]
        self.in_memory: frozenset[str] = frozenset()
        self.reader: Reader
        self.sites: FunctionSites
        self.result: tuple[int, Type]

    # --- names -------------------------------------------------------------------------------------------

    def lookup(self, name: str) -> Variable | None:
        found = next((scope[name] for scope in reversed(self.scopes) if name in scope), None)
        if found is not None:
            self.used.add(found.base if found.slot is None else found.slot)
        return found

    def new_slot(self) -> int:
        self.slots += 1
        self.used.add(self.slots - 1)
        return self.slots - 1

    def launch_slot(self, what: str, dimension: int) -> int:
        """Return the slot of an id or a size, which the sample sets before it runs."""
        key = (what, dimension)
        if key not in self.launch_slots:
            self.launch_slots[key] = self.new_slot()
        self.used.add(self.launch_slots[key])
        return self.launch_slots[key]

    def constant_zero(self) -> Code:
        zero = np.int32(0)
        return Code(lambda _: zero, INT, None, zero)

    def declare(self, name: str, kind: Type) -> Variable:
        """Return a private variable that is kept in a slot."""
        variable = self.scopes[-1][name] = Variable(name, kind, self.new_slot())
        return variable

    @contextmanager
    def scope(self) -> Iterator[None]:
        self.scopes.append({})
        try:
            yield
        finally:
            self.scopes.pop()

    @contextmanager
    def slots_of(self) -> Iterator[set[int]]:
        """Collect the slots that are used inside; they count for the enclosing code, too."""
        outer, self.used = self.used, set()
        inner = self.used
        try:
            yield inner
        finally:
            outer |= inner
            self.used = outer

    # --- limits ------------------------------------------------------------------------------------------

    @contextmanager
    def inside(self, node: Node) -> Iterator[None]:
        """Compile `node`; refuses what is too much or too deep."""
        self.nodes += 1
        self.depth += 1
        self.node = node
        if self.nodes > MAX_NODES:
            raise NotInterpreted("the kernel is too large to be interpreted")
        if self.depth > MAX_DEPTH:
            raise NotInterpreted("statements or expressions are nested too deeply to be interpreted")
        try:
            yield
        finally:
            self.depth -= 1

    def text(self, node: Node) -> str:
        return self.reader.text(node)

    def line(self, node: Node) -> int:
        return self.reader.line(node.start_byte) + 1

    # --- sites -------------------------------------------------------------------------------------------

    def site(self, node: Node, taint: Tokens = NO_TAINT) -> int:
        """Return the number of a site's record."""
        return self.sites.site(node.start_byte, node.end_byte, taint)

    def access(self, node: Node) -> int | None:
        """Return the number of an access's record; None where nobody asks for it."""
        if self.wanted is not None and (self.sites.name, node.start_byte, node.end_byte) not in self.wanted:
            return None
        return self.sites.access(node.start_byte, node.end_byte)

    def refuse(self, what: str, node: Node | None = None) -> NotInterpreted:
        node = node or self.node
        line = self.line(node) if node is not None else 0
        return NotInterpreted(f"{what} (line {line})" if line > 0 else what)


@dataclass(slots=True)
class Table:
    """A variable at program scope: `fill` stores its initialiser; its segment is made when a sample begins."""

    declared: Declared
    type: Type
    slot: int  # holds its address
    fill: Callable[[Any], None] | None = None
    sites: FunctionSites | None = None


def field(c: Compiler, node: Node, name: str) -> Node:
    found = node.child_by_field_name(name)
    if found is None:
        raise c.refuse(f"`{c.text(node)[:40]}` is not understood", node)
    return found


def inner(c: Compiler, node: Node) -> Node:
    """Return what stands in parentheses."""
    found = [n for n in node.named_children if n.type != "comment"]
    if len(found) != 1:
        raise c.refuse(f"`{c.text(node)[:40]}` is not understood", node)
    return found[0]


def code_of_slot(kind: Type, slot: int) -> Code:
    return Code(lambda f: f.values[slot], kind, taint=frozenset((f"${slot}",)))


def constant(value: Value, kind: Type) -> Code:
    held = dtype_of(element_of(kind)).type(value)
    return Code(lambda _: held, kind, None, held)
