"""One public measurement, and the program and launch of ours that it stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.launch.launch import Launch
from model.opencl.options import BuildOptions

Settings = tuple[tuple[str, str], ...]  # ascending names


@dataclass(frozen=True, slots=True)
class PublicRow:
    """A published measurement.

    `settings` are what the same launch has on every device; `choices` what the library chose for this one, such as the
    work-group and the variant of the kernel.
    """

    family: str  # see `table.FAMILIES`
    device: str  # as the source calls it
    settings: Settings
    choices: Settings
    runtime_us: float
    noise_percent: float | None  # standard deviation over the median of the runs; None where not said
    source: str  # whose measurement, and its licence

    @property
    def key(self) -> tuple[str, Settings]:
        """What is run: rows of two devices with the same key are measurements of the same thing."""
        return self.family, self.settings


@dataclass(frozen=True, slots=True)
class PublicLaunch:
    """An OpenCL program of ours with the work of a row, its build options and its launch."""

    source: str
    kernel: str
    options: BuildOptions
    launch: Launch


def settings(values: Mapping[str, object]) -> Settings:
    return tuple(sorted((name, str(value)) for name, value in values.items()))


def settings_text(values: Settings) -> str:
    return " ".join(f"{name}={value}" for name, value in values)


def settings_of(text: str) -> Settings:
    """Read what `settings_text` wrote."""
    pairs = (word.partition("=") for word in text.split())
    return tuple((name, value) for name, _, value in pairs)


def defined(values: Settings, names: tuple[str, ...]) -> BuildOptions:
    """Return the macros of these names; 0 where a row does not say."""
    known = dict(values)
    return BuildOptions(tuple((name.upper(), known.get(name, "0")) for name in names))
