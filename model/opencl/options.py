"""Build options: what `clBuildProgram` is told, as far as the source analysis needs it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """`-D` defines (name, value), `-I` folders, and every other flag as written (`-cl-fast-relaxed-math`).

    `forced_includes` are files (absolute) that are read before the text, as clang's `-include` does: see `completing`.
    OpenCL's compilers have no such option, so `forced_lines` must be written before the text that is built. `stand_ins`
    are defines for names that only the host declares: see `model.opencl.stand_ins`.
    """

    defines: tuple[tuple[str, str], ...] = ()
    include_dirs: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    # Not in the text form, which keys of kept launches rest on: what these change, a kernel's fingerprint tells.
    forced_includes: tuple[str, ...] = field(default=(), repr=False)
    stand_ins: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def merged(self, over: BuildOptions) -> BuildOptions:
        """Both together; where they differ, `over` wins. Include folders of `over` are searched first."""
        return BuildOptions(
            defines=tuple({**dict(self.defines), **dict(over.defines)}.items()),
            include_dirs=tuple(dict.fromkeys((*over.include_dirs, *self.include_dirs))),
            flags=tuple(dict.fromkeys((*self.flags, *over.flags))),
            forced_includes=tuple(dict.fromkeys((*self.forced_includes, *over.forced_includes))),
            stand_ins=tuple({**dict(self.stand_ins), **dict(over.stand_ins)}.items()),
        )

    @property
    def every_define(self) -> tuple[tuple[str, str], ...]:
        """Name and value of each define, stand-ins for names without one among them."""
        named = {name for name, _ in self.defines}
        return (*self.defines, *(each for each in self.stand_ins if each[0] not in named))

    def arguments(self) -> list[str]:
        """As a list for PyOpenCL's `Program.build`."""
        return [
            *(f"-D{name}={value}" for name, value in self.defines),
            *(argument for folder in self.include_dirs for argument in ("-I", folder)),
            *self.flags,
        ]

    @property
    def forced_lines(self) -> str:
        """One `#include` line for each of `forced_includes`."""
        quoted = (each.replace("\\", "\\\\").replace('"', '\\"') for each in self.forced_includes)
        return "".join(f'#include "{each}"\n' for each in quoted)
