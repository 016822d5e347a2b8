"""Main function of the predictor process: secure the streams, load the weights with the first question, answer."""

from __future__ import annotations

import os
import pickle
import sys
import threading
import traceback
from functools import lru_cache
from pathlib import Path
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING

from model.errors import KernelcastError
from model.learned.learned import UnusableModel, load_model
from model.learned.lessons import Lessons
from model.observing import observe
from model.opencl.include_policy import Reach
from model.opencl.options import BuildOptions
from model.opencl.program import Program, read_program
from model.work.walk.sample import Sample
from profiler.device_worker.main import limit_resources
from profiler.process.framing import packed
from profiler.process.messages import Done, Failed, Message
from server.client.streams import claim_streams
from server.predictor.messages import Ask, RunItems

if TYPE_CHECKING:
    from model.learned.answering import Answering

MEMORY_BYTES = 2 << 30  # private and writable; far more than any weights that ship take


def main() -> None:
    """Serve and never return: the process leaves with the server, or when told to."""
    status = 1
    try:
        incoming, outgoing = claim_streams()
        limit_resources(MEMORY_BYTES)
        orders: SimpleQueue[Ask | RunItems] = SimpleQueue()
        threading.Thread(target=_listen, args=(incoming, orders), name="listens", daemon=True).start()
        _serve(orders, outgoing)
    except Exception:  # noqa: BLE001 - a mistake of ours, or a library's; the server tells of it from our output
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _listen(incoming: IO[bytes], orders: SimpleQueue[Ask | RunItems]) -> None:
    """Put what comes in into `orders`; leave where it ends, however long an answer may still take."""
    try:
        while True:
            orders.put(pickle.load(incoming))
    except (EOFError, OSError, pickle.UnpicklingError):
        os._exit(0)


def _serve(orders: SimpleQueue[Ask | RunItems], outgoing: IO[bytes]) -> None:
    answering: Answering | None = None
    lessons: dict[str, Lessons] = {}
    while True:
        order = orders.get()
        message: Message
        try:
            if isinstance(order, RunItems):
                message = Done((_run(order),))
            else:
                answering = answering or _loaded()
                lessons.update(order.taught)
                message = Done(answering.answer(order.questions, lessons))
        except KernelcastError as error:
            message = Failed(error)
        outgoing.write(packed(message))
        outgoing.flush()


def _run(order: RunItems) -> Sample:
    program = _read(order.text, order.path, order.launch.options, order.reach)
    return observe(program, program.kernel(order.kernel), order.launch)


@lru_cache(4)
def _read(text: str, path: Path | None, options: BuildOptions, reach: Reach | None) -> Program:
    return read_program(text, path, options, reach=reach)


def _loaded() -> Answering:
    from model.learned.answering import Answering  # noqa: PLC0415 - not for those who only have work-items run

    model = load_model()
    if model is None:
        raise UnusableModel("the weights of the learned model are gone")
    return Answering(model)
