"""`measure --sizes`: which sizes of each launch to run."""

from __future__ import annotations

from dataclasses import dataclass, replace

from model.device import Device
from model.errors import LaunchError
from model.forecast import Forecast, Problem
from model.launch.launch import Launch
from model.predictor import Predictor
from model.sizes_to_measure import SizeChoice, sizes_as_wanted, sizes_to_measure
from model.work.work import Work
from server.analysis.questions import question_at
from server.cli.sizes_wanted import SizesWanted


@dataclass(frozen=True, slots=True)
class Sizes:
    """One launch at several sizes, each with the model's own prediction; `problem` says why there are no others."""

    forecasts: tuple[Forecast, ...]
    problem: str = ""


def at_sizes(forecast: Forecast, wanted: SizesWanted, device: Device, predictor: Predictor) -> Sizes:
    """Return the launch of a forecast at the sizes that are wanted; itself alone where it cannot be scaled.

    Where the device can hold none of them, there is a problem in place of a launch.
    """
    launch, work, spec = forecast.launch, forecast.work, forecast.spec
    if launch is None or work is None or spec is None or wanted.launches:
        return Sizes((forecast,))
    try:
        choice = _choice(forecast, wanted, device)
    except LaunchError as error:
        return Sizes((replace(forecast, launch=None, problem=Problem(error.code, error.message)),))
    made = (forecast if each is launch else _at(each, forecast, work, device, predictor) for each in choice.launches)
    return Sizes(tuple(made), choice.problem)


def _at(launch: Launch, forecast: Forecast, work: Work, device: Device, predictor: Predictor) -> Forecast:
    """Return the forecast's kernel under another launch, analytically, and with the learned model's input."""
    prediction = predictor.predict(work, launch, device)
    asked = forecast.question
    question = question_at(forecast, asked, work, launch, device, prediction) if asked is not None else None
    return replace(forecast, launch=launch, prediction=prediction, question=question)


def _choice(forecast: Forecast, wanted: SizesWanted, device: Device) -> SizeChoice:
    assert forecast.launch is not None
    assert forecast.work is not None
    assert forecast.spec is not None
    what = (forecast.kernel, forecast.work, forecast.spec, forecast.launch, device)
    if not wanted.factors and not wanted.work_items:
        return sizes_to_measure(*what)
    return sizes_as_wanted(*what, factors=wanted.factors, work_items=wanted.work_items)
