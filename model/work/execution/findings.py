"""What an analysis cannot read or has to assume: noted for the user, with its line."""

from __future__ import annotations

from model.launch.launch import Assumption
from model.opencl.builtin_types import INT
from model.work.execution.state import ExecutionState
from model.work.execution.unknowns import Unknown, UnknownKind
from model.work.execution.values import Scalar, Value
from model.work.expressions.conditions import likelihood
from model.work.expressions.launch_bindings import DataParameter
from model.work.expressions.symbolic import Atom, Expression, opaque, symbol


def unknown_number(state: ExecutionState, reason: str, *rests: Expression) -> Expression:
    """Return a value that the launch does not decide, but that is made from what it `rests` on."""
    value = opaque("unknown", state.tick(), reason)
    if rests and value.atom is not None:
        state.rests[value.atom] = rests
    return value


def assume(state: ExecutionState, subject: str, text: str, spread: float = 1.0, *, is_guess: bool = False) -> None:
    """Note what had to be taken for granted; `{line}` in the words stands for the line at hand."""
    own = state.line if "{line}" in text else None
    state.findings.assumptions.setdefault(f"{subject}: {text} {own}", Assumption(subject, text, spread, own, is_guess))


def note_unreadable(state: ExecutionState, kind: UnknownKind, name: str = "") -> None:
    """Note a construct on the line at hand that cannot be read."""
    state.findings.unknowns.add(Unknown(state.line, kind, name))


def data_parameter(state: ExecutionState, name: str, default: float, spread: float, text: str) -> Atom:
    """Return a number that the data decide, with its default: the user may give it."""
    atom = Atom.of("unknown", state.tick(), name)
    if not state.counting_disabled:
        state.findings.parameters[atom] = DataParameter(name, default, spread, state.line, text)
    return atom


def share_of(state: ExecutionState, condition: Expression) -> Atom | None:
    """Return the share of work-items that enter, where only the data decide; None where the launch does."""
    if condition.evaluable and not condition.has("load"):
        return None
    share = likelihood(condition)
    text = f"the data decide which work-items enter line {{line}}: assumed for {share * 100:.0f} % of them"
    return data_parameter(state, "share.{line}", share, 1.3, text)


def free_name(state: ExecutionState, name: str) -> Expression:
    """Return a name that nothing declares: the user must give it, or it is assumed."""
    state.findings.free_names.setdefault(name, state.line)
    note_unreadable(state, UnknownKind.NAME, name)
    return symbol(f"name.{name}")


def nothing(state: ExecutionState, what: str = "") -> Value:
    """Return an unknown value for an expression that cannot be read."""
    note_unreadable(state, UnknownKind.EXPRESSION, what)
    return Scalar(unknown_number(state, "code that could not be read"), INT)
