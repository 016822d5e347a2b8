"""The state of a symbolic execution: variables, the block that costs go to, loops around, what is known already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tree_sitter import Node

from model.errors import AnalysisError
from model.launch.launch import Assumption
from model.opencl.builtin_types import INT
from model.opencl.jumps import Jumps
from model.opencl.kernel import Kernel, ParameterKind
from model.opencl.program import Program, Reader
from model.opencl.reading import Function
from model.opencl.types import ArrayType, PointerType, ScalarType, StructType, Type, VectorType
from model.work.builder import Builder, PendingAccess, PendingOp
from model.work.counts import OpKind
from model.work.flow import Exit
from model.work.group_values import passed_on
from model.work.operations import operation
from model.work.region import Access, DataParameter
from model.work.registers import Lifetimes
from model.work.sites import Site
from model.work.symbolic import ONE, Atom, Expression, opaque, symbol
from model.work.tables import Table
from model.work.unknowns import Unknown, UnknownKind, undeclared_types
from model.work.values import (
    MAX_NUMBERS,
    Aggregate,
    Memory,
    Other,
    Pointer,
    Scalar,
    Value,
    Vector,
    element_name,
    numbers_in,
)
from model.work.writes import Origin, Spot, Write, Writes

MAX_STEPS = 300_000


@dataclass(slots=True, eq=False)
class LoopFrame:
    """A loop being executed. What came into being since `clock` varies from iteration to iteration."""

    clock: int
    counters: set[Atom]
    outside: Builder  # where loop-invariant work is hoisted to
    body: Builder
    promoted: frozenset[Spot] = frozenset()  # kept in a register while the loop runs, stored after it


class Machine:
    """What the readers of expressions and statements share. One per kernel analysed."""

    def __init__(self, program: Program, kernel: Kernel) -> None:
        self.program = program
        self.kernel = kernel
        self.names = program.names.child()
        self.reader: Reader = program.reader(program.functions[kernel.name], self.names)
        self.root = Builder()
        self.block = self.root
        self.frames: list[LoopFrame] = []
        self.path: list[Expression] = []  # conditions under which the statement at hand is reached
        self.exits: list[Exit] = []  # from the function being read, or from loops and switches in it
        self.scopes: list[dict[str, int]] = [{}]
        self.values: dict[int, Value] = {}
        self.types: dict[int, Type] = {}
        self.named: dict[int, str] = {}
        self.arrays_in: dict[int, dict[tuple[str, ...], Memory]] = {}  # of structs, by variable and path
        self.fused_at: dict[int, int] = {}  # integer operations that GPUs fuse, by the node of the tree that they make
        self.assigned_in: dict[int, tuple[tuple[str, bool], ...]] = {}  # names that loops assign to, by node
        self.constants: set[Atom] = set()  # counters of loops that compilers unroll
        self.saw_registers = False
        self.rests: dict[Atom, tuple[Expression, ...]] = {}
        self.available: set[Expression] = set()
        self.unrolled: set[int] = set()  # lines of loops that were followed iteration by iteration
        self.found: list[tuple[Expression, int]] = []  # what became available in which order, and how deep its block is
        self.writes = Writes()
        self.loaded: dict[Spot, Type] = {}  # what was loaded from memory, not taken from a store before
        self.memories: dict[str, Memory] = {}
        self.tables: dict[str, Table] = {}  # constant arrays whose contents the source says
        self.stepped: set[tuple[str, Expression]] = set()  # subscripts of one variable and a constant: see `reuse`
        self.parameters: dict[Atom, DataParameter] = {}
        self.free_names: dict[str, int] = {}
        self.unknowns: set[Unknown] = set()
        self.assumptions: dict[str, Assumption] = {}
        self.local_bytes: dict[str, int | None] = {}
        self.private_bytes: dict[str, int] = {}
        self.calls: list[Function] = [program.functions[kernel.name]]
        self.call_path: tuple[tuple[str, int], ...] = ()  # see `Site`
        self.accessed: tuple[int, int] | None = None  # first and last byte of what loads or stores at hand
        self.lifetimes = Lifetimes()
        self.clock = 0
        self.steps = 0
        self.jumps = Jumps()
        self._line = kernel.name_range.start_line
        self._node: Node | None = None  # where the line at hand is to be looked up
        self.dry = 0

    # --- time and names ----------------------------------------------------------------------------------

    def tick(self) -> int:
        self.clock += 1
        return self.clock

    def at(self, node: Node) -> None:
        """Costs from here on belong to the line of `node`; a file of other people's keeps the caller's line."""
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
        """Where `node` is, for what is counted; None while a loop is only tried."""
        return None if self.dry else Site(self.call_path, self.calls[-1].name, node.start_byte, node.end_byte)

    def access_site(self) -> Site | None:
        """Where the load or store at hand is."""
        if self.dry or self.accessed is None:
            return None
        return Site(self.call_path, self.calls[-1].name, *self.accessed)

    def unknown(self, reason: str, *rests: Expression) -> Expression:
        """Return a value that the launch does not decide, but that is made from what it `rests` on."""
        value = opaque("unknown", self.tick(), reason)
        if rests and value.atom is not None:
            self.rests[value.atom] = rests
        return value

    def assume(self, subject: str, text: str, spread: float = 1.0, *, is_guess: bool = False) -> None:
        """Note what had to be taken for granted; `{line}` in the words stands for the line at hand."""
        own = self.line if "{line}" in text else None
        self.assumptions.setdefault(f"{subject}: {text} {own}", Assumption(subject, text, spread, own, is_guess))

    def data_parameter(self, name: str, default: float, spread: float, text: str) -> Atom:
        atom = Atom.of("unknown", self.tick(), name)
        if not self.dry:
            self.parameters[atom] = DataParameter(name, default, spread, self.line, text)
        return atom

    def share_of(self, condition: Expression) -> Atom | None:
        """Names the share of work-items that enter, where only the data decide; None where the launch does."""
        if condition.evaluable and not condition.has("load"):
            return None
        share = likelihood(condition)
        text = f"the data decide which work-items enter line {{line}}: taken for {share * 100:.0f} % of them"
        return self.data_parameter("share.{line}", share, 1.3, text)

    def unreadable(self, kind: UnknownKind, name: str = "") -> None:
        """Note a construct on the line at hand that cannot be read."""
        self.unknowns.add(Unknown(self.line, kind, name))

    def conjunction(self, conditions: Sequence[Expression]) -> Expression:
        whole = ONE
        for condition in conditions:
            whole = operation("and", whole, condition) if whole is not ONE else condition
        return whole

    def free_name(self, name: str) -> Expression:
        """Return a name that nothing declares: the user must give it, or it is assumed."""
        self.free_names.setdefault(name, self.line)
        self.unreadable(UnknownKind.NAME, name)
        return symbol(f"name.{name}")

    # --- variables ---------------------------------------------------------------------------------------

    def declare(self, name: str, kind: Type, value: Value) -> int:
        key = self.tick()
        self.scopes[-1][name] = key
        self.types[key] = kind
        self.named[key] = name
        self.values[key] = value
        if not isinstance(kind, ScalarType | VectorType):
            for undeclared in undeclared_types(kind):
                self.unreadable(UnknownKind.TYPE, undeclared)
        return key

    def lookup(self, name: str) -> int | None:
        for scope in reversed(self.scopes):
            if name in scope:
                key = scope[name]
                if key in self.lifetimes.last:
                    self.lifetimes.last[key] = self.steps
                return key
        return None

    def held(self, key: int) -> Value:
        """Return what a variable holds; unknown where broken code declares it in a branch or loop without braces."""
        value = self.values.get(key)
        if value is None:
            value = self.values[key] = self.fresh_value(self.types[key], "declared where it may not be reached")
        return value

    def fresh_value(self, kind: Type, reason: str, name: str = "", rests: tuple[Expression, ...] = ()) -> Value:
        """Return a value of type `kind` about which nothing is known but what it `rests` on."""
        match kind:
            case ScalarType():
                return Scalar(self.unknown(reason, *rests), kind)
            case VectorType():
                return Vector(tuple(self.unknown(reason, *rests) for _ in range(kind.width)), kind)
            case PointerType():
                return Pointer(None, self.unknown(reason, *rests), kind)
            case StructType():
                # A member without a name stands for those that are not known: they rest on it.
                return Aggregate((("", Scalar(self.unknown(reason, *rests), INT)),) if rests else (), kind)
            case _:
                return Other(name, kind)

    def completed(self, value: Value) -> Value:
        return self.whole_struct(value) if isinstance(value, Aggregate) else value

    def whole_struct(self, value: Aggregate) -> Aggregate:
        """Return a struct with all its members named, so that each can be followed on its own; arrays are memory."""
        if value.type.numbers > MAX_NUMBERS:
            self.unreadable(UnknownKind.STRUCT)
            return Aggregate((), value.type)
        members = []
        for name, kind in value.type.members:
            if isinstance(kind, ArrayType) and value.member(name) is None:
                continue
            member = value.member(name) or self.fresh_value(kind, f"member `{name}`", rests=numbers_in(value))
            members.append((name, self.completed(member)))
        return Aggregate(tuple(members), value.type)

    # --- costs -------------------------------------------------------------------------------------------

    def varies_in(self, frame: LoopFrame, value: Expression) -> bool:
        """Return whether `value` may differ between two iterations of `frame`."""
        for leaf in value.leaves:
            if leaf in frame.counters:
                return True
            stamp = leaf.arguments[0] if leaf.kind == "unknown" else leaf.arguments[-1] if leaf.kind == "load" else 0
            if isinstance(stamp, int) and stamp >= frame.clock:
                return True
        return False

    def home(self, values: tuple[Expression, ...], *, may_speculate: bool) -> Builder:
        """Return the outermost block where `values` can be computed once (loop-invariant code moves out)."""
        block = self.block
        if not self.frames:
            return block
        for frame in reversed(self.frames):
            if not may_speculate and block is not frame.body:
                break
            if any(self.varies_in(frame, value) for value in values):
                break
            block = frame.outside
        return block

    def new_block(self) -> Builder:
        """Return a block inside the one that costs go to now."""
        return Builder(self.block.level + 1)

    def find(self, values: tuple[Expression, ...], block: Builder) -> None:
        """From here on `values` are at hand, computed in `block`."""
        for value in values:
            if value not in self.available:
                self.available.add(value)
                self.found.append((value, block.level))

    def at_hand(self, values: Sequence[Expression]) -> bool:
        """Return whether nothing need be computed: `values` were before, or the compiler knows them."""
        available, constants = self.available, self.constants
        for value in values:
            if value not in available and not is_known(value):
                leaves = value.leaves
                if not constants or not leaves or not leaves <= constants:
                    return False
        return True

    def lose(self, mark: int, level: int) -> set[Expression]:
        """Forget what was found since `mark` in blocks deeper than `level`; gives what that was."""
        since = self.found[mark:]
        del self.found[mark:]
        lost = {value for value, at in since if at > level}
        self.available -= lost
        self.found += [(value, at) for value, at in since if at <= level]
        return lost

    def cost(self, kind: OpKind, kind_of: ScalarType, *results: Expression, function: str = "", times: int = 1) -> None:
        """Count `times` operations for each of `results`, unless they are constants or were computed before."""
        if self.dry:
            return
        block = self.block
        if results:
            if self.at_hand(results):
                return
            # A call may do what its argument's author guarded against: only code that surely runs moves out.
            block = self.home(results, may_speculate=not function)
            self.find(results, block)
        block.ops.append(PendingOp(self.line, kind, element_name(kind_of), function, times, results))

    def access(
        self,
        access: Access,
        results: tuple[Expression, ...] = (),
        stored: tuple[Expression, ...] = (),
        known: tuple[Expression, ...] = (),
    ) -> None:
        """Count a load (of the components `results`) or a store; what is at hand already is not loaded again.

        `known` are the components where memory holds what is known: a load is needed where these are.
        """
        if self.dry:
            return
        block = self.block
        if results:
            if self.available.issuperset(results):
                return
            block = self.home(results, may_speculate=False)
            self.find(results, block)
        block.accesses.append(PendingAccess(access, known or results, stored))

    def stored(self, spot: Spot, value: tuple[Expression, ...] | None = None) -> None:
        """After a store, loads from there (and from what may overlap) are new values."""
        is_sure = self.block is (self.frames[-1].body if self.frames else self.root)
        self.writes.add(Write(self.tick(), spot, value, is_sure))

    def forget_shared(self) -> None:
        """Local and global memory may hold what other work-items wrote."""
        self.writes.add(Write(self.tick(), None, None))

    def wait_for_group(self) -> None:
        """After a barrier, shared memory may hold what others wrote, but for what the whole group knows."""
        kept = passed_on(self.writes.since_barrier(), self._is_uniform)
        self.forget_shared()
        for spot, value in kept.items():
            self.writes.add(Write(self.tick(), spot, value, origin=Origin.BARRIER))

    def _is_uniform(self, leaf: Atom) -> bool:
        """Return whether what is no local or global id is the same for all items of a group that meet at a barrier
        here."""
        name = str(leaf.arguments[0])
        if leaf.kind == "load":
            parameter = self.kernel.parameter(name)
            return name in self.program.globals or (parameter is not None and parameter.kind is ParameterKind.BUFFER)
        if name.startswith("loop."):
            return any(leaf in frame.counters for frame in self.frames)
        return leaf.kind == "symbol" and name.startswith(_SAME_IN_GROUP)


def is_known(value: Expression) -> bool:
    """Return whether the compiler knows this value: a number, or a float literal."""
    if value.constant is not None:
        return True
    atom = value.atom
    return atom is not None and atom.kind == "literal"


# How symbols begin that do not depend on the item of a group.
_SAME_IN_GROUP = ("arg.", "name.", "group_id.", "local_size.", "num_groups.", "global_size.", "image.")
EQUAL_SELDOM = 0.16


def likelihood(condition: Expression) -> float:
    """Return how often a condition over data holds, when nothing is known of the data.

    Equality is rare; otherwise even odds. Source: the opcode heuristic of Ball & Larus, PLDI 1993, with the
    probability of Wu & Larus, MICRO 1994.
    """
    atom = condition.atom
    if atom is None:
        return 0.5
    if atom.kind == "eq0" or (atom.kind == "compare" and atom.arguments[0] == "=="):
        return EQUAL_SELDOM
    if atom.kind == "compare" and atom.arguments[0] == "!=":
        return 1 - EQUAL_SELDOM
    if atom.kind not in ("not", "and", "or"):
        return 0.5
    parts = [likelihood(a) for a in atom.operands]
    match atom.kind:
        case "not":
            return 1 - parts[0]
        case "and":
            return parts[0] * parts[1]
        case "or":
            return 1 - (1 - parts[0]) * (1 - parts[1])
    return 0.5
