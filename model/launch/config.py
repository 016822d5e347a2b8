"""`kernelcast.toml`: launches, build options and settings for the files below the folder it stands in.

defines = { TILE = 16 }            # for every file; also include = [...], options = "..."
[device]
id = "pocl-cpu"
compare = ["nvidia-h200"]          # further devices that hovers show the time on
[hints]
enabled = true
[advice]
ignore = ["local-tile"]            # codes of advice that nobody here wants
[[launch]]
kernel = "blur_*"                  # a glob; every kernel if missing
files = ["filters/*.cl"]           # globs below this folder; every file if missing
global = ["width", 512]
local = [16, 16]                   # or "auto"
args = { width = 1024 }
buffers = { image = "width*512" }
[[pipeline]]                       # a whole program: see `model.program.pipeline`
name = "frame"
steps = [{ write = 262144 }, { launch = "blur_rows", file = "filters/blur.cl" }, { read = 262144, blocking = true }]
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from model.advice.advice import AdviceCode
from model.errors import ConfigError
from model.launch.config_file import MAX_BYTES, find_config, too_long_key
from model.launch.config_tables import Table, read_launch, read_options
from model.launch.expression import suggestion
from model.launch.spec import LaunchSpec
from model.opencl.options import BuildOptions
from model.program.pipeline import Pipeline, read_pipeline
from model.safe_read import TooLarge, read_plain

MAX_KEY_PARTS = 16


@dataclass(frozen=True, slots=True)
class ConfigLaunch:
    """One `[[launch]]`: for the kernels and files whose names match."""

    kernel: str
    files: tuple[str, ...]
    spec: LaunchSpec
    line: int  # from 1


@dataclass(frozen=True, slots=True)
class Config:
    """A `kernelcast.toml` as read. Include folders are already joined to the folder it stands in."""

    path: Path
    launches: tuple[ConfigLaunch, ...] = ()
    options: BuildOptions = field(default_factory=BuildOptions)
    device_id: str | None = None
    hints_enabled: bool | None = None  # None: not said here, so the editor's own setting holds
    advice_ignored: frozenset[AdviceCode] = frozenset()
    text: str = field(default="", compare=False, repr=False)  # as it stands in the file
    compared: tuple[str, ...] = ()  # ids of further devices
    compared_line: int | None = None  # where they stand, from 1
    pipelines: tuple[Pipeline, ...] = ()

    def specs_for(self, kernel_name: str, path: Path | None) -> tuple[LaunchSpec, ...]:
        """Return the launches meant for this kernel of this file, in the order they are written."""
        return tuple(
            launch.spec
            for launch in self.launches
            if fnmatchcase(kernel_name, launch.kernel) and self._covers(launch.files, path)
        )

    def options_for(self, path: Path | None) -> BuildOptions:
        """Build options for a whole file: those of the top level and of `[build]`, wherever the file lies."""
        del path  # one set of options so far; asked for by file, as launches are
        return self.options

    def _covers(self, globs: tuple[str, ...], path: Path | None) -> bool:
        if not globs:
            return True
        if path is None:
            return False
        try:
            below = path.resolve().relative_to(self.path.parent.resolve()).as_posix()
        except ValueError:  # a file elsewhere, read with this configuration: only its name can match
            below = path.name
        return any(
            fnmatchcase(name, glob.removeprefix("./")) for glob in globs for name in (below, path.name, f"/{below}")
        )


def load_config(start: Path) -> Config | None:
    """Return the nearest `kernelcast.toml` in `start` or above it; None where there is none. Raises `ConfigError`."""
    path = find_config(start)
    if path is None:
        return None
    try:
        text = read_plain(path, MAX_BYTES).decode("utf-8-sig")  # some editors begin files with a byte order mark
    except TooLarge:
        raise ConfigError(f"{path} is larger than {MAX_BYTES} bytes; that cannot be a configuration") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path} is not UTF-8 text", line=line) from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from None
    return parse_config(text, path)


def parse_config(text: str, path: Path) -> Config:
    """Read `text`, which stands in `path`. Raises `ConfigError` with the line (from 1) and what is allowed."""
    long_key = too_long_key(text, MAX_KEY_PARTS)
    if long_key is not None:
        raise ConfigError(f"{path.name}: a key has more than {MAX_KEY_PARTS} parts", line=long_key)
    try:
        content: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path.name}: {error}", line=_line_of_syntax_error(str(error), text)) from None
    except ValueError:
        raise ConfigError(f"{path.name}: a number has thousands of digits") from None
    except RecursionError:
        raise ConfigError(f"{path.name}: nested too deeply") from None
    top = Table(content, "", text)
    top.allow("launch", "pipeline", "device", "hints", "advice", "build", "defines", "include", "options")
    device = top.table("device")
    device.allow("id", "compare")
    hints = top.table("hints")
    hints.allow("enabled")
    advice = top.table("advice")
    advice.allow("ignore")
    build = top.table("build")
    build.allow("defines", "include", "options")
    folder = path.parent
    launches = []
    for table in top.tables("launch"):
        kernel, files, spec = read_launch(table, folder)
        launches.append(ConfigLaunch(kernel, files, spec, table.line()))
    return Config(
        path,
        tuple(launches),
        read_options(top, folder).merged(read_options(build, folder)),
        device.string("id"),
        hints.flag("enabled"),
        frozenset(_advice_code(advice, code) for code in advice.texts("ignore")),
        text,
        device.texts("compare"),
        device.line("compare") if "compare" in device.content else None,
        tuple(map(read_pipeline, top.tables("pipeline"))),
    )


def _advice_code(table: Table, code: str) -> AdviceCode:
    if code not in list(AdviceCode):
        known = ", ".join(AdviceCode)
        table.refuse("ignore", f"there is no advice `{code}`; there is {known}.{suggestion(code, AdviceCode)}")
    return AdviceCode(code)


def _line_of_syntax_error(message: str, text: str) -> int:
    _, _, after = message.partition("(at line ")
    number = after.partition(",")[0]
    return int(number) if number.isdigit() else text.count("\n") + 1
