"""Launches that may be faster than the one that is written: what its ranges, its kernel and a device allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TypeVar

from model.device import Device, DeviceType
from model.launch.annotation.static_checks import allows_uneven_groups
from model.launch.arithmetic import Number
from model.launch.driver_choice import effective_local_size
from model.launch.expression import ExpressionError
from model.launch.launch import Launch
from model.launch.names import defined_numbers, resolve
from model.launch.spec import LaunchSpec
from model.launch.tuning import SIZES, Choice, Tuning
from model.opencl.kernel import Kernel
from model.opencl.options import BuildOptions

MOST_COMBINATIONS = 1024
_LEAST_ITEMS = {DeviceType.GPU: 32}  # in a work-group: fewer leave lanes empty on any device of the kind
_LEAST_ITEMS_ELSEWHERE = 8
_FEW_POWERS = 6
_MOST_DIVISORS = 12
Sizes = tuple[int, ...]
_Any = TypeVar("_Any")


@dataclass(frozen=True, slots=True)
class Combination:
    """One value for each range but those of sizes."""

    defines: tuple[tuple[str, str], ...] = ()
    values: tuple[tuple[str, str], ...] = ()  # of scalar arguments and free names


def combinations(
    tuning: Tuning, spec: LaunchSpec, kernel: Kernel, known: Mapping[str, Number]
) -> tuple[Combination, ...]:
    """Return what the ranges of macros and scalars allow together, without regard to sizes.

    A range of a scalar argument, or of a name that the launch gives a value, gives it another; any other is a macro's.
    Conditions on what is chosen here alone are applied. Of more than `MOST_COMBINATIONS` some are left out evenly.
    """
    ranges = [one for one in tuning.ranges if one.name not in SIZES and one.choices]
    given = {name for name, _ in spec.values}
    chosen = {one.name for one in ranges}
    early = [one for one in tuning.conditions if one.names <= chosen | known.keys()]
    found: list[Combination] = []
    for choices in product(*(one.choices for one in ranges)):
        picked = {one.name: choice.text for one, choice in zip(ranges, choices, strict=True)}
        numbers = {**known, **defined_numbers_of(picked)}
        try:
            if not all(condition.holds(numbers) for condition in early):
                continue
        except ExpressionError:  # a division by zero, or a word where a number was due: nothing holds of that
            continue
        values = {name for name in picked if name in given or kernel.parameter(name) is not None}
        found.append(
            Combination(
                tuple((name, text) for name, text in picked.items() if name not in values),
                tuple((name, text) for name, text in picked.items() if name in values),
            )
        )
    return tuple(thinned(found, MOST_COMBINATIONS))


def defined_numbers_of(texts: Mapping[str, str]) -> dict[str, Number]:
    """Return the values that are plain numbers."""
    return defined_numbers(BuildOptions(tuple(texts.items())))


def names_of(launch: Launch, spec: LaunchSpec, kernel: Kernel, device: Device) -> dict[str, Number]:
    """Return what conditions may speak of, in numbers."""
    names = defined_numbers(launch.options)
    names |= resolve(spec.values, names).scalars | dict(launch.scalars)
    local = effective_local_size(launch, kernel)
    for size, parts in (("global", launch.global_size), ("local", local)):
        names[size] = prod(parts)
        names |= {f"{size}.{letter}": part for letter, part in zip("xyz", (*parts, 1, 1), strict=False)}
    names["device.local_mem_bytes"] = device.local_mem_bytes
    names["device.max_work_group_size"] = device.max_work_group_size
    return names


def size_choices(tuning: Tuning, name: str) -> tuple[Choice, ...] | None:
    """Return what is listed for `local` or `global`; None where nothing is."""
    found = next((one for one in tuning.ranges if one.name == name), None)
    return found.choices if found is not None else None


def local_sizes(launch: Launch, kernel: Kernel, device: Device) -> Iterator[Sizes | None]:
    """Yield local sizes that the device allows for this launch: powers of two, and divisors where these do not fit.

    None, with which the driver chooses, is the first.
    """
    required = kernel.attributes.reqd_work_group_size
    if required is not None:
        yield required[: len(launch.global_size)]
        return
    yield None
    is_uneven = allows_uneven_groups(launch.options.flags)
    least = min(_LEAST_ITEMS.get(device.type, _LEAST_ITEMS_ELSEWHERE), launch.work_items)
    sides = [
        _sides(whole, most, is_uneven=is_uneven)
        for whole, most in zip(launch.global_size, device.max_work_item_sizes, strict=False)
    ]
    for sizes in product(*sides):
        if least <= prod(sizes) <= device.max_work_group_size:
            yield sizes


def _sides(whole: int, most: int, *, is_uneven: bool) -> list[int]:
    most = min(whole, most)
    powers = [1 << n for n in range(most.bit_length())]
    fitting = [size for size in powers if size <= most and (is_uneven or whole % size == 0)]
    if len(fitting) >= _FEW_POWERS or whole <= 1:
        return fitting
    divisors = [size for size in range(1, min(most, 4096) + 1) if whole % size == 0]
    return sorted({*fitting, *thinned(divisors, _MOST_DIVISORS)})


def thinned(found: Sequence[_Any], most: int) -> list[_Any]:
    """Return at most the given number of them, evenly spaced, including the first and the last."""
    if len(found) <= most:
        return list(found)
    return [found[at * (len(found) - 1) // (most - 1)] for at in range(most)]


def refusal(launch: Launch, kernel: Kernel, device: Device, local_mem_bytes: int) -> str:
    """Return why this launch cannot run on the device; empty if it can. `local_mem_bytes` are of a work-group."""
    if local_mem_bytes > device.local_mem_bytes > 0:
        return "more local memory than the device has"
    local = launch.local_size
    if local is None:
        return ""
    required = kernel.attributes.reqd_work_group_size
    if required is not None and tuple((*local, 1, 1)[:3]) != required:
        return "not the kernel's reqd_work_group_size"
    if prod(local) > device.max_work_group_size:
        return "larger work-groups than the device allows"
    if any(size > most for size, most in zip(local, device.max_work_item_sizes, strict=False)):
        return "a local size beyond what the device allows in one dimension"
    is_divisor = all(whole % size == 0 for whole, size in zip(launch.global_size, local, strict=False))
    if not is_divisor and not allows_uneven_groups(launch.options.flags):
        return "a local size that does not divide the global size"
    return ""
