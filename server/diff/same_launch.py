"""The old version of a kernel under the very launch of the new one, so that both do the same work."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from model.errors import LaunchError
from model.forecast import Forecast
from model.launch.launch import Assumption, Fill, Launch, Origin
from model.launch.spec import LaunchSpec
from model.opencl.kernel import Kernel, Parameter
from server.cli.forecasts import Found

_BASE = re.compile(r"[^.\[]*")
_Value = TypeVar("_Value")
_Values = tuple[tuple[str, _Value], ...]
_WRITTEN = (Origin.ANNOTATION, Origin.CONFIG)
# Forecasts a kernel of the old version under a launch that was said of the new one.
ForecastOld = Callable[[LaunchSpec], Found]
At = Callable[[Found, Forecast, Launch], Forecast]


@dataclass(frozen=True, slots=True)
class Counterparts:
    """Parameters of both versions: `names` are the old ones' by new name; `notes` say what differs."""

    names: Mapping[str, str]
    notes: tuple[str, ...]

    def old_name(self, new: str) -> str | None:
        """Return what a name of the new version, or a part of it such as `p.n` or `rows[3]`, is in the old one."""
        base = _base(new)
        return f"{self.names[base]}{new[len(base) :]}" if base in self.names else None


def counterparts(old: Kernel, new: Kernel) -> Counterparts:
    """Match parameters by name, and those left by their order where kinds and types agree."""
    names = {each.name: each.name for each in new.parameters if (was := old.parameter(each.name)) and _fit(was, each)}
    lost = [each for each in old.parameters if each.name not in names.values()]
    added = [each for each in new.parameters if each.name not in names]
    notes: list[str] = []
    if len(lost) == len(added) and all(_fit(was, now) for was, now in zip(lost, added, strict=True)):
        for was, now in zip(lost, added, strict=True):
            names[now.name] = was.name
            notes.append(f"argument `{was.name}` is now `{now.name}`")
        lost, added = [], []
    retyped = {each.name for each in lost} & {each.name for each in added}
    notes += [f"argument `{name}` is of another kind now" for name in sorted(retyped)]
    notes += [f"argument `{each.name}` is new" for each in added if each.name not in retyped]
    notes += [f"argument `{each.name}` is gone" for each in lost if each.name not in retyped]
    return Counterparts(names, tuple(notes))


def under_same_launch(
    own: Forecast, now: Forecast, pairs: Counterparts, forecast_old: ForecastOld, at: At
) -> tuple[Found, Forecast]:
    """Return the old version under the launch of `now`; `own` is the old version as its own sources launch it.

    Raises LaunchError if that launch cannot be, and KernelcastError as the forecast does.
    """
    launch, spec = now.launch, now.spec
    assert launch is not None
    assert spec is not None
    required = own.kernel.attributes.reqd_work_group_size
    if (
        required is not None
        and launch.local_size is not None
        and required[: len(launch.local_size)] != launch.local_size
    ):
        sizes = "x".join(map(str, required))
        raise LaunchError(f"the old version requires work-groups of {sizes}, and the new one's launch has others")
    found = forecast_old(_renamed(spec, pairs))
    (old,) = found.forecasts[:1]
    if old.launch is None or old.prediction is None:
        raise LaunchError(old.problem.message if old.problem else "the old version has no prediction")
    wanted = _exact(old.launch, old.kernel, now, pairs)
    return found, old if _is_same(old.launch, wanted) else at(found, old, wanted)


def launch_note(own: Forecast, launch: Launch) -> str:
    """Say that the old sources name another launch; "" where they do not."""
    was = own.launch
    if was is None or was.origin not in _WRITTEN or was.name != launch.name:
        return ""
    if (was.global_size, was.local_size, dict(was.scalars)) == (
        launch.global_size, launch.local_size, {**dict(was.scalars), **_common(launch.scalars, was.scalars)},
    ):  # fmt: skip
        return ""
    return f"the old version's own launch is {was.describe()}; both are taken under the new one's"


