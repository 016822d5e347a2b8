"""`measure --sizes`: which sizes of each launch to run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from model.device import Device
from model.errors import LaunchError
from model.forecast import Forecast, Problem
from model.launch.launch import Launch
from model.sizes_to_measure import SizeChoice, sizes_as_wanted, sizes_to_measure
from server.cli.sizes_wanted import SizesWanted


@dataclass(frozen=True, slots=True)
class Sizes:
    """One launch at several sizes, each with the model's own prediction; `problem` says why there are no others."""

    forecasts: tuple[Forecast, ...]
    problem: str = ""


def at_sizes(
    forecast: Forecast, wanted: SizesWanted, device: Device, at: Callable[[Sequence[Launch]], tuple[Forecast, ...]]
) -> Sizes:
    """Return the launch of a forecast at the sizes that are wanted, each predicted by `at`.

    Where it cannot be scaled, it stands alone; where the device can hold no size, there is a problem in its place.
    """
    if forecast.launch is None or forecast.work is None or forecast.spec is None or wanted.launches:
        return Sizes((forecast,))
    try:
        choice = _choice(forecast, wanted, device)
    except LaunchError as error:
        return Sizes((replace(forecast, launch=None, problem=Problem(error.code, error.message)),))
    return Sizes(at(choice.launches), choice.problem)


def _choice(forecast: Forecast, wanted: SizesWanted, device: Device) -> SizeChoice:
    assert forecast.launch is not None
    assert forecast.work is not None
    assert forecast.spec is not None
    what = (forecast.kernel, forecast.work, forecast.spec, forecast.launch, device)
    if not wanted.factors and not wanted.work_items:
        return sizes_to_measure(*what)
    return sizes_as_wanted(*what, factors=wanted.factors, work_items=wanted.work_items)
