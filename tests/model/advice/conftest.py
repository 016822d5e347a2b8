"""What tests of advice speak of: a kernel with its launch above it, and a device from the catalogue."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from model.advice.advice import Advice, AdviceCode
from model.device import Device
from model.device_catalog import find_builtin
from model.engine import Engine
from model.launch.config import parse_config

GPU = "nvidia-a100-pcie-40gb"

Advise = Callable[..., list[Advice]]


@pytest.fixture
def advise() -> Advise:
    """The advice on all launches of all kernels of a text: `advise(text, GPU, AdviceCode.LOCAL_TILE)`."""

    def ask(text: str, device: str | Device = GPU, code: AdviceCode | None = None, config: str = "") -> list[Advice]:
        on = find_builtin(device) if isinstance(device, str) else device
        assert on is not None
        read = parse_config(config, Path("kernelcast.toml").absolute()) if config else None
        found = Engine().forecast(text, None, on, config=read)
        predictions = [forecast.prediction for forecast in found.forecasts]
        assert predictions
        assert all(predictions), [forecast.problem for forecast in found.forecasts]
        advice = [advice for prediction in predictions if prediction for advice in prediction.advice]
        return [each for each in advice if code in (None, each.code)]

    return ask
