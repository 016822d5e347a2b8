"""`kernelcast devices --show DEVICE`: its roofline and every figure of its profile, as text or as a picture."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table

from model.device import Device
from model.device_catalog import device_to_json
from model.errors import KernelcastError, UnknownDevice
from profiler.installing import install_command
from server.cli.device_choice import Devices
from server.cli.learn import accuracy_json, accuracy_lines
from server.cli.output import ANSWERED, WrongCallError
from server.cli.terminal import out
from server.device_report.facts import Group, groups, origin
from server.device_report.picture import picture_svg
from server.device_report.text import plain, roofline_lines
from server.text.format import shown_name

FORMATS = ("text", "json", "svg", "png")
_STDOUT = "-"
_SCALE = 2.0  # pixels of a PNG for each unit of the SVG: screens are fine today


class PictureError(KernelcastError):
    """A picture that could not be made or written; the message says why."""

    code = "picture"


def show(arguments: argparse.Namespace) -> int:
    """Draw one device. Raises `WrongCallError` for an unknown one, `PictureError` if nothing can be written."""
    try:
        device = Devices().to_predict_for(arguments.show)
    except UnknownDevice as error:
        raise WrongCallError(error.message) from None
    output: str | None = arguments.output
    format_ = arguments.format or _by_suffix(output) or "text"
    if format_ == "text":
        _write(_text(device), output) if output and output != _STDOUT else _print(device)
    elif format_ == "json":
        _write(_json(device).encode(), output)
    elif format_ == "svg":
        _write(picture_svg(device).encode("utf-8", "replace"), output)
    else:
        _write(_png(picture_svg(device)), output)
    return ANSWERED


def _json(device: Device) -> str:
    """Return the profile, and `accuracy` beside it where launches were measured."""
    profile, found = device_to_json(device), accuracy_json(device)
    if found is None:
        return profile
    return json.dumps({**json.loads(profile), "accuracy": found}, indent=2) + "\n"


def _by_suffix(output: str | None) -> str | None:
    suffix = Path(output or "").suffix.lower().removeprefix(".")
    return suffix if suffix in FORMATS else None


def _print(device: Device) -> None:
    console = out()
    width = min(console.width, 100)
    for line in _head(device):
        console.print(line, style=None, soft_wrap=False)
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    for line in roofline_lines(device, width):
        console.print(line if _can_say(line, encoding) else plain(line), soft_wrap=True)
    for group in groups(device):
        console.print()
        console.print(group.title, style="bold")
        console.print(_table(group))


def _text(device: Device) -> bytes:
    lines = [*_head(device), *roofline_lines(device, 100)]
    for group in groups(device):
        lines += ["", group.title]
        lines += [f"  {each.name:<40} {each.value:>24} {each.noise}".rstrip() for each in group.figures]
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def _head(device: Device) -> list[str]:
    platform = "" if device.platform in ("", "none") else f", {device.platform}"
    driver = f", driver {device.driver}" if device.driver else ""
    return [f"{shown_name(device.name)} ({device.id}){platform}{driver}", origin(device), *accuracy_lines(device), ""]


def _can_say(line: str, encoding: str) -> bool:
    try:
        line.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _table(group: Group) -> Table:
    table = Table(box=SIMPLE_HEAD, show_header=False)
    table.pad_edge = table.show_edge = False
    table.add_column(overflow="fold")
    table.add_column(justify="right", overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    for figure in group.figures:
        table.add_row(figure.name, figure.value, figure.noise)
    return table


def _png(svg: str) -> bytes:
    try:
        renderer = importlib.import_module("resvg_py")
    except ImportError:
        message = f"a PNG needs one more package: {install_command('picture')}; or choose --format svg"
        raise PictureError(message) from None
    try:
        return bytes(renderer.svg_to_bytes(svg_string=svg, zoom=_SCALE))
    except ValueError as error:  # what it raises for a picture that it cannot read
        raise PictureError(f"the picture could not be turned into a PNG: {error}") from error


def _write(content: bytes, output: str | None) -> None:
    if not output or output == _STDOUT:
        if sys.stdout.isatty() and content.startswith(b"\x89PNG"):
            raise WrongCallError("a PNG is nothing for a terminal: say --output FILE")
        sys.stdout.buffer.write(content)
        return
    try:
        Path(output).write_bytes(content)
    except OSError as error:
        raise PictureError(f"{output} cannot be written: {error.strerror}") from error
    print(output)
