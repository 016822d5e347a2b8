"""Builds the user's program, and finds the user's own line in whatever the compiler says."""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyopencl as cl

from model.opencl.builtins import is_builtin
from model.opencl.options import BuildOptions
from profiler.device_worker.failures import named_failures
from profiler.measurement import BuildFailed

LOG_BYTES = 20_000
ON_COMPILER_CRASH = "the driver's compiler did not survive this source; its last words are in the log"
# PoCL: "error: vadd.cl:3:6: text"; clang, NVIDIA and Intel: "vadd.cl:3:6: error: text".
_ERROR = re.compile(
    r"^(?:(?:fatal )?error: (?P<file1>[^:\n]+):(?P<line1>\d+):(?:\d+:)? (?P<text1>.+)"
    r"|(?P<file2>[^:\n]+):(?P<line2>\d+):(?:\d+:)? (?:fatal )?error: (?P<text2>.+))$",
    re.MULTILINE,
)


def build(context: cl.Context, source: str, path: str | None, options: BuildOptions) -> cl.Program:
    """Build `source` as if it were in the file `path`. Raises BuildFailed with the line of `source`."""
    name = source_name(path)
    # Drivers split their options at blanks whatever the quotes say, so defines and folders with blanks go around them.
    prologue = "".join(f"#define {_one_line(f'{key} {value}')}\n" for key, value in options.every_define)
    forced = replace(options, forced_includes=tuple(map(_absolute, options.forced_includes)))
    text = f'{prologue}{forced.forced_lines}#line 1 "{_quoted(name)}"\n{source}'
    folders = [_absolute(each) for each in (*([str(Path(path).parent)] if path else []), *options.include_dirs)]
    with tempfile.TemporaryDirectory(prefix="kernelcast-") as links, named_failures(f"building {name}"):
        arguments = [part for folder in folders for part in ("-I", _without_blanks(folder, Path(links)))]
        try:
            program = cl.Program(context, text)
            with warnings.catch_warnings(), _working_folder(links):
                warnings.simplefilter("ignore", cl.CompilerWarning)  # says no more than that the driver said something
                program.build([*arguments, *options.flags])
        except cl.RuntimeError as error:
            if error.code == cl.status_code.BUILD_PROGRAM_FAILURE:
                raise _explained(str(error), name, folders) from None
            raise
    return program


@contextmanager
def _working_folder(folder: str) -> Iterator[None]:
    """Work in another folder: clang looks for `#include "..."` in the current one first, whatever `-I` says."""
    try:
        before = os.getcwd()
    except FileNotFoundError:  # it was deleted: any other will do
        before = tempfile.gettempdir()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _absolute(path: str) -> str:
    return path if os.path.isabs(path) else os.path.abspath(path)


def _one_line(define: str) -> str:
    """Return what follows a line feed would be a directive of its own."""
    return re.sub(r"[\r\n]+", " ", define).rstrip("\\")


def kernel_named(program: cl.Program, name: str) -> cl.Kernel:
    """Return the kernel of that name. Raises BuildFailed if the program holds none."""
    try:
        return cl.Kernel(program, name)
    except cl.LogicError:
        why = "do its build options leave it out?"
        if is_builtin(name):
            why = "OpenCL C has a built-in function of that name, which a kernel must not have"
        raise BuildFailed(f"the built program holds no kernel `{name}`; {why}") from None


def source_name(path: str | None) -> str:
    """Return the file name that is passed to compilers."""
    return Path(path).name if path else "kernel.cl"


def _explained(log: str, name: str, folders: Sequence[str]) -> BuildFailed:
    """Return the failure that a build log reports.

    Compilers quote what they cannot read, and a text can include any file: lines are quoted only of files below one of
    these folders, which the user has compiled on purpose.
    """
    log = re.sub(r"^.*?Build on <[^\n]*>:\s*", "", log, flags=re.DOTALL)[:LOG_BYTES]
    for match in _ERROR.finditer(log):
        file, line, text = (match[f"{part}1"] or match[f"{part}2"] for part in ("file", "line", "text"))
        where = Path(file).name
        if where == name:
            return BuildFailed(f"{name} does not build: line {line}: {text}", line=int(line), log=log)
        if not _is_below(file, folders):
            text = "this file lies elsewhere and is not quoted"
        return BuildFailed(f"{name} does not build: {where}, line {line}: {text}", log=log)
    first = next((line for line in log.splitlines() if line.strip()), "the compiler gave no reason")
    if "unknown target CPU" in first:
        first = "PoCL's compiler is older than this processor and does not know it: install PoCL with a newer LLVM"
    return BuildFailed(f"{name} does not build: {first}", log=log)


def _is_below(file: str, folders: Sequence[str]) -> bool:
    inside = [Path(folder).resolve() for folder in folders]
    return any(Path(folder, file).resolve().is_relative_to(each) for folder in folders for each in inside)


def _quoted(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')


def _without_blanks(folder: str, links: Path) -> str:
    if not re.search(r"[\s\"']", folder):
        return folder
    link = links / f"include-{len(list(links.iterdir()))}"
    link.symlink_to(Path(folder).resolve(), target_is_directory=True)
    return str(link)
