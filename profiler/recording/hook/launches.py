"""Record launches as they are enqueued: which are equal, how often each ran, and the times of its events."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any, Iterator

MOST_BY_VALUE = 4096  # distinct launches of one kernel; beyond, those that differ only in values count as the first
_KERNEL, _QUEUE = "_kernelcast_kernel", "_kernelcast_queue"
_AT_ONCE = 8  # least number of events to look at together: the first ones are complete by then
_MOST_WAITING = 1024  # events whose times are not read yet
_UNSET = (("unset",), 0)
_DIMENSIONS = 3


class Launches:
    """Writes each distinct launch once and counts it. An error in here is a problem in the log, never the program's."""

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
        self._waiting: deque[tuple[Any, int]] = deque()

    def enqueued(self, queue: Any, kernel: Any, sizes: tuple[Any, ...], wait_for: Any) -> int:
        """Return the number of a launch that is about to be enqueued; write it to the log if it is new."""
        set_ = self._arguments.of(kernel)
        known = getattr(kernel, _KERNEL, None)
        if known is None or known[0] is not self._generation:
            known = self._known(kernel)
        _, program, name, count = known
        arguments = tuple([set_.get(index, _UNSET)[0] for index in range(count)])
        key = (program, name, self._queue(queue)[0], sizes, arguments)
        with self._lock:
            number = self._ids.get(key)
            if number is not None:
                return number
            number, is_new = self._number(key)
        if is_new and self._sender.is_wanted:  # without the lock: reading may take long
            self._sender.send_all((*self._log.name(), number), queue, set_, wait_for)
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
        """Read the times of events that are complete by now."""
        with self._lock:
            self._take_times(everything=True)

    def _known(self, kernel: Any) -> tuple[Any, int, str, int]:
        program = kernel.get_info(self._cl.kernel_info.PROGRAM)
        raw = getattr(program, "_prg", None) or program
        known = (self._generation, self._programs.number_of(raw), kernel.function_name, kernel.num_args)
        setattr(kernel, _KERNEL, known)
        return known

    def _number(self, key: Any) -> tuple[int, bool]:
        """Return the number that an unknown launch is counted under, and whether it is a new one."""
        program, name, device, sizes, arguments = key
        kernel = (program, name, device)
        alike = (*kernel, sizes, tuple(each[:1] if each[0] == "value" else each for each in arguments))
        if self._of_kernel.get(kernel, 0) >= MOST_BY_VALUE and alike in self._first:
            number = self._first[alike]
            if number not in self._varying:
                self._varying.add(number)
                self._log.line({"record": "varies", "launch": number})
            return number, False
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
                "args": [_plain(each) for each in arguments],
            }
        )
        return number, True

    def _queue(self, queue: Any) -> tuple[int, bool]:
        """Return the number of the queue's device, and whether its events have times."""
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
            self._log.line(
                {
                    "record": "device",
                    "id": number,
                    "name": device.name,
                    "driver_version": device.driver_version,
                    "platform": device.platform.name,
                }
            )
        return number

    def _take_times(self, *, everything: bool) -> None:
        """Read the times of complete events, the oldest first; drop an event without a time."""
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


def _plain(argument: Any) -> dict[str, Any]:
    kind = argument[0]
    if kind == "image":
        return {"kind": kind, "size": argument[1], "channels": argument[2], "type": argument[3]}
    if kind in {"buffer", "local", "svm"}:
        return {"kind": kind, "bytes": argument[1]}
    if kind == "value":
        return {"kind": kind, "hex": argument[1].hex()}
    return {"kind": kind}


def sizes_of(global_size: Any, local_size: Any, offset: Any, *, g_times_l: bool) -> tuple[Any, ...] | None:
    """Return global size, local size and offset as the driver gets them; None for an empty range."""
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
