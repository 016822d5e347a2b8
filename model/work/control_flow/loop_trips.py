"""How often a loop of the source runs, and who returns from it: by the launch, else by a named parameter."""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from model.work.control_flow.trial import Trial
from model.work.execution.findings import data_parameter
from model.work.execution.flow import Exit, Flow
from model.work.execution.state import ExecutionState
from model.work.expressions.conditions import likelihood
from model.work.expressions.evaluate import evaluate
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.operations import any_of, less, operation, substituted
from model.work.expressions.symbolic import ONE, ZERO, Expression, number
from model.work.expressions.trips import ENDLESS, Induction, trip_count, upper_bound
from model.work.regions.region import DEFAULT_DATA_TRIPS, Leaves


@dataclass(frozen=True, slots=True)
class Trips:
    """`count` iterations are begun; `returned` is 1 where one of them returned, None where the data decide that."""

    count: Expression
    returned: Expression | None = ZERO
    likely_return: float = 0.0
    leaves: Leaves | None = None  # where the data decide; over symbols for the variables at an iteration's start


def trips_of(state: ExecutionState, node: Node, tried: Trial, line: int) -> Trips:
    flat = [v for vs in tried.variables.values() for v in vs]
    state.line = line
    if not tried.goes_round:
        return _once(state, node, tried, flat)
    header = _header(tried.condition, flat, is_do=node.type == "do_statement")
    ends = tried.condition if header is not None and node.type != "do_statement" else None
    leaving = [(e, c, _iterations_before(c, flat, ends)) for e, c in tried.exits if c.constant != 0]
    bounds = [before + ONE for _, _, before in leaving if before is not None]
    count = _least([*([header] if header is not None else []), *bounds])
    likely = 1 - min((1 - likelihood(c) for e, c, _ in leaving if e.flow is Flow.RETURN), default=1.0)
    if any(before is None for _, _, before in leaving) or count is None:
        bound = count if count is not None else upper_bound(tried.condition, flat)
        return Trips(_by_data(state, bound), None, likely, _leaves(node, tried, header, leaving, bound))
    returned = ZERO
    for exit_, _, before in leaving:
        if exit_.flow is Flow.RETURN and before is not None:
            others = [b for e, _, b in leaving if e is not exit_ and b is not None]
            limit = _least([*([header] if header is not None else []), *others])
            met = less(before, limit) if limit is not None else ONE
            returned = operation("or", returned, met) if returned.constant != 0 else met
    return Trips(_run_now(count), returned, likely)


def _once(state: ExecutionState, node: Node, tried: Trial, flat: list[Induction]) -> Trips:
    """Return the trips of a loop whose first iteration, if it begins, always leaves the loop."""
    starts = {v.symbol: v.start for v in flat}
    begun = ONE if node.type == "do_statement" else substituted(tried.condition, starts)
    returning = [substituted(c, starts) for e, c in tried.exits if e.flow is Flow.RETURN]
    likely = 1 - min((1 - likelihood(c) for c in returning), default=1.0)
    if not _is_decided(begun):
        leaves = Leaves(operation("not", tried.condition), ZERO, ONE)
        return Trips(_by_data(state, ONE), None, likely, leaves)
    count = operation("select", begun, ONE, ZERO)
    if len(returning) == len(tried.exits):
        return Trips(count, begun, likely)
    if not all(_is_decided(c) for c in returning):
        return Trips(count, None, likely)
    returned = any_of(returning)
    return Trips(count, operation("and", begun, returned) if begun.constant is None else returned, likely)


def _by_data(state: ExecutionState, bound: Expression | None) -> Expression:
    """Return a named parameter with a default where the data decide: never a silent guess."""
    if bound is not None:
        text = (
            "the data decide when the loop on line {line} is left: assumed to run half its iterations, "
            f"at most {DEFAULT_DATA_TRIPS}"
        )
        share = data_parameter(state, "loop.{line}", 0.5, 3.0, text)
        half = operation("product", bound, Expression({(share,): 1}))
        return operation("min", half, number(DEFAULT_DATA_TRIPS))
    text = f"the data decide how often the loop on line {{line}} runs: assumed to run {DEFAULT_DATA_TRIPS} times"
    return Expression({(data_parameter(state, "loop.{line}", DEFAULT_DATA_TRIPS, 4.0, text),): 1})


def over_counter(leaves: Leaves, tried: Trial, counter: Expression) -> Leaves:
    """Return `leaves` with the loop's variables as at the start of iteration `counter`, as far as these are known."""
    symbols = frozenset(v.symbol for vs in tried.variables.values() for v in vs)
    values = {
        v.symbol: at
        for vs in tried.variables.values()
        for v in vs
        if (at := v.at(counter, symbols - {v.symbol})) is not None
    }
    return Leaves(substituted(leaves.before, values), substituted(leaves.within, values), leaves.limit)


def _is_decided(condition: Expression) -> bool:
    """Return whether the launch decides it, and not the data."""
    return condition.evaluable and not condition.has("load", "unknown")


def _leaves(
    node: Node,
    tried: Trial,
    header: Expression | None,
    leaving: list[tuple[Exit, Expression, Expression | None]],
    limit: Expression | None,
) -> Leaves:
    before = operation("not", tried.condition) if header is None and tried.condition.constant is None else ZERO
    within = ZERO
    for _, condition, known in leaving:
        if known is None:
            within = operation("or", within, condition) if within is not ZERO else condition
    if node.type == "do_statement":
        before, within = ZERO, operation("or", before, within) if before is not ZERO else within
    return Leaves(before, within, limit)


def _run_now(count: Expression) -> Expression:
    """Return a trip count in plain numbers where no launch is needed for it: `for (k = 1; k < 16; k *= 2)`."""
    if count.constant is not None or not all(str(a.arguments[0]).startswith("phi.") for a in count.leaves):
        return count
    known = LaunchBindings({}, {}, {})
    value = evaluate(count, known, {})
    return number(value) if isinstance(value, int) and not known.estimated and value < ENDLESS else count


def _header(condition: Expression, flat: list[Induction], *, is_do: bool) -> Expression | None:
    """Return how often the loop's own condition lets it run; None where it does not say."""
    if condition.constant is not None:
        return None if condition.constant else ONE if is_do else ZERO
    count = trip_count(condition, flat)
    return count + ONE if count is not None and is_do else count


def _iterations_before(leaves: Expression, flat: list[Induction], header: Expression | None) -> Expression | None:
    """Whole iterations before the one in which `leaves` first holds; not more, maybe, than `header` allows."""
    if leaves.constant is not None:
        return ZERO
    return trip_count(operation("not", leaves), flat, header)


def _least(counts: list[Expression]) -> Expression | None:
    if not counts:
        return None
    least = counts[0]
    for count in counts[1:]:
        least = operation("min", least, count)
    return least
