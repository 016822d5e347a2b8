"""Launches as they are enqueued: which are alike, how often each ran, and what its events say of the time."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any, Iterator

MOST_BY_VALUE = 4096  # distinct launches of one kernel; further ones that differ in values alone count as the first
_KERNEL, _QUEUE = "_kernelcast_kernel", "_kernelcast_queue"
_AT_ONCE = 8  # events at least that are looked at together: the first ones are complete by then
_MOST_WAITING = 1024  # events whose times are not known yet
_DIMENSIONS = 3


class Launches:
    """Writes each distinct launch once, and counts. A mistake in here is a problem in the log, never the program's."""

    def __init__(self, cl: Any, log: Any, arguments: Any, programs: Any, sender: Any) -> None:
        self._cl, self._log, self._arguments, self._programs, self._sender = cl, log, arguments, programs, sender
        self._status = cl.event_info.COMMAND_EXECUTION_STATUS
        self._complete = cl.command_execution_status.COMPLETE
        self._start, self._end = cl.profiling_info.START, cl.profiling_info.END
        self._begin()
        log.on_fork.append(self._begin)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._generation = object()
        self._ids: dict[Any, int] = {}
        self._first: dict[Any, int] = {}  # by all but the values
        self._of_kernel: dict[Any, int] = {}
        self._varying: set[int] = set()
        self._counts: list[int] = []
        self._devices: dict[int, int] = {}
        self._objects: dict[int, int] = {}
        self._waiting: deque[tuple[Any, int]] = deque()

    def enqueued(self, queue: Any, kernel: Any, sizes: tuple[Any, ...], wait_for: Any) -> int:
        """Return the number of this launch, which is about to be enqueued; it is written down if it is new."""
        set_ = self._arguments.of(kernel)
        known = getattr(kernel, _KERNEL, None)
        if known is None or known[0] is not self._generation:
            known = self._known(kernel)
        _, program, name, count = known
        arguments = tuple([set_.get(index, ("unset",)) for index in range(count)])
        key = (program, name, self._queue(queue)[0], sizes, arguments)
        with self._lock:
            number = self._ids.get(key)
            if number is None:
                number = self._new(key, queue, wait_for)
        return number

    def succeeded(self, number: int, queue: Any, event: Any) -> None:
        with self._lock:
            self._counts[number] += 1
            self._log.count(number, self._counts[number])
            if self._queue(queue)[1]:
                self._waiting.append((event, number))
                if len(self._waiting) >= _AT_ONCE:
                    self._take_times(everything=False)

    def end(self) -> None:
        """Take the times that are still to be had."""
        with self._lock:
            self._take_times(everything=True)

    def _known(self, kernel: Any) -> tuple[Any, int, str, int]:
        program = kernel.get_info(self._cl.kernel_info.PROGRAM)
        raw = getattr(program, "_prg", None) or program
        known = (self._generation, self._programs.number_of(raw), kernel.function_name, kernel.num_args)
        setattr(kernel, _KERNEL, known)
        return known

    def _new(self, key: Any, queue: Any, wait_for: Any) -> int:
        program, name, device, sizes, arguments = key
        kernel = (program, name, device)
        alike = (*kernel, sizes, tuple(each[:1] if each[0] == "value" else each for each in arguments))
        if self._of_kernel.get(kernel, 0) >= MOST_BY_VALUE and alike in self._first:
            number = self._first[alike]
            if number not in self._varying:
                self._varying.add(number)
                self._log.line({"record": "varies", "launch": number})
            return number
        number = self._ids[key] = len(self._counts)
        self._first.setdefault(alike, number)
        self._of_kernel[kernel] = self._of_kernel.get(kernel, 0) + 1
        self._counts.append(0)
        global_size, local_size, offset = sizes
        self._log.line(
            {
                "record": "launch",
                "id": number,
                "program": program,
                "kernel": name,
                "device": device,
                "global": global_size,
                "local": local_size,
                "offset": offset,
                "args": [self._plain(each) for each in arguments],
            }
        )
        if self._sender.is_wanted:
            for each in wait_for or ():
                each.wait()
            for index, each in enumerate(arguments):
                if each[0] == "buffer":
                    self._sender.send(self._log.name(), number, index, self._cl, queue, each)
        return number

    def _plain(self, argument: Any) -> dict[str, Any]:
        kind = argument[0]
        if kind == "buffer":
            pointer, size = argument[1:]
            offset, root = self._place(pointer)
            return {"kind": kind, "bytes": size, "offset": offset, "object": self._object(root)}
        if kind == "image":
            _, pointer, size, channels, channel = argument
            return {"kind": kind, "size": size, "channels": channels, "type": channel, "object": self._object(pointer)}
        if kind in {"local", "svm"}:
            return {"kind": kind, "bytes": argument[1]}
        if kind == "value":
            return {"kind": kind, "hex": argument[1].hex()}
        return {"kind": kind}

    def _place(self, pointer: int) -> tuple[int, int]:
        """Return where a buffer begins in the one that it is part of, and that one's pointer."""
        memory = self._cl.MemoryObject.from_int_ptr(pointer, retain=True)
        try:
            whole = memory.associated_memobject
            return int(memory.offset), pointer if whole is None else whole.int_ptr
        except self._cl.Error:
            return 0, pointer

    def _object(self, pointer: int) -> int:
        return self._objects.setdefault(pointer, len(self._objects))

    def _queue(self, queue: Any) -> tuple[int, bool]:
        """Return the number of the queue's device, and whether its events tell times."""
        known: tuple[Any, int, bool] | None = getattr(queue, _QUEUE, None)
        if known is None or known[0] is not self._generation:
            is_profiling = bool(queue.properties & self._cl.command_queue_properties.PROFILING_ENABLE)
            known = (self._generation, self._device(queue.device), is_profiling)
            setattr(queue, _QUEUE, known)
        return known[1:]

    def _device(self, device: Any) -> int:
        number = self._devices.get(device.int_ptr)
        if number is None:
            number = self._devices[device.int_ptr] = len(self._devices)
            kinds = self._cl.device_type
            named = ((kinds.GPU, "gpu"), (kinds.CPU, "cpu"), (kinds.ACCELERATOR, "accelerator"))
            self._log.line(
                {
                    "record": "device",
                    "id": number,
                    "name": device.name,
                    "vendor": device.vendor,
                    "driver_version": device.driver_version,
                    "platform": device.platform.name,
                    "type": next((name for kind, name in named if device.type & kind), "other"),
                }
            )
        return number

    def _take_times(self, *, everything: bool) -> None:
        """Read events from the oldest on, as far as they are complete; one that tells nothing is let go."""
        waiting, done = self._waiting, self._complete
        while waiting:
            event, number = waiting[0]
            try:
                status = event.get_info(self._status)
                if status > done and len(waiting) <= _MOST_WAITING and not everything:
                    return
                if status == done:
                    ended_ns, started_ns = event.get_profiling_info(self._end), event.get_profiling_info(self._start)
                    self._log.timed(number, (ended_ns - started_ns) * 1e-3)
            except self._cl.Error:
                pass
            waiting.popleft()


def sizes_of(global_size: Any, local_size: Any, offset: Any, *, g_times_l: bool) -> tuple[Any, ...] | None:
    """Return global, local and offset sizes as the driver gets them; None for an empty range, which runs nothing."""
    whole = [int(each) for each in global_size]
    local = None if local_size is None else [int(each) for each in local_size]
    if local is not None and g_times_l:
        whole, local = (list(_padded(sizes, max(len(whole), len(local)))) for sizes in (whole, local))
        whole = [one * other for one, other in zip(whole, local)]
    if 0 in whole or not 1 <= len(whole) <= _DIMENSIONS:
        return None
    first = [0] * len(whole) if offset is None else [int(each) for each in offset]
    return tuple(whole), None if local is None else tuple(local), tuple(first)


def _padded(sizes: list[int], count: int) -> Iterator[int]:
    yield from sizes
    yield from [1] * (count - len(sizes))
