"""Full analysis against file size: time and memory a line, from 1,000 lines to 27,000."""

from __future__ import annotations

import time
import tracemalloc
from dataclasses import dataclass

from generate import generate_file

from model.device import Device
from model.engine import Engine
from model.opencl.program import read_program

SIZES = (1000, 3000, 9000, 27_000)
LINES_OF_A_KERNEL = 90


@dataclass(frozen=True, slots=True)
class Sized:
    """One size: reading alone, reading with the analysis and forecast of every kernel, and what reading keeps."""

    lines: int
    kernels: int
    read_us_a_line: float
    full_us_a_line: float
    kept_bytes_a_line: float


def sizes(device: Device, *, seed: int = 1) -> list[Sized]:
    Engine().forecast(generate_file(1000, 11, seed + 1), None, device)  # what is loaded once
    found = []
    for lines in SIZES:
        kernels = lines // LINES_OF_A_KERNEL
        text = generate_file(lines, kernels, seed)
        begun = time.perf_counter()
        read_program(text)
        read_s = time.perf_counter() - begun
        begun = time.perf_counter()
        Engine().forecast(text, None, device)
        full_s = time.perf_counter() - begun
        tracemalloc.start()
        program = read_program(text)
        kept = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        del program
        found.append(Sized(lines, kernels, 1e6 * read_s / lines, 1e6 * full_s / lines, kept / lines))
    return found
