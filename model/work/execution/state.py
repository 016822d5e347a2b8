"""The state of a symbolic execution, in parts that are named for what they hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tree_sitter import Node

from model.errors import AnalysisError
from model.launch.launch import Assumption
from model.opencl.declarations import Names
from model.opencl.item_parser import Function
from model.opencl.jumps import Jumps
from model.opencl.kernel import Kernel
from model.opencl.program import Program, Reader
from model.opencl.types import Type
from model.work.execution.builder import Builder, PendingLoop
from model.work.execution.call_summaries import CallSummary
from model.work.execution.flow import Exit, Flow, LoopFrame
from model.work.execution.registers import Lifetimes
from model.work.execution.tables import Table
from model.work.execution.unknowns import Unknown
from model.work.execution.values import Memory, Value
from model.work.execution.writes import Spot, Writes
from model.work.expressions.launch_bindings import DataParameter
from model.work.expressions.symbolic import Atom, Expression
from model.work.regions.region import Site

MAX_STEPS = 300_000


@dataclass(slots=True, eq=False)
class Variables:
    """Private variables, each under a key of its own; `scopes` give the keys by name, the innermost scope last."""

    scopes: list[dict[str, int]] = field(default_factory=lambda: [{}])
    values: dict[int, Value] = field(default_factory=dict)
    types: dict[int, Type] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    arrays_in: dict[int, dict[tuple[str, ...], Memory]] = field(default_factory=dict)  # of structs, by key and path
    # Names that loops assign to, by the loop's node; and whether only a part of what they name is meant.
    assigned_in: dict[int, tuple[tuple[str, bool], ...]] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class MemoryState:
    """What is known of memory: what was written and loaded where, constant tables, sizes of arrays."""

    writes: Writes = field(default_factory=Writes)
    loaded: dict[Spot, Type] = field(default_factory=dict)  # from memory, not taken from a store before
    objects: dict[str, Memory] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)  # constant arrays whose contents the source says
    stepped: set[tuple[str, Expression]] = field(default_factory=set)  # one variable and a constant: see `reuse`
    saw_registers: bool = False  # private arrays or constant tables: registers where the index is known
    local_bytes: dict[str, int | None] = field(default_factory=dict)
    private_bytes: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Computed:
    """What need not be computed again: `found` keeps the order in which it came, and how deep its block is."""

    available: set[Expression] = field(default_factory=set)
    found: list[tuple[Expression, int]] = field(default_factory=list)
    constants: set[Atom] = field(default_factory=set)  # counters of loops that compilers unroll


@dataclass(slots=True, eq=False)
class ControlFlow:
    """The loops, conditions and exits around the statement at hand."""

    frames: list[LoopFrame] = field(default_factory=list)  # the innermost loop last
    path: list[Expression] = field(default_factory=list)  # conditions under which the statement is reached
    exits: list[Exit] = field(default_factory=list)  # from the function being read, or from loops and switches in it
    # What the function being read returns, with the path of conditions to each.
    returned: list[tuple[tuple[Expression, ...], Value]] = field(default_factory=list)
    last_flow: Flow = Flow.NEXT  # how the iteration read last is left by those who get furthest in it
    trials: int = 0
    unrolled: set[int] = field(default_factory=set)  # lines of loops that were followed iteration by iteration
    jumps: Jumps = field(default_factory=Jumps)


@dataclass(slots=True, eq=False)
class CallStack:
    """The functions being read, the kernel first, and the helper functions read before (see `call_summaries`)."""

    functions: list[Function]
    path: tuple[tuple[str, int], ...] = ()  # see `Site`
    read: dict[Function, CallSummary] = field(default_factory=dict)
    # Calls that another call stands for, in the helper function being read.
    repeats: dict[tuple[Builder, CallSummary], PendingLoop] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Findings:
    """What the analysis tells beside counts: what it could not read, what it assumes, what the data decide."""

    parameters: dict[Atom, DataParameter] = field(default_factory=dict)
    free_names: dict[str, int] = field(default_factory=dict)  # names that nothing declares, with their line
    unknowns: set[Unknown] = field(default_factory=set)
    assumptions: dict[str, Assumption] = field(default_factory=dict)
    asks_for_global_ids: bool = False  # otherwise, global ids are sums of a group's start and a local id


class ExecutionState:
    """One kernel under analysis. `block` is where costs go to; `rests` says of unknown values what they rest on.

    While `counting_disabled` is above 0 (a loop is only tried, `sizeof`), nothing is counted.
    """

    __slots__ = (
        "_line", "_node", "accessed", "block", "calls", "clock", "computed", "control", "counting_disabled",
        "expressions", "findings", "fused_at", "kernel", "lifetimes", "memory", "names", "program", "reader", "rests",
        "root", "statements", "steps", "variables",
    )  # fmt: skip

    def __init__(
        self,
        program: Program,
        kernel: Kernel,
        expressions: Mapping[str, Callable[[ExecutionState, Node], Value]],
        statements: Mapping[str, Callable[[ExecutionState, Node], Flow]],
    ) -> None:
        self.program = program
        self.kernel = kernel
        self.expressions = expressions  # what reads each kind of node: see `dispatch`
        self.statements = statements
        self.names: Names = program.names.child()
        self.reader: Reader = program.reader(program.functions[kernel.name], self.names)
        self.root = Builder()
        self.block = self.root
        self.variables = Variables()
        self.memory = MemoryState()
        self.computed = Computed()
        self.control = ControlFlow()
        self.calls = CallStack([program.functions[kernel.name]])
        self.findings = Findings()
        self.lifetimes = Lifetimes()
        self.rests: dict[Atom, tuple[Expression, ...]] = {}
        self.fused_at: dict[int, int] = {}  # integer operations that GPUs fuse, by the node of the tree that they make
        self.accessed: tuple[int, int] | None = None  # first and last byte of what loads or stores at hand
        self.clock = 0
        self.steps = 0
        self.counting_disabled = 0
        self._line = kernel.name_range.start_line
        self._node: Node | None = None  # where the line at hand is to be looked up

    def tick(self) -> int:
        """Return a stamp that is later than all before."""
        self.clock += 1
        return self.clock

    def at(self, node: Node) -> None:
        """Assign costs from here on to the line of `node`; a file of other people's keeps the caller's line."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise AnalysisError("the kernel is too large to analyse (more than 300,000 steps)", line=self.line + 1)
        self._node = node

    @property
    def line(self) -> int:
        """The line that costs belong to. Most nodes cost nothing, so it is looked up only when asked for."""
        node = self._node
        if node is not None:
            self._node = None
            line = self.reader.line(node.start_byte)
            if line >= 0:
                self._line = line
        return self._line

    @line.setter
    def line(self, line: int) -> None:
        self._node, self._line = None, line

    def site(self, node: Node) -> Site | None:
        """Return where `node` is, for what is counted; None while nothing is."""
        if self.counting_disabled:
            return None
        return Site(self.calls.path, self.calls.functions[-1].name, node.start_byte, node.end_byte)

    def access_site(self) -> Site | None:
        """Return where the load or store at hand is."""
        if self.counting_disabled or self.accessed is None:
            return None
        return Site(self.calls.path, self.calls.functions[-1].name, *self.accessed)
