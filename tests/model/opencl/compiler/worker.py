"""A process that asks PoCL: reads `[{"text":, "options": [...], "count":}]`, prints what `answers` writes, as JSON."""

from __future__ import annotations

import json
import os
import sys
import tempfile

# PoCL keeps what it builds; these programs need not stay.
_CACHE = tempfile.TemporaryDirectory(prefix="kernelcast-pocl-")
os.environ["POCL_CACHE_DIR"] = _CACHE.name

import numpy as np  # noqa: E402  # after PoCL was told where to keep things
import pyopencl as cl  # noqa: E402


def main() -> None:
    platform = next(p for p in cl.get_platforms() if p.name == "Portable Computing Language")
    context = cl.Context(platform.get_devices()[:1])
    print(json.dumps([_answers(context, **program) for program in json.load(sys.stdin)]))


def _answers(context: cl.Context, text: str, options: list[str], count: int) -> list[int] | str:
    try:
        program = cl.Program(context, text).build(options=options, cache_dir=False)
    except cl.RuntimeError as error:
        return str(error)
    answers = np.zeros(max(1, count), np.int64)
    queue = cl.CommandQueue(context)
    buffer = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, answers.nbytes)
    program.answers(queue, (1,), (1,), buffer)
    cl.enqueue_copy(queue, answers, buffer)
    return [int(answer) for answer in answers]


if __name__ == "__main__":
    main()