def _common(
    values: tuple[tuple[str, int | float], ...], among: tuple[tuple[str, int | float], ...]
) -> dict[str, object]:
    names = dict(among)
    return {name: value for name, value in values if name in names}


def _base(name: str) -> str:
    found = _BASE.match(name)
    return found[0] if found else name


def _fit(old: Parameter, new: Parameter) -> bool:
    return old.kind is new.kind and old.access == new.access


def _renamed(spec: LaunchSpec, pairs: Counterparts) -> LaunchSpec:
    """Return what is said of the new launch with the old names as well: expressions may use either."""
    more = {old: value for name, value in spec.values if (old := pairs.old_name(name)) is not None}
    values = tuple({**dict(spec.values), **more}.items())
    fills = {pairs.old_name(name) or name: fill for name, fill in spec.fills}
    return replace(spec, values=values, fills=tuple(fills.items()), range=None, over=None, shared=None)


def _exact(old: Launch, kernel: Kernel, now: Forecast, pairs: Counterparts) -> Launch:
    """Return the old version's launch with all that the new one's says.

    Buffer lengths that are not given follow each version's own accesses.
    """
    launch, spec = now.launch, now.spec
    assert launch is not None
    assert spec is not None
    said = {_base(name) for name, _ in spec.values} | ({name for name, _ in launch.buffers} if now.recorded else set())
    buffers = {name: count for name, count in launch.buffers if name in said}
    assumed = (*launch.assumptions, *(a for a in old.assumptions if not _is_common(a, pairs)))
    return replace(
        old,
        global_size=launch.global_size,
        local_size=launch.local_size,
        chosen_local_size=launch.chosen_local_size,
        scalars=tuple({**dict(old.scalars), **_known(launch.scalars, old.scalars, pairs)}.items()),
        buffers=tuple({**dict(old.buffers), **dict(_lengths(buffers, kernel, now.kernel, pairs))}.items()),
        images=tuple({**dict(old.images), **_known(launch.images, old.images, pairs)}.items()),
        local_bytes=tuple({**dict(old.local_bytes), **_known(launch.local_bytes, old.local_bytes, pairs)}.items()),
        fills=tuple({**dict(old.fills), **_fills(launch, pairs)}.items()),
        name=launch.name,
        origin=launch.origin,
        assumptions=tuple(dict.fromkeys(assumed)),
    )


def _is_common(assumption: Assumption, pairs: Counterparts) -> bool:
    """Return whether the new launch decides what was assumed of the old one."""
    return assumption.subject in ("global", "local") or _base(assumption.subject) in pairs.names.values()


def _known(values: _Values[_Value], old: _Values[_Value], pairs: Counterparts) -> dict[str, _Value]:
    names = dict(old)
    return {was: value for name, value in values if (was := pairs.old_name(name)) is not None and was in names}


def _fills(launch: Launch, pairs: Counterparts) -> dict[str, Fill]:
    return {was: fill for name, fill in launch.fills if (was := pairs.old_name(name)) is not None}


def _lengths(buffers: Mapping[str, int], old: Kernel, new: Kernel, pairs: Counterparts) -> Iterator[tuple[str, int]]:
    """Yield the lengths of the old version's buffers: the same bytes where the type of their elements changed."""
    for name, count in buffers.items():
        was, now = old.parameter(pairs.names.get(name, "")), new.parameter(name)
        if was is not None and now is not None:
            yield was.name, -(-count * now.pointee_bytes // was.pointee_bytes)


def _is_same(one: Launch, other: Launch) -> bool:
    def parts(launch: Launch) -> tuple[object, ...]:
        named = (launch.scalars, launch.buffers, launch.images, launch.local_bytes)
        fills = {name: str(fill) for name, fill in launch.fills}
        return (launch.global_size, launch.local_size, *(dict(each) for each in named), fills)

    return parts(one) == parts(other)
