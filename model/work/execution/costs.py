"""Operations and accesses: counted once, in the outermost block where they can be computed."""

from __future__ import annotations

from collections.abc import Sequence

from model.opencl.types import ScalarType
from model.work.counts import OpKind
from model.work.execution.builder import Builder, PendingAccess, PendingOp
from model.work.execution.flow import LoopFrame
from model.work.execution.state import ExecutionState
from model.work.execution.values import element_name
from model.work.expressions.symbolic import Expression
from model.work.regions.region import Access


def varies_in(frame: LoopFrame, value: Expression) -> bool:
    """Return whether `value` may differ between two iterations of `frame`."""
    for leaf in value.leaves:
        if leaf in frame.counters:
            return True
        stamp = leaf.arguments[0] if leaf.kind == "unknown" else leaf.arguments[-1] if leaf.kind == "load" else 0
        if isinstance(stamp, int) and stamp >= frame.clock:
            return True
    return False


def home_block(state: ExecutionState, values: tuple[Expression, ...], *, may_speculate: bool) -> Builder:
    """Return the outermost block where `values` can be computed once (loop-invariant code moves out)."""
    block = around = state.block
    if not state.control.frames:
        return block
    for frame in reversed(state.control.frames):
        if not may_speculate and around is not frame.body:
            break
        if any(varies_in(frame, value) for value in values):
            break
        block, around = frame.outside, frame.outer
    return block


def new_block(state: ExecutionState) -> Builder:
    """Return a block inside the one that costs go to now."""
    return Builder(state.block.level + 1)


def make_available(state: ExecutionState, values: tuple[Expression, ...], block: Builder) -> None:
    """From here on `values` are at hand, computed in `block`."""
    for value in values:
        if value not in state.computed.available:
            state.computed.available.add(value)
            state.computed.found.append((value, block.level))


def all_available(state: ExecutionState, values: Sequence[Expression]) -> bool:
    """Return whether nothing need be computed: `values` were before, or the compiler knows them."""
    available, constants = state.computed.available, state.computed.constants
    for value in values:
        if value not in available and not is_known(value):
            leaves = value.leaves
            if not constants or not leaves or not leaves <= constants:
                return False
    return True


def forget_available(state: ExecutionState, mark: int, level: int) -> set[Expression]:
    """Forget what was found since `mark` in blocks deeper than `level`; gives what that was."""
    since = state.computed.found[mark:]
    del state.computed.found[mark:]
    lost = {value for value, at in since if at > level}
    state.computed.available -= lost
    state.computed.found += [(value, at) for value, at in since if at <= level]
    return lost


def count_operations(
    state: ExecutionState, kind: OpKind, kind_of: ScalarType, *results: Expression, function: str = "", times: int = 1
) -> None:
    """Count `times` operations for each of `results`, unless they are constants or were computed before."""
    if state.counting_disabled:
        return
    block = state.block
    if results:
        if all_available(state, results):
            return
        # A call may do what its argument's author guarded against: only code that surely runs moves out.
        block = home_block(state, results, may_speculate=not function)
        make_available(state, results, block)
    block.ops.append(PendingOp(state.line, kind, element_name(kind_of), function, times, results))


def count_access(
    state: ExecutionState,
    access: Access,
    results: tuple[Expression, ...] = (),
    stored: tuple[Expression, ...] = (),
    known: tuple[Expression, ...] = (),
) -> None:
    """Count a load (of the components `results`) or a store; what is at hand already is not loaded again.

    `known` are the components where memory holds what is known: a load is needed where these are.
    """
    if state.counting_disabled:
        return
    block = state.block
    if results:
        if state.computed.available.issuperset(results):
            return
        block = home_block(state, results, may_speculate=False)
        make_available(state, results, block)
    block.accesses.append(PendingAccess(access, known or results, stored))


def is_known(value: Expression) -> bool:
    """Return whether the compiler knows this value: a number, or a float literal."""
    if value.constant is not None:
        return True
    atom = value.atom
    return atom is not None and atom.kind == "literal"
