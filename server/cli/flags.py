"""Flags that several commands share, and the launch that they describe."""

from __future__ import annotations

import argparse
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from model.errors import LaunchError
from model.launch.annotation.items import read_items
from model.launch.build_options import build_options, parse_build_options
from model.launch.expression import Expression
from model.launch.fill import ALLOWED_FILLS, FillSpec, parse_named_fill
from model.launch.launch import Origin
from model.launch.sizes import parse_sizes
from model.launch.spec import LaunchSpec
from model.opencl.options import BuildOptions
from server.cli.renamed import add_former_flag

TOLERANCE = 1e-5  # as `server.tuning.trial` has it, which loads far more

Sizes = tuple[Expression, ...]


def add_launch_flags(parser: argparse.ArgumentParser, *, kernels: int = 1) -> None:
    """Add files and launch flags: what `predict`, `measure` and `report` take.

    Where two `kernels` may be named, `arguments.kernel` is a list.
    """
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="OpenCL C source files")
    if kernels == 1:
        parser.add_argument("--kernel", "-k", metavar="NAME", help="only this kernel")
    else:
        parser.add_argument(
            "--kernel", "-k", action="append", default=[], metavar="NAME",
            help="only this kernel; twice: compare the one with the other",
        )  # fmt: skip
    parser.add_argument("--global", dest="global_size", type=_sizes, metavar="X[,Y[,Z]]", help="global size")
    parser.add_argument("--local", type=_local, metavar="X[,Y[,Z]]", help="local size, or `auto`: the driver chooses")
    for flag, unit in (
        ("--arg", "a scalar argument; p.member for structs"),
        ("--buffer", "a buffer's length in elements, or an image's width,height"),
        ("--local-bytes", "the size of a local buffer in bytes"),
    ):
        parser.add_argument(flag, type=_value, action="append", default=[], metavar="NAME=VALUE", help=unit)
    parser.add_argument(
        "--fill",
        type=_fill,
        action="append",
        default=[],
        metavar="NAME=WORD",
        help=f"a buffer's contents: {ALLOWED_FILLS}; NAME.member=WORD for structs, NAME[INDEX]=VALUE for one element",
    )
    add_build_flags(parser)
    add_device_flag(parser)


def add_build_flags(parser: argparse.ArgumentParser) -> None:
    """Add what `file_options` reads."""
    parser.add_argument("-D", dest="defines", action="append", default=[], metavar="NAME=VALUE", help="define a macro")
    parser.add_argument(
        "-I", dest="include", action="append", default=[], metavar="DIR", help="folder to search for includes"
    )
    parser.add_argument(
        "--options", type=_options, default=BuildOptions(), help="build options: --options=-cl-fast-relaxed-math"
    )


def add_batch_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--batch", metavar="REQUESTS", help="JSON lines of requests, - for stdin; answers are JSON lines"
    )


def add_analytic_only_flag(parser: argparse.ArgumentParser) -> None:
    flag = parser.add_argument(
        "--analytic-only", action="store_true", help="use the analytical model alone, without the learned model"
    )
    add_former_flag(parser, "--laws", flag)


def add_ignore_recordings_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--ignore-recordings", action="store_true", help="without the launches that `kernelcast record` wrote down"
    )


def add_device_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", metavar="ID", help="a device of `kernelcast devices --all`")


def add_format_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: to stdout, alone there")


def add_turns_flags(parser: argparse.ArgumentParser, *, budget_s: float, of: str) -> None:
    """Add what running versions in turns keeps to. `of` says what the budget is for."""
    parser.add_argument(
        "--budget-s", type=positive_number, default=budget_s, metavar="S",
        help=f"seconds of timed runs for {of} ({budget_s:g})",
    )  # fmt: skip
    parser.add_argument(
        "--tolerance", type=positive_number, default=TOLERANCE, metavar="R",
        help=f"greatest relative difference of results that counts as equal ({TOLERANCE:g})",
    )  # fmt: skip


