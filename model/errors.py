"""Expected failures: each has a stable code and a sentence that a user can act on."""

from __future__ import annotations

from typing import Self


class KernelcastError(Exception):
    """Something the user can mend. `code` is stable (JSON), `message` is for people, `line` counts from 1."""

    code = "error"

    def __init__(self, message: str, *, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line

    def at_line(self, line: int | None) -> Self:
        """Return the same error about another line."""
        # Not `copy`: it calls the constructor with the message alone, and those of subclasses take something else.
        made = type(self).__new__(type(self), *self.args)
        made.__dict__.update(self.__dict__)
        made.line = line
        return made


class SourceError(KernelcastError):
    """The text cannot be read as OpenCL C (missing include, recursive macro, binary bytes ...)."""

    code = "source"


class NoSuchKernel(KernelcastError):
    """The file has no kernel of that name."""

    code = "no_kernel"


class AnalysisError(KernelcastError):
    """The kernel was read, but its work cannot be counted (recursion, too large ...)."""

    code = "analysis"


class LaunchError(KernelcastError):
    """A launch that cannot be: unknown name, bad expression, sizes that do not divide, too large for the device."""

    code = "launch"


class ConfigError(KernelcastError):
    """`kernelcast.toml` cannot be used as written."""

    code = "config"


class UnknownDevice(KernelcastError):
    """No device answers to that id."""

    code = "device"
