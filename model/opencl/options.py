"""Build options: what `clBuildProgram` is told, as far as the source analysis needs it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """`-D` defines (name, value), `-I` folders, and every other flag as written (`-cl-fast-relaxed-math`)."""

    defines: tuple[tuple[str, str], ...] = ()
    include_dirs: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    def merged(self, over: BuildOptions) -> BuildOptions:
        """Both together; where they differ, `over` wins. Include folders of `over` are searched first."""
        return BuildOptions(
            defines=tuple({**dict(self.defines), **dict(over.defines)}.items()),
            include_dirs=tuple(dict.fromkeys((*over.include_dirs, *self.include_dirs))),
            flags=tuple(dict.fromkeys((*self.flags, *over.flags))),
        )

    def arguments(self) -> list[str]:
        """As a list for PyOpenCL's `Program.build`."""
        return [
            *(f"-D{name}={value}" for name, value in self.defines),
            *(argument for folder in self.include_dirs for argument in ("-I", folder)),
            *self.flags,
        ]
