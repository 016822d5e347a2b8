"""Helpers: inlined with their arguments, or, where a kernel calls them over and over, repeated."""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node

from model.errors import AnalysisError
from model.opencl.builtin_types import VOID
from model.opencl.kernel import Kernel
from model.opencl.program import Program
from model.opencl.reading import Function
from model.opencl.types import AddressSpace, PointerType, ScalarType, VectorType
from model.work.builder import Builder, PendingLoop
from model.work.memory_calls import MemoryCalls
from model.work.replays import FREE_STEPS, ReadCall, extent
from model.work.symbolic import Atom, Expression, number
from model.work.unknowns import UnknownKind
from model.work.values import Aggregate, Other, Pointer, Scalar, Value, Vector, numbers_in
from model.work.writes import Spot

MAX_CALL_DEPTH = 32
REPLAY_SPREAD = 1.2

Repeats = dict[tuple[Builder, ReadCall], PendingLoop]


class Inlining(MemoryCalls):
    """`inline(helper, arguments)`. `returned` collects what the function being inlined returns."""

    returned: list[tuple[tuple[Expression, ...], Value]]  # with the path of conditions to each

    def __init__(self, program: Program, kernel: Kernel) -> None:
        super().__init__(program, kernel)
        self._read: dict[Function, ReadCall] = {}
        self._repeats: Repeats = {}  # of calls, in the helper that is being read

    def run_body(self, body: Node) -> None:
        raise NotImplementedError

    def inline(self, helper: Function, arguments: list[Value], node: Node) -> Value:
        """Return the call of `helper` at `node`."""
        if helper in self.calls:
            raise AnalysisError(f"`{helper.name}` calls itself: OpenCL C has no recursion", line=self.line + 1)
        if len(self.calls) >= MAX_CALL_DEPTH:
            raise AnalysisError(f"calls are nested more than {MAX_CALL_DEPTH} deep", line=self.line + 1)
        known = self._read.get(helper)
        if known is not None and self.steps > FREE_STEPS and self._stands_for_others(known):
            return self._replayed(helper, known, arguments)
        block, start, written, repeats = self.block, extent(self.block), self.writes.mark(), self._repeats
        self._repeats = {}
        result = self._inlined(helper, arguments, node)
        self._repeats = repeats
        if known is None or not self.dry:
            forgets = any(write.spot is None for write in self.writes.since(written))
            outputs = (*numbers_in(result), *(n for v in self._reached(helper, arguments) for n in numbers_in(v)))
            added_to = None if self.dry else block
            read = ReadCall(tuple(self.frames), added_to, start, extent(block), result, outputs, forgets)
            if known is None or read.holds_more_widely(known, self.frames):
                self._read[helper] = read
        return result

    def _inlined(self, helper: Function, arguments: list[Value], node: Node) -> Value:
        outer = (self.reader, self.scopes, self.block, self.returned, self.line)
        call_path = self.call_path
        self.call_path = (*call_path, (self.calls[-1].name, node.start_byte))
        path, exits, found, entered = len(self.path), len(self.exits), len(self.found), self.clock
        self.reader, self.scopes, self.returned = self.program.reader(helper, self.names), [{}], []
        self.calls.append(helper)
        if helper.has_errors:
            self.unreadable(UnknownKind.SYNTAX, helper.name)
        for declared, value in zip(helper.parameters, arguments, strict=False):
            fits = isinstance(declared.type, ScalarType | VectorType) and isinstance(value, Scalar | Vector)
            self.declare(declared.name, declared.type, self.convert(value, declared.type) if fits else value)
            if isinstance(value, Pointer) and isinstance(declared.type, PointerType):
                kind = PointerType(declared.type.pointee, value.type.space)
                self.values[self.scopes[-1][declared.name]] = Pointer(value.memory, value.offset, kind)
        self.run_body(helper.body)
        returned = self.returned
        self.calls.pop()
        self.call_path = call_path
        self.reader, self.scopes, self.block, self.returned, self.line = outer
        del self.path[path:], self.exits[exits:]
        # Branches compare all variables there are: those of a call that is over would make every later one slower.
        self.values = {key: value for key, value in self.values.items() if key <= entered}
        self.lose(found, self.block.level)
        if not returned or helper.return_type == VOID:
            return Other("", VOID)
        of = helper.return_type
        values = [
            (where[path:], self.convert(v, of) if isinstance(of, ScalarType | VectorType) else v)
            for where, v in returned
        ]
        result = values[-1][1]
        for where, value in reversed(values[:-1]):
            if value != result:
                result = self.either(self.conjunction(where), value, result)
        return result

    # --- calls that another call stands for --------------------------------------------------------------

    def _stands_for_others(self, known: ReadCall) -> bool:
        return bool(self.dry) or (known.block is not None and known.holds_in(self.frames))

    def _replayed(self, helper: Function, known: ReadCall, arguments: list[Value]) -> Value:
        """Once more the work of a call that was read; what it gives is a new value that rests on the arguments."""
        if not self.dry:
            self._repeat(known)
            text = f"`{helper.name}` is called so often that one of its calls stands for the later ones"
            self.assume(helper.name, text, REPLAY_SPREAD)
        given = (*arguments, *self._reached(helper, arguments))
        rests = (*(n for v in given for n in numbers_in(v)), *known.outputs)
        self._forget_reached(helper, arguments, rests)
        if known.forgets_shared:
            self.forget_shared()
        if helper.return_type == VOID:
            return Other("", VOID)
        result = known.result
        if isinstance(result, Pointer):
            return Pointer(result.memory, self.unknown(f"`{helper.name}`", *rests), result.type)
        return self.fresh_value(result.type, f"`{helper.name}`", rests=rests)

    def _repeat(self, known: ReadCall) -> None:
        """Equal calls in one block are one loop around what the first of them did."""
        repeat = self._repeats.get((self.block, known))
        if repeat is not None:
            repeat.trips = repeat.trips + number(1)
            return
        body = known.shared()
        self.steps += body.items
        counter = Atom.new("symbol", (f"loop.{self.tick()}",))
        repeat = self._repeats[self.block, known] = PendingLoop(number(1), counter, body, self.line)
        self.block.inner.append(repeat)

    def _forget_reached(self, helper: Function, arguments: list[Value], rests: tuple[Expression, ...]) -> None:
        """What its pointers reach may be anything after a call that was not read."""
        for pointer in _writable(helper, arguments):
            memory = pointer.memory
            if memory is None:
                if pointer.type.space is not AddressSpace.PRIVATE:
                    self.forget_shared()
            elif memory.variable is not None:
                self.forget_variable(memory.variable, rests)
            else:
                self.stored(Spot(memory, None, 1, "i8"))

    def _reached(self, helper: Function, arguments: list[Value]) -> list[Value]:
        """Return the private variables that a call may have changed."""
        memories = [p.memory for p in _writable(helper, arguments) if p.memory is not None]
        return [self.held(m.variable) for m in memories if m.variable is not None]


def _writable(helper: Function, arguments: Sequence[Value]) -> list[Pointer]:
    """Return the pointers that a helper is given and may write through."""
    kinds = [parameter.type for parameter in helper.parameters]
    found: list[Pointer] = []
    for index, value in enumerate(arguments):
        kind = kinds[index] if index < len(kinds) else None
        if isinstance(value, Pointer) and not (isinstance(kind, PointerType) and kind.is_const):
            found.append(value)
        elif isinstance(value, Aggregate):
            found += [member for _, member in value.members if isinstance(member, Pointer)]
    return found
