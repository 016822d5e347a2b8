"""The state of a symbolic execution: variables, the block that costs go to, loops around, what is known already."""

from __future__ import annotations

from dataclasses import dataclass, field

from tree_sitter import Node

from model.errors import AnalysisError
from model.launch.launch import Assumption
from model.opencl.declarations import Declarations
from model.opencl.kernel import Kernel
from model.opencl.program import Program
from model.opencl.types import AddressSpace, PointerType, ScalarType, StructType, Type, VectorType
from model.work.counts import OpKind
from model.work.region import Access, Builder, DataParameter
from model.work.symbolic import Atom, Expression, opaque, symbol
from model.work.unknowns import Unknown, UnknownKind, undeclared_types
from model.work.values import Aggregate, Memory, Other, Pointer, Scalar, Value, Vector, element_name

MAX_STEPS = 300_000


@dataclass(slots=True, eq=False)
class LoopFrame:
    """A loop being executed. What came into being since `clock` varies from iteration to iteration."""

    clock: int
    counters: set[Atom]
    outside: Builder  # where loop-invariant work is hoisted to
    body: Builder
    breaks: list[Expression] = field(default_factory=list)  # conditions under which it is left early
    returns: list[Expression] = field(default_factory=list)  # those under which the function is left, too


class Machine:
    """What the readers of expressions and statements share. One per kernel analysed."""

    def __init__(self, program: Program, kernel: Kernel) -> None:
        self.program = program
        self.kernel = kernel
        self.reader: Declarations = program.functions[kernel.name].reader
        self.root = Builder()
        self.block = self.root
        self.frames: list[LoopFrame] = []
        self.frames_outside = 0  # loops around the call being inlined
        self.frames_unbroken = 0  # loops around the innermost switch, which a `break` in it does not leave
        self.scopes: list[dict[str, int]] = [{}]
        self.values: dict[int, Value] = {}
        self.types: dict[int, Type] = {}
        self.available: set[Expression] = set()
        self.versions: dict[str, int] = {}
        self.memories: dict[str, Memory] = {}
        self.parameters: dict[Atom, DataParameter] = {}
        self.free_names: dict[str, int] = {}
        self.unknowns: set[Unknown] = set()
        self.assumptions: dict[str, Assumption] = {}
        self.local_bytes: dict[str, int | None] = {}
        self.private_bytes: dict[str, int] = {}
        self.calls: list[str] = [kernel.name]
        self.clock = 0
        self.steps = 0
        self.line = kernel.name_range.start_line
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
        line = self.program.expanded.line(node.start_byte)
        if line >= 0:
            self.line = line

    def unknown(self, reason: str) -> Expression:
        """A value that the launch does not decide."""
        return opaque("unknown", self.tick(), reason)

    def assume(self, subject: str, text: str, spread: float = 1.0) -> None:
        """Note what had to be taken for granted; `{line}` in the words stands for the line at hand."""
        own = self.line if "{line}" in text else None
        self.assumptions.setdefault(f"{subject}: {text} {own}", Assumption(subject, text, spread, own))

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

    def free_name(self, name: str) -> Expression:
        """A name that nothing declares: the user must give it, or it is assumed."""
        self.free_names.setdefault(name, self.line)
        self.unreadable(UnknownKind.NAME, name)
        return symbol(f"name.{name}")

    # --- variables ---------------------------------------------------------------------------------------

    def declare(self, name: str, kind: Type, value: Value) -> int:
        key = self.tick()
        self.scopes[-1][name] = key
        self.types[key] = kind
        self.values[key] = value
        if not isinstance(kind, ScalarType | VectorType):
            for undeclared in undeclared_types(kind):
                self.unreadable(UnknownKind.TYPE, undeclared)
        return key

    def lookup(self, name: str) -> int | None:
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def held(self, key: int) -> Value:
        """What a variable holds; unknown where broken code declares it in a branch or loop without braces."""
        value = self.values.get(key)
        if value is None:
            value = self.values[key] = self.fresh_value(self.types[key], "declared where it may not be reached")
        return value

    def fresh_value(self, kind: Type, reason: str, name: str = "") -> Value:
        """A value of type `kind` about which nothing is known."""
        match kind:
            case ScalarType():
                return Scalar(self.unknown(reason), kind)
            case VectorType():
                return Vector(tuple(self.unknown(reason) for _ in range(kind.width)), kind)
            case PointerType():
                return Pointer(None, self.unknown(reason), kind)
            case StructType():
                return Aggregate((), kind)
            case _:
                return Other(name, kind)

    def completed(self, value: Value) -> Value:
        return self.whole_struct(value) if isinstance(value, Aggregate) else value

    def whole_struct(self, value: Aggregate) -> Aggregate:
        """A struct with all its members named, so that each can be followed on its own."""
        members = []
        for name, kind in value.type.members:
            member = value.member(name) or self.fresh_value(kind, f"member `{name}`")
            members.append((name, self.completed(member)))
        return Aggregate(tuple(members), value.type)

    # --- costs -------------------------------------------------------------------------------------------

    def varies_in(self, frame: LoopFrame, value: Expression) -> bool:
        """Whether `value` may differ between two iterations of `frame`."""
        for leaf in value.leaves:
            if leaf in frame.counters:
                return True
            stamp = leaf.arguments[0] if leaf.kind == "unknown" else leaf.arguments[-1] if leaf.kind == "load" else 0
            if isinstance(stamp, int) and stamp >= frame.clock:
                return True
        return False

    def home(self, value: Expression, *, may_speculate: bool) -> Builder:
        """The outermost block where `value` can be computed once (loop-invariant code moves out)."""
        block = self.block
        for frame in reversed(self.frames):
            if self.varies_in(frame, value) or (not may_speculate and block is not frame.body):
                break
            block = frame.outside
        return block

    def cost(self, kind: OpKind, kind_of: ScalarType, result: Expression | None = None, count: int = 1) -> None:
        """Count an operation, unless its result is a constant or was computed before."""
        if result is None:
            block = self.block
        else:
            if is_known(result) or result in self.available:
                return
            block = self.home(result, may_speculate=True)
            self.available.add(result)
        if not self.dry:
            block.ops[self.line, kind, element_name(kind_of)] += count

    def access(self, access: Access, results: tuple[Expression, ...] = ()) -> None:
        """Count a load (of the components `results`) or a store; what is at hand already is not loaded again."""
        block = self.block
        if results:
            if self.available.issuperset(results):
                return
            block = self.home(results[0], may_speculate=False)
            self.available.update(results)
        if not self.dry:
            block.accesses.append(access)

    def stored(self, memory: Memory) -> None:
        """After a store, loads from this memory (and from what may alias it) are new values."""
        now = self.tick()
        self.versions[memory.name] = now
        for other in self.memories.values():
            if other.space is memory.space and other.type == memory.type and memory.space is AddressSpace.GLOBAL:
                self.versions[other.name] = now

    def forget_shared(self) -> None:
        """After a barrier, local and global memory may hold what other work-items wrote."""
        now = self.tick()
        for memory in self.memories.values():
            if memory.space in (AddressSpace.LOCAL, AddressSpace.GLOBAL):
                self.versions[memory.name] = now


def is_known(value: Expression) -> bool:
    """Whether the compiler knows this value: a number, or a float literal."""
    if value.constant is not None:
        return True
    atom = value.atom
    return atom is not None and atom.kind == "literal"


EQUAL_SELDOM = 0.16


def likelihood(condition: Expression) -> float:
    """How often a condition over data holds, when nothing is known of the data.

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
    parts = [likelihood(a) for a in atom.arguments if isinstance(a, Expression)]
    match atom.kind:
        case "not":
            return 1 - parts[0]
        case "and":
            return parts[0] * parts[1]
        case "or":
            return 1 - (1 - parts[0]) * (1 - parts[1])
    return 0.5
