"""Inside the counting process: runs each launch's twin on PoCL with the contents that a measurement uses.

PoCL's kernels run in this very process, so a counter is an address of its own memory: no kernel needs another argument.
Each launch's counts are printed as a line of JSON; what stops the process costs no launch before it.
"""

from __future__ import annotations

import json
import pickle
import sys

import numpy as np
import pyopencl as cl

from profiler.arguments import plan_arguments
from profiler.device_worker.building import build
from profiler.device_worker.memory.allocation import allocate
from profiler.device_worker.probing import open_device
from tests.oracles.data_loops.places import places_in, with_counters
from tests.oracles.instructions.task import MARK, Task


def main() -> None:
    tasks: dict[int, Task] = pickle.load(sys.stdin.buffer)
    device = open_device("pocl")
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    programs: dict[str, tuple[cl.Program, np.ndarray[tuple[int], np.dtype[np.uint64]]]] = {}
    for number, task in tasks.items():
        key = task.source
        if key not in programs:
            counters = np.zeros(len(places_in(task.source)), np.uint64)
            twin = with_counters(task.source, counters.ctypes.data)
            programs[key] = build(context, twin, str(task.path), task.launch.options), counters
        program, counters = programs[key]
        counters[:] = 0
        kernel = cl.Kernel(program, task.kernel.name)
        arguments = allocate(plan_arguments(task.kernel, task.launch, task.source), context, queue)
        for index, value in enumerate(arguments.values):
            kernel.set_arg(index, value)
        cl.enqueue_nd_range_kernel(queue, kernel, task.launch.global_size, task.launch.local_size)
        queue.finish()
        print(MARK, json.dumps([number, counters.tolist()]), flush=True)


if __name__ == "__main__":
    main()
