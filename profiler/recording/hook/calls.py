"""Wrap the calls of PyOpenCL that set arguments and enqueue kernels: each does what it did, and is recorded."""

from __future__ import annotations

import atexit
import functools
from typing import Any, Callable

# PyOpenCL's generated code sets several arguments in one call.
_MULTIPLE = ("_set_arg_multi", "_set_arg_buf_multi", "_set_arg_buf_pack_multi")


def install(cl: Any, arguments: Any, launches: Any, sizes_of: Callable[..., Any], log: Any, *, profile: bool) -> None:
    """Wrap what sets arguments and enqueues kernels. Raises AttributeError for an unknown version of PyOpenCL."""
    kernel, native = cl.Kernel, cl._cl
    enqueue = native.enqueue_nd_range_kernel
    single = kernel.set_arg  # everything that may be missing is looked up before anything is changed
    _wrap_enqueue(cl, enqueue, launches, sizes_of, log)
    kernel.set_arg = _noting(single, arguments.set, log)
    for name in ("_set_arg_buf", "_set_arg_null", "_set_arg_svm"):
        if hasattr(kernel, name):
            note = arguments.set_bytes if name == "_set_arg_buf" else arguments.set
            setattr(kernel, name, _noting(getattr(kernel, name), functools.partial(_one, note), log))
    if hasattr(kernel, "_set_arg_multi"):
        for name, note in zip(_MULTIPLE, (arguments.set, arguments.set_bytes, arguments.set_packed)):
            width = 3 if note == arguments.set_packed else 2
            setattr(kernel, name, _noting(getattr(kernel, name), functools.partial(_each, note, width), log))
    if hasattr(kernel, "clone"):
        _wrap_clone(kernel, arguments)
    if profile:
        _profile_queues(cl)
    atexit.register(launches.end)


def _one(note: Callable[..., None], kernel: Any, index: int, value: Any = None) -> None:
    note(kernel, index, value)


def _each(note: Callable[..., None], width: int, kernel: Any, given: Any) -> None:
    for at in range(0, len(given), width):
        note(kernel, *given[at : at + width])


def _noting(original: Callable[..., Any], note: Callable[..., None], log: Any) -> Callable[..., Any]:
    """Return `original` with a call of `note` after it, unless the layer records this process."""

    @functools.wraps(original, assigned=("__doc__", "__name__"), updated=())
    def noting(self: Any, *given: Any) -> Any:
        result = original(self, *given)
        if log.is_known_silent:
            return result
        try:
            note(self, *given)
        except Exception as error:  # noqa: BLE001 - never the program's concern
            log.problem("an argument could not be recorded", error)
        return result

    return noting


def _wrap_enqueue(cl: Any, enqueue: Callable[..., Any], launches: Any, sizes_of: Callable[..., Any], log: Any) -> None:
    @functools.wraps(enqueue, assigned=("__doc__", "__name__"), updated=())
    def enqueue_nd_range_kernel(queue: Any, kernel: Any, *given: Any, **named: Any) -> Any:
        number = -1
        if not log.is_silent:
            try:
                number = _before(launches, sizes_of, queue, kernel, given, named)
            except Exception as error:  # noqa: BLE001 - never the program's concern
                log.problem("a launch could not be recorded", error)
        event = enqueue(queue, kernel, *given, **named)
        if number >= 0:
            try:
                launches.succeeded(number, queue, event)
            except Exception as error:  # noqa: BLE001
                log.problem("a launch could not be counted", error)
        return event

    cl._cl.enqueue_nd_range_kernel = cl.enqueue_nd_range_kernel = enqueue_nd_range_kernel


def _before(
    launches: Any, sizes_of: Callable[..., Any], queue: Any, kernel: Any, given: tuple[Any, ...], named: dict[str, Any]
) -> int:
    """Return the launch's number, -1 for an empty range. `given` and `named` are what follows queue and kernel."""
    count = len(given)
    global_size = given[0] if count else named["global_work_size"]
    local_size = given[1] if count > 1 else named.get("local_work_size")
    offset = given[2] if count > 2 else named.get("global_offset", named.get("global_work_offset"))
    wait_for = given[3] if count > 3 else named.get("wait_for")
    g_times_l = bool(given[4] if count > 4 else named.get("g_times_l", False))
    sizes = sizes_of(global_size, local_size, offset, g_times_l=g_times_l)
    return -1 if sizes is None else int(launches.enqueued(queue, kernel, sizes, wait_for))


def _wrap_clone(kernel: Any, arguments: Any) -> None:
    original = kernel.clone

    @functools.wraps(original, assigned=("__doc__", "__name__"), updated=())
    def clone(self: Any) -> Any:
        other = original(self)
        arguments.copy(self, other)
        return other

    kernel.clone = clone


def _profile_queues(cl: Any) -> None:
    """Turn profiling on for all queues that are created from now on."""
    original, enable = cl.CommandQueue, cl.command_queue_properties.PROFILING_ENABLE

    class CommandQueue(original):  # type: ignore[misc, valid-type]
        """PyOpenCL's queue, with profiling."""

        __module__ = original.__module__

        def __init__(self, context: Any, device: Any = None, properties: Any = None) -> None:
            given = 0 if properties is None else properties
            super().__init__(context, device, given | enable if isinstance(given, int) else given)

    cl.CommandQueue = cl._cl.CommandQueue = CommandQueue
