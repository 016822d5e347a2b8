"""What plain numbers rule out before the kernel is known: `9**9**9`, `global=-4`, `local=48` under `global=1000`."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from model.launch.annotation.items import ItemProblem, Items, read_items
from model.launch.arithmetic import Number
from model.launch.expression import Expression, ExpressionError
from model.launch.names import defined_numbers, resolve
from model.launch.spec import LaunchSpec


@lru_cache(maxsize=1024)
def read_possible(body: str) -> Items:
    """Return the items of `body` less those that cannot be; each of these is a problem at its own characters."""
    items = read_items(body)
    spec, problems = items.spec, list(items.problems)
    resolved = resolve(spec.values, defined_numbers(spec.options))
    for name, error in resolved.errors.items():
        problems.append(ItemProblem(f"{name}: {error.message}", error.start, error.end))
    spec = replace(spec, values=tuple((name, parts) for name, parts in spec.values if name not in resolved.errors))
    names = {**defined_numbers(spec.options), **resolved.scalars}

    sound_fills = []
    for name, fill in spec.fills:
        try:
            if fill.names <= names.keys():
                fill.evaluate(names)
            sound_fills.append((name, fill))
        except ExpressionError as error:
            problems.append(ItemProblem(error.message, error.start, error.end))
    spec = replace(spec, fills=tuple(sound_fills))

    global_size, found = _known_sizes("global", spec.global_size, names)
    problems += found
    if found:
        spec = replace(spec, global_size=None)
    local_size, found = _known_sizes("local", spec.local_size, names)
    found = found or _mismatches(items, spec, global_size, local_size)
    problems += found
    if found:
        spec = replace(spec, local_size=None)
    problems.sort(key=lambda problem: problem.start)
    return replace(items, spec=spec, problems=tuple(problems))


def _known_sizes(
    key: str, sizes: tuple[Expression, ...] | None, names: dict[str, Number]
) -> tuple[tuple[int | None, ...], list[ItemProblem]]:
    """Return each size in numbers, None where it waits for a name; and what is wrong with them."""
    known: list[int | None] = []
    problems = []
    for size in sizes or ():
        try:
            known.append(size.evaluate_size(names) if size.names <= names.keys() else None)
        except ExpressionError as error:
            problems.append(ItemProblem(f"{key} size: {error.message}", error.start, error.end))
    return tuple(known), problems


def _mismatches(
    items: Items, spec: LaunchSpec, global_size: tuple[int | None, ...], local_size: tuple[int | None, ...]
) -> list[ItemProblem]:
    if not spec.global_size or not spec.local_size:
        return []
    if len(spec.global_size) != len(spec.local_size):
        start, end = items.key_span("local")
        counts = f"{len(spec.local_size)} local against {len(spec.global_size)} global"
        return [ItemProblem(f"global and local need equally many sizes, here {counts}", start, end)]
    if allows_uneven_groups(spec.options.flags):
        return []
    problems = []
    for size, whole, part in zip(spec.local_size, global_size, local_size, strict=True):
        if whole is not None and part is not None and whole % part:
            rounded = -(-whole // part) * part
            message = (
                f"local size {part} does not divide global size {whole}; allowed are a divisor of {whole}, "
                f"local=auto, a global size of {rounded}, or uneven work-groups with -cl-std=CL2.0"
            )
            problems.append(ItemProblem(message, size.start, size.end))
    return problems


def allows_uneven_groups(flags: tuple[str, ...]) -> bool:
    """Return whether a program built so may be launched with a last work-group that is smaller (OpenCL C 2.0 on)."""
    standard = next((f.removeprefix("-cl-std=CL") for f in reversed(flags) if f.startswith("-cl-std=CL")), "1.2")
    return standard >= "2" and "-cl-uniform-work-group-size" not in flags
