"""What programs in other languages cost: 200 ordinary files, and a keystroke in a long one that has kernels."""

from __future__ import annotations

import statistics
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import psutil
from client import Client
from rich.console import Console
from rich.table import Table

from model.embedded.find import ProgramFinder, find_programs
from model.embedded.languages import Language, may_hold_program

FILES = 200
KEYSTROKES = 200
KERNELS = 20
LINES = 2000
KERNEL = '''
SOURCE_{number} = """
__kernel void k{number}(__global float *a, int n) {{
  a[get_global_id(0)] += {number}.0f;
}}
"""
'''


def ordinary_files() -> list[tuple[str, str, str]]:
    """Name, language and text of files that nobody wrote for this: Python's own library, and the system's headers."""
    folders = (("*.py", "python", sysconfig.get_paths()["stdlib"]), ("*.h", "cpp", "/usr/include"))
    found = []
    for pattern, language, folder in folders:
        paths = [path for path, _ in zip(sorted(Path(folder).rglob(pattern)), range(FILES // 2), strict=False)]
        found += [(path.as_uri(), language, path.read_text(errors="replace")) for path in paths]
    return found


def look_ms(files: list[tuple[str, str, str]]) -> tuple[float, int]:
    """Return what the first look at all of them takes, which is all that is done, and how many it lets through."""
    began = time.perf_counter()
    passed = sum(may_hold_program(text) for _, _, text in files)
    return (time.perf_counter() - began) * 1e3, passed


def server_with(kernelcast: str, files: list[tuple[str, str, str]]) -> tuple[float, float, int, int]:
    """Processor seconds, MB, child processes and hints of a server that has all of them open, and asked for."""
    client = Client([kernelcast, "serve", "--stdio"])
    for uri, language, text in files:
        client.open(uri, text, language)
    hints = sum(len(client.hints(uri)) for uri, _, _ in files)
    process = psutil.Process(client.process.pid)
    spent = process.cpu_times()
    found = spent.user + spent.system, process.memory_info().rss / 1e6, len(process.children(recursive=True)), hints
    client.leave()
    return found


def keystrokes_ms() -> tuple[int, list[float]]:
    """Return how many lines a file of the host's has, and what finding its programs anew takes at each keystroke."""
    library = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    text = "".join(path.read_text(errors="replace") for path in library[:20])
    text += "".join(KERNEL.format(number=number) for number in range(KERNELS))
    finder = ProgramFinder(Language.PYTHON)
    assert len(finder.programs(text)) == KERNELS
    at, taken = len(text) // 3, []
    for _ in range(KEYSTROKES):
        text = f"{text[:at]}x{text[at:]}"
        began = time.perf_counter()
        finder.programs(text)
        taken.append((time.perf_counter() - began) * 1e3)
    return text.count("\n"), taken


def growth() -> dict[str, tuple[float, float]]:
    """Return us a line in a file of `LINES` and in one eight times as long, by what fills it."""
    array = 'char *s[] = {{"__kernel void f(int a) {{\\n",\n{}"}}"}};\n'
    fields = 'S = """__kernel void f(__global int *a) {{\n{}}}""" % {{}}\n'
    files = {
        "words in comments": (Language.PYTHON, "# é kernel\n", '{}S = "__kernel void f();"\n'),
        "an array of lines": (Language.CPP, '"a += 1;\\n",\n', array),
        "declarations": (Language.CPP, "__kernel void g();\n", '{}char *s = "__kernel void f();";\n'),
        "fields to fill in": (Language.PYTHON, "a[0] = %(n)s;\n", fields),
    }
    found = {}
    for what, (language, line, around) in files.items():
        per_line_us = []
        for lines in (LINES, 8 * LINES):
            text = around.format(line * lines)
            began = time.perf_counter()
            assert len(find_programs(text, language)) == 1
            per_line_us.append((time.perf_counter() - began) * 1e6 / lines)
        found[what] = (per_line_us[0], per_line_us[1])
    return found


def report_hosts(console: Console) -> None:
    """Show what host files cost."""
    files = ordinary_files()
    kernelcast = str(Path(sys.executable).with_name("kernelcast"))
    subprocess.run([kernelcast, "--version"], capture_output=True, check=False)  # a page cache that knows it
    table = Table("What", "Figure", title="Host files", title_justify="left")
    taken, passed = look_ms(files)
    size = sum(len(text) for _, _, text in files)
    table.add_row(f"first look at {len(files)} ordinary files, {size / 1e6:.1f} MB", f"{taken:.1f} ms, {passed} pass")
    for what, opened in (("nothing", []), (f"{len(files)} ordinary files", files)):
        cpu_s, mb, children, hints = server_with(kernelcast, opened)
        said = f"{cpu_s:.2f} s of processor, {mb:.0f} MB, {children} processes more, {hints} hints"
        table.add_row(f"server with {what} open", said)
    lines, times = keystrokes_ms()
    p95 = statistics.quantiles(times, n=20)[-1]
    what = f"finding programs at a keystroke, {lines:,} lines with {KERNELS} kernels, p50 and p95"
    table.add_row(what, f"{statistics.median(times):.1f} and {p95:.1f} ms")
    for what, (short_us, long_us) in growth().items():
        ratio = f"{short_us:.1f} and {long_us:.1f} us, {long_us / short_us:.2f} times"
        table.add_row(f"a line of {LINES:,} and of {8 * LINES:,} lines: {what}", ratio)
    console.print(table)
