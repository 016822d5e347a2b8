"""The whole way from text to predictions, with everything cached by meaning. One engine per thread.

`Engine.forecast` is the one entry point that the server and the command line share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from model.device import Device
from model.launch.config import Config
from model.launch.launch import Launch
from model.launch.spec import LaunchSpec
from model.opencl.kernel import Kernel, SourceRange
from model.opencl.options import BuildOptions
from model.prediction import Prediction


@dataclass(frozen=True, slots=True)
class Problem:
    """A named failure. `code` and `message` as in `KernelcastError`; `line` counts from 1."""

    code: str
    message: str
    line: int | None = None
    range: SourceRange | None = None      # set for annotations: these become editor diagnostics


@dataclass(frozen=True, slots=True)
class Forecast:
    """One launch of one kernel: either a prediction (then `launch` is set too) or a problem."""

    kernel: Kernel
    launch: Launch | None = None
    prediction: Prediction | None = None
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class FileForecast:
    """Everything about one file. `kernels` in source order; each has at least one forecast, in the same order.

    `problems` concern the file: missing includes, unreadable text ...; `annotation_problems` each have a range.
    """

    kernels: tuple[Kernel, ...] = ()
    forecasts: tuple[Forecast, ...] = ()
    problems: tuple[Problem, ...] = ()
    annotation_problems: tuple[Problem, ...] = field(default=())


class Engine:
    """Owns the caches; not safe for use by two threads at once."""

    def forecast(
        self,
        text: str,
        path: Path | None,
        device: Device,
        *,
        config: Config | None = None,
        options: BuildOptions | None = None,
        requests: Sequence[LaunchSpec] = (),
        kernel: str | None = None,
    ) -> FileForecast:
        """Predict every launch of every kernel in `text` (or of one `kernel`), never raising for bad input.

        Launches come from `requests` (each laid over the first annotation or config launch of the kernel), else
        from annotations, else from `config`, else by inference. `options` are build options for the whole file.
        """
        raise NotImplementedError
