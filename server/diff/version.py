"""One version with what predicts its kernels; and a fast look whether a file means the same in both."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from model.embedded.languages import language_of
from model.launch.config import Config
from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from server.cli.forecasts import Forecaster
from server.diff.sides import Side

_OPTIONS = re.compile(r"kernelcast:[^\n]*\s-")  # build options in an annotation


@dataclass(frozen=True, slots=True)
class Version:
    """One side with what predicts its kernels."""

    side: Side
    forecaster: Forecaster
    options: BuildOptions
    config_of: Callable[[str], Config | None]  # by the path of a file


def means_the_same(path: str, old: Version, new: Version) -> bool:
    """Return whether all kernels of an unchanged file mean the same with either version's includes.

    Nothing is analysed for it. Files for which a launch has build options of its own are not looked at.
    """
    text, other = (version.side.contents.texts([path]).get(path) for version in (old, new))
    if text is None or text != other or language_of(Path(path), text) is not None or _OPTIONS.search(text):
        return False
    found = []
    for version in (old, new):
        config = version.config_of(path)
        if config is not None and any(launch.spec.options != BuildOptions() for launch in config.launches):
            return False
        options = (config.options if config is not None else BuildOptions()).merged(version.options)
        program = read_program(text, version.side.path(path), options)
        if program.notes:
            return False  # what is missing may be found elsewhere in the project
        found.append({kernel.name: kernel.fingerprint for kernel in (*program.kernels, *program.included)})
    return found[0] == found[1]
