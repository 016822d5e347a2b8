"""Measurements and launches as the store's JSON. Fields that were added later have defaults, so that old text reads."""

from __future__ import annotations

import json
from typing import Any

from cattrs import Converter

from model.launch.launch import Launch, Number
from profiler.measurement import Measurement


def measurement_to_json(measurement: Measurement) -> str:
    """`measurement_from_json` reads it back unchanged."""
    return json.dumps(CONVERTER.unstructure(measurement))


def measurement_from_json(text: str) -> Measurement:
    """Read a measurement. Raises `json.JSONDecodeError` or a cattrs error for text that is none."""
    return CONVERTER.structure(json.loads(text), Measurement)


def launch_to_plain(launch: Launch) -> dict[str, Any]:
    """Return all that runs, without the sentences about what was assumed; made of what JSON knows."""
    plain: dict[str, Any] = CONVERTER.unstructure(launch)
    del plain["assumptions"]
    return plain


def launch_to_json(launch: Launch) -> str:
    """`launch_from_json` reads it back."""
    return json.dumps(launch_to_plain(launch))


def launch_from_json(text: str) -> Launch:
    """Read a launch. Raises `json.JSONDecodeError` or a cattrs error for text that is none."""
    return CONVERTER.structure(json.loads(text), Launch)


def _number(value: object, _: object) -> Number:
    if isinstance(value, (int, float)):
        return value
    raise ValueError(f"{value!r} is not a number")


CONVERTER = Converter()
CONVERTER.register_structure_hook_func(lambda kind: kind == Number, _number)
