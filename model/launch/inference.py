"""Completing a launch: what nobody said is inferred from the source, and every guess is listed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from math import prod

from model.device import Device
from model.errors import LaunchError
from model.launch.access_bounds import AccessBounds
from model.launch.annotation.static_checks import allows_uneven_groups
from model.launch.buffers import with_buffers
from model.launch.driver_choice import effective_local_size
from model.launch.extents import image_sizes, with_reached_texels
from model.launch.launch import Assumption, Launch, Origin
from model.launch.plausible import implausible
from model.launch.plausible_scalars import plausible_scalars
from model.launch.resolve import ResolvedSpec, resolve
from model.launch.scalars import GuessedScalar, missing_scalars, name_of
from model.launch.source_hints import SourceHints, gather
from model.launch.spec import LaunchSpec, SharedGuesses
from model.opencl.kernel import Kernel
from model.work.work import Work

_DEFAULT_GLOBAL: dict[int, tuple[int, ...]] = {1: (1 << 20,), 2: (1024, 1024), 3: (128, 128, 64)}
_DEFAULT_GROUPS: dict[int, list[tuple[int, ...]]] = {1: [(256,), (128,), (64,), (32,), (16,), (8,), (4,), (1,)],
                   2: [(32, 32), (16, 16), (8, 8), (4, 4), (64, 1), (16, 1), (1, 1)],
                   3: [(8, 8, 4), (4, 4, 4), (2, 2, 2), (1, 1, 1)]}  # fmt: skip
_PREFERRED_GROUP: dict[int, tuple[int, ...]] = {1: (64,), 2: (16, 16), 3: (4, 4, 4)}
_LARGE_PRIVATE_BYTES, _STACK_BYTES = 1024, 256 << 10
_USUAL_GROUP = 64
_BIGGEST_ASSUMED_BYTES = 256 << 20
_MOST_ASSUMED_BLOCKS = 5e8  # executed: a second or so, also on a processor that reads images in software
_VISITS_OF_A_GUESS = 1_000  # for an order of magnitude
_MARGINS = (1, 2, 4, 8, 16, 32)
_SHRINK = (1, 4, 16, 64, 256, 1024)


def complete(kernel: Kernel, work: Work, spec: LaunchSpec, device: Device | None = None) -> Launch:
    """Return the launch that `spec` means, with everything it leaves open inferred and listed as assumptions.

    Raises ExpressionError or LaunchError for what cannot be (also: too large for `device`).
    """
    said = resolve(kernel, spec)
    hints = gather(work)
    is_shared = spec.shared is not None and spec.shared.global_size is not None
    if said.global_size is not None or is_shared or _guarded_size(hints, said) is not None:
        launch = _attempt(kernel, work, spec, said, hints, 1)
    else:
        # An invented size must not ask for absurd buffers or times: an N x N matrix for a million work-items.
        for shrink in _SHRINK:
            launch = _attempt(kernel, work, spec, said, hints, shrink)
            if not is_too_much(kernel, work, launch):
                break
    launch = _without_surplus(kernel, work, launch)
    check(kernel, launch, device)
    return launch


def is_too_much(kernel: Kernel, work: Work, launch: Launch) -> bool:
    """Return whether a launch that is guessed asks for more memory or time than anyone would guess."""
    if buffer_bytes(kernel, launch) > _BIGGEST_ASSUMED_BYTES:
        return True
    return sum(work.walk(launch, most_visits=_VISITS_OF_A_GUESS).runs.values()) > _MOST_ASSUMED_BLOCKS


def buffer_bytes(kernel: Kernel, launch: Launch) -> int:
    """Bytes of global memory that the arguments of a launch take (images as 16 bytes a texel)."""
    total = 0
    for name, elements in launch.buffers:
        parameter = kernel.parameter(name)
        total += elements * (parameter.pointee_bytes if parameter else 4)
    return total + sum(prod(size) * 16 for _, size in launch.images)


def _attempt(
    kernel: Kernel,
    work: Work,
    spec: LaunchSpec,
    said: ResolvedSpec,
    hints: SourceHints,
    shrink: int,
    group: tuple[int, ...] | None = None,
) -> Launch:
    """Return the launch with its sizes reduced by `shrink`; `group` is the work-group that scalars must fit, if any."""
    notes = [Assumption("sizes", text) for text in spec.notes]
    size = _global_size(said, hints, kernel, shrink, notes, spec.shared)
    scalars = dict(said.scalars)
    guesses = _safe_scalars(kernel, work, spec, said, hints, size)
    for guess in plausible_scalars(work, guesses, lambda them: _with_scalars(spec, said, size, them, group)):
        scalars[guess.name] = guess.value
        notes.append(Assumption(guess.name, guess.text, is_guess=guess.matters))
    images, of_images = image_sizes(kernel, said.images, scalars, size)
    notes += of_images
    launch = Launch(
        global_size=size,
        scalars=tuple(scalars.items()),
        buffers=tuple(said.buffers.items()),
        images=tuple(images.items()),
        local_bytes=tuple(said.local_bytes.items()),
        fills=tuple(said.fills.items()),
        options=spec.options,
        name=spec.name,
        origin=spec.origin,
    )
    local = _local_size(kernel, work, said, hints, launch, notes)
    launch = replace(launch, local_size=local, assumptions=tuple(notes))
    if guesses and group is None and local is not None and implausible(work, launch):
        return _attempt(kernel, work, spec, said, hints, shrink, local)
    return with_buffers(kernel, work, with_reached_texels(work, launch, said.images), hints)


def _safe_scalars(
    kernel: Kernel, work: Work, spec: LaunchSpec, said: ResolvedSpec, hints: SourceHints, size: tuple[int, ...]
) -> list[GuessedScalar]:
    """Return what nobody gave, with margins wide enough that no index falls in front of its buffer."""
    guesses = missing_scalars(kernel, work, hints, size, said.scalars, shared=spec.shared)
    if not hints.margins:
        return guesses
    tried = guesses
    for margin in _MARGINS:
        if not AccessBounds(work, _with_scalars(spec, said, size, tried)).falls_short:
            return tried
        tried = missing_scalars(kernel, work, hints, size, said.scalars, margin=margin, shared=spec.shared)
        if tried == guesses:
            break
    return guesses


def _with_scalars(
    spec: LaunchSpec,
    said: ResolvedSpec,
    size: tuple[int, ...],
    guesses: Sequence[GuessedScalar],
    group: tuple[int, ...] | None = None,
) -> Launch:
    """Return the launch as far as it is known once its scalars are."""
    scalars = {**said.scalars, **{guess.name: guess.value for guess in guesses}}
    return Launch(size, said.local_size or group, tuple(scalars.items()), options=spec.options)


def _guarded_size(hints: SourceHints, said: ResolvedSpec) -> tuple[int, ...] | None:
    """Return the sizes that bound checks hold the global ids against, when the user gave those."""
    sizes = []
    for d in range(hints.dimensions):
        values = [said.scalars.get(name_of(a)) for a in hints.guards.get(d, [])]
        given = [int(v) for v in values if v is not None and v >= 1]
        product = hints.products.get(d)
        factors = [said.scalars.get(name_of(a)) for a in product.factors] if product is not None else []
        if product is not None and all(factor is not None and factor >= 1 for factor in factors):
            given.append(math.ceil(product.times * prod(factor for factor in factors if factor is not None)))
        if not given:
            return None
        sizes.append(max(given))
    return tuple(sizes)


def _global_size(
    said: ResolvedSpec,
    hints: SourceHints,
    kernel: Kernel,
    shrink: int,
    notes: list[Assumption],
    shared: SharedGuesses | None,
) -> tuple[int, ...]:
    if said.global_size is not None:
        return said.global_size
    multiple = said.local_size or kernel.attributes.reqd_work_group_size
    guarded = _guarded_size(hints, said)
    if guarded is not None:
        size = guarded
        text = "global={} from the bound check in the source"
    elif shared is not None and shared.global_size is not None:
        size = shared.global_size
        text = f"global={{}}: nothing says how many work-items there are; as in `{shared.size_from}`"
    else:
        dimensions = max(hints.dimensions, len(said.local_size or ()))
        default = _DEFAULT_GLOBAL[dimensions]
        size = tuple(max(16, round(s / shrink ** (1 / dimensions))) // 16 * 16 for s in default)
        text = "global={}: nothing says how many work-items there are"
    if multiple:
        size = tuple(-(-s // m) * m for s, m in zip(size, multiple, strict=False))
    notes.append(Assumption("global", text.format(_tuple_text(size)), is_guess=guarded is None))
    return size


def _tuple_text(size: tuple[int, ...]) -> str:
    return str(size[0]) if len(size) == 1 else f"({', '.join(map(str, size))})"


def _local_size(
    kernel: Kernel, work: Work, said: ResolvedSpec, hints: SourceHints, launch: Launch, notes: list[Assumption]
) -> tuple[int, ...] | None:
    rank = len(launch.global_size)
    if said.local_size is not None:
        return said.local_size
    required = kernel.attributes.reqd_work_group_size
    if required is not None:
        return required[:rank]
    if said.driver_chooses_local:
        return None
    if not hints.uses_local:
        return _group_for_stack(work, launch, notes)
    fitting = _fitting_group(work, launch, hints.local_sides)
    notes.append(
        Assumption("local", f"local={_tuple_text(fitting)}: nothing says how large a work-group is", is_guess=True)
    )
    return fitting


def _group_for_stack(work: Work, launch: Launch, notes: list[Assumption]) -> tuple[int, ...] | None:
    """Return a small work-group for work-items with large private arrays.

    CPU drivers keep those of a whole group on one stack, and drivers that choose take thousands of work-items.
    """
    if work.private_bytes < _LARGE_PRIVATE_BYTES:
        return None
    most = min(_USUAL_GROUP, max(1, _STACK_BYTES // work.private_bytes))
    first = next(s for s in range(most, 0, -1) if launch.global_size[0] % s == 0)
    group = (first, *(1 for _ in launch.global_size[1:]))
    text = f"local={_tuple_text(group)}: each work-item keeps {work.private_bytes} bytes in arrays of its own"
    notes.append(Assumption("local", text))
    return group


def _fitting_group(work: Work, launch: Launch, sides: set[int]) -> tuple[int, ...]:
    """Return the largest usual work-group for which all local arrays of fixed size are indexed within bounds.

    Only along `sides` it has more than one work-item: others would share what each has for itself in local memory.
    """
    rank = len(launch.global_size)
    along = [d for d in range(rank) if d in sides] or range(rank)
    usual = [_spread(group, along, rank) for group in _DEFAULT_GROUPS[len(along)]]
    declared = {name: size for name, size in work.local_bytes if size}
    possible = [c for c in usual if all(g % s == 0 for g, s in zip(launch.global_size, c, strict=True))]
    if not declared:
        preferred = _spread(_PREFERRED_GROUP[len(along)], along, rank)
        return preferred if preferred in possible else possible[-1] if possible else (1,) * rank
    for candidate in possible:
        spans = AccessBounds(work, replace(launch, local_size=candidate)).spans
        ends = [(size, spans[name].high) for name, size in declared.items() if name in spans]
        if all(end <= size or math.isinf(end) for size, end in ends):
            return candidate
    return possible[-1] if possible else (1,) * rank


def _spread(group: tuple[int, ...], along: Sequence[int], rank: int) -> tuple[int, ...]:
    sizes = dict(zip(along, group, strict=True))
    return tuple(sizes.get(d, 1) for d in range(rank))


def _without_surplus(kernel: Kernel, work: Work, launch: Launch) -> Launch:
    """Names that only helped to write other values (`N=1024 A=N*N`) are no arguments."""
    names = {p.name for p in kernel.parameters} | {name for name, _ in work.free_names}
    kept = tuple((n, v) for n, v in launch.scalars if n.partition(".")[0] in names)
    return replace(launch, scalars=kept)


def check(kernel: Kernel, launch: Launch, device: Device | None) -> None:
    """Check that the device can run the launch, or without a device that any can. Raises LaunchError."""
    local = launch.local_size
    required = kernel.attributes.reqd_work_group_size
    if local and required and tuple(local) != required[: len(local)]:
        raise LaunchError(f"`{kernel.name}` requires local={_tuple_text(required[: len(local)])}")
    if local and not allows_uneven_groups(launch.options.flags):
        uneven = [(g, s) for g, s in zip(launch.global_size, local, strict=False) if g % s]
        if uneven and launch.origin is not Origin.INFERRED:
            size, group = uneven[0]
            raise LaunchError(
                f"local={group} does not divide global={size}: OpenCL C before 2.0 wants whole work-groups "
                f"(use global={-(-size // group) * group} and a bound check, or build with -cl-std=CL2.0)"
            )
    if device is None:
        return
    group = prod(effective_local_size(launch, kernel))
    if local and group > device.max_work_group_size:
        raise LaunchError(
            f"a work-group of {group} work-items is more than {device.name} allows ({device.max_work_group_size})"
        )
    for name, elements in launch.buffers:
        parameter = kernel.parameter(name)
        size = elements * (parameter.pointee_bytes if parameter else 4)
        if size > device.max_alloc_bytes:
            raise LaunchError(
                f"`{name}` takes {size / 1e9:.3g} GB, more than {device.name} gives to one buffer "
                f"({device.max_alloc_bytes / 1e9:.3g} GB): make it smaller"
            )
    total = buffer_bytes(kernel, launch)
    if total > device.global_mem_bytes:
        raise LaunchError(
            f"the buffers take {total / 1e9:.3g} GB together, more than {device.name} has "
            f"({device.global_mem_bytes / 1e9:.3g} GB)"
        )
