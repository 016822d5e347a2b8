"""Runtime against problem size, and in words what was scaled for that."""

from __future__ import annotations

from model.launch.scaling_plan import Plan
from server.report.charts.legend import legend
from server.report.charts.sizes import size_charts
from server.report.facts import LaunchFacts, Sizes
from server.report.markup import Child, prose, tag
from server.text.fit import fit_sentence
from server.text.format import format_count

_ROOTS = {1.0: " in proportion", 0.5: " with the square root of the problem", 1 / 3: " with its cube root"}


def sizes_section(launch: LaunchFacts, chart_id: str) -> list[Child]:
    sizes = launch.sizes
    if sizes is None:
        return []
    heading = tag("h4", "Problem size")
    if len(sizes.points) < 2:
        why = sizes.plan.reason or sizes.stopped or "nothing of the launch is a size"
        return [heading, tag("p", "Other sizes cannot be predicted: ", prose(why), ".", class_="soft no-sizes")]
    caption = tag("figcaption", [tag("p", prose(text)) for text in _explained(sizes, launch)])
    entries = [("curve", "predicted"), ("band", "its 80 % range"), ("mark predicted", "this launch")]
    if sizes.measured:
        entries.append(("mark measured", "measured"))
    return [heading, tag("figure", size_charts(chart_id, sizes), legend(entries), caption, class_="sizes")]


def _explained(sizes: Sizes, launch: LaunchFacts) -> list[str]:
    plan, made = sizes.plan, launch.forecast.launch
    assert made is not None
    low, high = sizes.points[0].factor, sizes.points[-1].factor
    local = "x".join(map(str, made.local_size)) if made.local_size else "the driver's choice"
    said = [
        f"The same kernel from {_times(low)} to {_times(high)} the size of this launch. {_grows(plan)} The local size "
        f"stays {local}, and the global size a multiple of it."
    ]
    if plan.stays:
        listed = ", ".join(f"`{name}` = {value:,}" for name, value in plan.stays[:8])
        said.append(f"Not sizes, and left unchanged: {listed}{', ...' if len(plan.stays) > 8 else ''}.")
    if sizes.measured:
        said.append("Measurements are of this very source on this device.")
    if sizes.line is not None:
        said.append(f"The curve follows what was measured of this kernel: {fit_sentence(sizes.line)}.")
    if sizes.stopped:
        said.append(f"Nothing larger: {sizes.stopped}.")
    return said


def _grows(plan: Plan) -> str:
    groups: dict[float, list[str]] = {}
    powers = [power for power in plan.sides if power]
    if powers:
        groups[round(powers[0], 3)] = ["the global size" if len(powers) == 1 else "each side of the global size"]
    for growth in (*plan.drivers, *plan.followers):
        groups.setdefault(round(growth.power, 3), []).append(f"`{growth.name}` ({growth.at:,} here)")
    text = "; ".join(
        f"{_joined(names)} {'grows' if len(names) == 1 else 'grow'}{_how(power)}" for power, names in groups.items()
    )
    verb = "follows" if len(plan.follows) == 1 else "follow"
    follows = f"; {_listed(plan.follows)} {verb}" if plan.follows else ""
    return f"{text[:1].upper()}{text[1:]}{follows}."


def _how(power: float) -> str:
    named = next((words for known, words in _ROOTS.items() if abs(known - power) < 0.01), None)
    return named or f" with the problem to the power of {power:.2g}"


def _joined(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _listed(names: tuple[str, ...]) -> str:
    shown = [f"`{name}`" for name in names[:8]]
    if len(names) > 8:
        return f"{', '.join(shown)} and {len(names) - 8} more"
    return _joined(shown)


def _times(factor: float) -> str:
    return f"{format_count(factor)} times" if factor >= 1 else f"1/{format_count(1 / factor)}"
