"""Inside the simulating process: builds each program, fills its arguments as the profiler does, launches it once.

Oclgrind prints its counts to stdout itself; the marks say to which task they belong.
"""

from __future__ import annotations

import pickle
import sys
from dataclasses import replace

import pyopencl as cl

from model.errors import KernelcastError
from profiler.arguments import plan_arguments
from profiler.device_worker.building import build
from profiler.device_worker.memory.allocation import allocate
from tests.oracles.instructions.optimise import CannotOptimise, optimised, unoptimised
from tests.oracles.instructions.task import MARK, Compiled, Task


def main() -> None:
    tasks: dict[int, Task]
    compiled: Compiled
    tasks, compiled = pickle.load(sys.stdin.buffer)
    device = next(p for p in cl.get_platforms() if p.name == "Oclgrind").get_devices()[0]
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    programs: dict[object, cl.Program] = {}
    for number, task in tasks.items():
        _say(f"begin {number}")
        try:
            key = (task.path, task.launch.options)
            if key not in programs:
                programs[key] = _program(task, compiled, context)
            _launch(programs[key], task, context, queue)
            _say("done")
        except (KernelcastError, CannotOptimise, cl.Error) as error:
            _say(f"failed: {' '.join(str(error).split())}")


def _program(task: Task, compiled: Compiled, context: cl.Context) -> cl.Program:
    options = task.launch.options
    if compiled is Compiled.BY_OCLGRIND:
        return build(context, task.source, str(task.path), options)
    flags = (*options.flags, *unoptimised(compiled))
    raw = build(context, task.source, str(task.path), replace(options, flags=flags))
    return cl.Program(context, context.devices, [optimised(raw.binaries[0], compiled)]).build()


def _launch(program: cl.Program, task: Task, context: cl.Context, queue: cl.CommandQueue) -> None:
    kernel = cl.Kernel(program, task.kernel.name)
    arguments = allocate(plan_arguments(task.kernel, task.launch, task.source), context, queue)
    for index, value in enumerate(arguments.values):
        kernel.set_arg(index, value)
    cl.enqueue_nd_range_kernel(queue, kernel, task.launch.global_size, task.launch.local_size)
    queue.finish()


def _say(what: str) -> None:
    print(MARK, what, flush=True)


if __name__ == "__main__":
    main()
