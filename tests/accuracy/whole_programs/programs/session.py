"""What the programs share: a context on the device that is named first, and the time from there to the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pyopencl as cl


def open_context(platform: str) -> cl.Context:
    """Return a context on the first device of a platform whose name holds the word."""
    for each in cl.get_platforms():
        if platform.lower() in each.name.lower():
            return cl.Context(each.get_devices()[:1])
    sys.exit(f"no platform is called {platform}")


@contextmanager
def timed(source: str) -> Iterator[tuple[cl.Context, cl.Program]]:
    """Build a program and print how long the block took after that [ms]."""
    context = open_context(sys.argv[1])
    program = cl.Program(context, source).build()
    began = time.perf_counter()
    yield context, program
    print(f"{(time.perf_counter() - began) * 1e3:.3f}")
