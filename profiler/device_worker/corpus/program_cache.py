"""Programs of the collection: built in one process, loaded in others.

What is kept are the drivers' own binaries, which load in a fraction of the time that a build takes. They hold the very
code that the build job has read; of PoCL, that of all local sizes that have run by then.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections import OrderedDict
from pathlib import Path
from typing import cast

import pyopencl as cl

from model.opencl.options import BuildOptions
from profiler.device_worker.building import build, kernel_named
from profiler.device_worker.failures import named_failures

MOST_LOADED = 8


class Shelf:
    """Owns the programs of one context that were used last. `folder` is where binaries are kept.

    Whoever reads what a compiler makes must see it compile: `loads` is then false. `flags` are added in builds alone,
    so they must change nothing that runs.
    """

    def __init__(
        self, context: cl.Context, device: cl.Device, folder: Path, *, loads: bool, flags: tuple[str, ...] = ()
    ) -> None:
        self._context, self._device = context, device
        self._folder, self._loads = folder, loads
        self._flags = BuildOptions(flags=flags)
        self._loaded: OrderedDict[tuple[str, str | None, BuildOptions], cl.Program] = OrderedDict()
        self._kernel: tuple[cl.Program, cl.Kernel] | None = None

    def program(self, source: str, path: str | None, options: BuildOptions) -> cl.Program:
        """Return the program, loaded if it has been built in any process, else built. Raises BuildFailed."""
        key = (source, path, options)
        program = self._loaded.pop(key, None) or self._stored(key) or self._built(source, path, options)
        self._loaded[key] = program
        if len(self._loaded) > MOST_LOADED:
            self._loaded.popitem(last=False)
        return program

    def kernel(self, program: cl.Program, name: str) -> cl.Kernel:
        """Return the kernel, the same object while it is asked for again. Raises BuildFailed.

        PyOpenCL writes and compiles Python code for each kernel object.
        """
        last = self._kernel
        if last is None or last[0] is not program or last[1].function_name != name:
            last = self._kernel = program, kernel_named(program, name)
        return last[1]

    def has(self, source: str, path: str | None, options: BuildOptions) -> bool:
        """Return whether it need not be built."""
        return self._loads and (self._folder / self._name((source, path, options))).exists()

    def store(self, source: str, path: str | None, options: BuildOptions) -> None:
        """Keep the binary of what was built, for other processes."""
        key = (source, path, options)
        binaries = cast("list[bytes]", self._loaded[key].get_info(cl.program_info.BINARIES))
        self._folder.mkdir(parents=True, exist_ok=True)
        number, part = tempfile.mkstemp(dir=self._folder)
        with os.fdopen(number, "wb") as file:
            file.write(binaries[0])
        Path(part).rename(self._folder / self._name(key))  # whole or not at all, whoever reads it meanwhile

    def _stored(self, key: tuple[str, str | None, BuildOptions]) -> cl.Program | None:
        if not self.has(*key):
            return None
        binary = (self._folder / self._name(key)).read_bytes()
        with named_failures("loading a program's binary"):
            program = cl.Program(self._context, [self._device], [binary])
            program.build()
        return program

    def _built(self, source: str, path: str | None, options: BuildOptions) -> cl.Program:
        # PoCL 3.0 crashes on the lines of samplers in program scope, and an include may hold some.
        is_plain = "sampler" not in source and "include" not in source
        return build(self._context, source, path, options.merged(self._flags) if is_plain else options)

    def _name(self, key: tuple[str, str | None, BuildOptions]) -> str:
        device = self._device
        known = (key, device.name, device.driver_version)
        return hashlib.sha256(repr(known).encode("utf-8", "surrogatepass")).hexdigest()[:32]