def launch_spec(arguments: argparse.Namespace) -> LaunchSpec | None:
    """Return what the flags say of the launch; None if they say nothing."""
    spec = LaunchSpec(
        global_size=arguments.global_size,
        local_size=arguments.local or None,
        driver_chooses_local=arguments.local == (),
        values=tuple({**dict(arguments.arg), **dict(arguments.buffer), **dict(arguments.local_bytes)}.items()),
        fills=tuple(dict(arguments.fill).items()),
    )
    return None if spec == LaunchSpec() else spec


def file_options(arguments: argparse.Namespace) -> BuildOptions:
    """Return the build options of `-D`, `-I` and `--options` together."""
    words = [*(f"-D{text}" for text in arguments.defines), *(f"-I{folder}" for folder in arguments.include)]
    given: BuildOptions = arguments.options
    return absolute(given.merged(build_options(words)))


def absolute(options: BuildOptions) -> BuildOptions:
    """Return the options with absolute include folders; relative ones start at the current folder."""
    return BuildOptions(options.defines, tuple(os.path.abspath(d) for d in options.include_dirs), options.flags)


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def whole(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def positive_number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number


def _sizes(text: str) -> Sizes:
    try:
        sizes = parse_sizes(text)
    except LaunchError as error:
        raise argparse.ArgumentTypeError(error.message) from None
    if len(sizes) > 3:
        raise argparse.ArgumentTypeError(f"{len(sizes)} sizes, but OpenCL knows one to 3 dimensions")
    return sizes


def _local(text: str) -> Sizes:
    """Empty for `auto`."""
    return () if text == "auto" else _sizes(text)


def _value(text: str) -> tuple[str, Sizes]:
    name, value = _named(text)
    return name, _sizes(value)


def _fill(text: str) -> tuple[str, FillSpec]:
    name, value = _named(text)
    try:
        return parse_named_fill(name, value)
    except LaunchError as error:
        raise argparse.ArgumentTypeError(error.message) from None


def _named(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name.strip() or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name.strip(), value


def _options(text: str) -> BuildOptions:
    try:
        return parse_build_options(text)
    except LaunchError as error:
        raise argparse.ArgumentTypeError(error.message) from None


ALLOWED_SIZES = (
    "auto; numbers of work-items 65536,256k,1M; multiples of the launch 0.5x,1x,2x; "
    'or whole launches "global=4096 n=4000; global=8192 n=8000"'
)
_COUNT = re.compile(r"(?P<number>\d+)(?P<thousands>[kM]?)")
_MULTIPLE = re.compile(r"(?P<factor>\d+(\.\d+)?|\.\d+)x")
_THOUSANDS = {"": 1, "k": 1 << 10, "M": 1 << 20}  # sizes are powers of two: 64k is 65536
_MOST_ITEMS = 1 << 48


@dataclass(frozen=True, slots=True)
class SizesWanted:
    """Nothing but `launches` is set, or nothing but the other two; none of them: as many as tell something."""

    factors: tuple[float, ...] = ()
    work_items: tuple[int, ...] = ()
    launches: tuple[LaunchSpec, ...] = ()


def sizes_wanted(text: str) -> SizesWanted:
    """Return the value of `--sizes`. Raises `argparse.ArgumentTypeError`."""
    if text.strip() == "auto":
        return SizesWanted()
    if "=" in text:
        return SizesWanted(launches=tuple(_launch(part) for part in text.split(";") if part.strip()))
    factors, work_items = [], []
    for word in (part.strip() for part in text.split(",")):
        if count := _COUNT.fullmatch(word):
            work_items.append(int(count["number"]) * _THOUSANDS[count["thousands"]])
        elif multiple := _MULTIPLE.fullmatch(word):
            factors.append(float(multiple["factor"]))
        else:
            raise argparse.ArgumentTypeError(f"{word!r} is not a size; allowed: {ALLOWED_SIZES}")
    if not all(0 < items <= _MOST_ITEMS for items in work_items) or not all(0 < f <= _MOST_ITEMS for f in factors):
        raise argparse.ArgumentTypeError(f"{text!r}: sizes must be above 0 and no larger than devices take")
    return SizesWanted(tuple(factors), tuple(work_items))


def _launch(part: str) -> LaunchSpec:
    items = read_items(part.strip())
    if items.problems:
        raise argparse.ArgumentTypeError(f"{part.strip()!r}: {items.problems[0].message}")
    return replace(items.spec, origin=Origin.REQUEST)
