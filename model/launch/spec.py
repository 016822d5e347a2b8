"""What somebody SAID of a launch: any part may be missing, and sizes may be expressions over scalar names."""

from __future__ import annotations

from dataclasses import dataclass, replace

from model.launch.expression import Expression
from model.launch.fill import FillSpec
from model.launch.launch import Number, Origin
from model.launch.tuning import NO_TUNING, Tuning
from model.opencl.kernel import SourceRange
from model.opencl.options import BuildOptions


@dataclass(frozen=True, slots=True)
class SharedGuesses:
    """Guesses of a file's kernels that were made together: what this one takes over where nobody says otherwise.

    `scalars` have the kernel that each comes from; so has `global_size`, which is None where this kernel has its own.
    """

    scalars: tuple[tuple[str, Number, str], ...] = ()
    global_size: tuple[int, ...] | None = None
    size_from: str = ""


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """A launch as written in an annotation, in `kernelcast.toml`, or on the command line.

    `values` maps names to expressions: a scalar parameter's value (`p.member` for structs), a buffer
    parameter's length in ELEMENTS, a local pointer's bytes, an image's (width, height[, depth]) - which of
    them a name means follows from the kernel's parameters - or a free name that other expressions use.
    """

    global_size: tuple[Expression, ...] | None = None
    local_size: tuple[Expression, ...] | None = None
    driver_chooses_local: bool = False  # `local=auto`: said outright, not just missing
    values: tuple[tuple[str, tuple[Expression, ...]], ...] = ()
    fills: tuple[tuple[str, FillSpec], ...] = ()
    options: BuildOptions = BuildOptions()
    name: str | None = None
    origin: Origin = Origin.REQUEST
    range: SourceRange | None = None  # where it stands, if in the kernel's own file
    shared: SharedGuesses | None = None  # nobody said these
    over: tuple[LaunchSpec, LaunchSpec] | None = None  # what was written, and the request of another global size
    tuning: Tuning = NO_TUNING  # what may be tried for a faster launch; it changes nothing about this one
    notes: tuple[str, ...] = ()  # what the user should know of how it came about

    @property
    def is_silent(self) -> bool:
        """Whether nothing is said of sizes and arguments, so that all of them are guessed."""
        return self.global_size is None and self.local_size is None and not self.values

    def merged(self, over: LaunchSpec) -> LaunchSpec:
        """Both together; where they differ, `over` wins, whose origin the result has."""
        says_local = over.local_size is not None or over.driver_chooses_local
        return replace(
            over,
            global_size=over.global_size or self.global_size,
            local_size=over.local_size if says_local else self.local_size,
            driver_chooses_local=over.driver_chooses_local if says_local else self.driver_chooses_local,
            values=tuple({**dict(self.values), **dict(over.values)}.items()),
            fills=tuple({**dict(self.fills), **dict(over.fills)}.items()),
            options=self.options.merged(over.options),
            name=over.name or self.name,
            range=over.range or self.range,
            tuning=self.tuning.merged(over.tuning) if self.tuning is not over.tuning else over.tuning,
        )
