"""Each fault, once: bring it about, and look at what the server answered."""

from __future__ import annotations

import asyncio
import resource
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import psutil

from profiler.store import FILE_NAME
from tests.faults.disk import filled, is_small_disk
from tests.faults.site import CALM, Site, put_pocl

CRASHES = {
    "null": "*(volatile __global int *)8 = 1; a[get_global_id(0)] = 1;",
    "deep": "volatile int big[1 << 25]; for (int i = 0; i < (1 << 25); i += 64) big[i] = i; a[0] = big[a[0] & 255];",
    "trap": "if (a[0] >= 0) __builtin_trap(); a[get_global_id(0)] = 1;",
}
ENDLESS = "while (a[0] != 12345) a[1] = a[0] + 1;"
LOUD = 'for (int i = 0; i < 300; i++) printf("so much to say, %d of %d\\n", i, (int)get_global_id(0)); a[0] = 1;'
LIMIT_BYTES = 768 * 1024 * 1024


@dataclass(frozen=True)
class Scenario:
    """`once` tells how many measurements the store has more; it raises AssertionError at a wrong answer."""

    name: str
    once: Callable[[Site], Awaitable[int]]
    settings: dict[str, Any] = field(default_factory=dict)
    with_calm: bool = True  # a harmless kernel is measured before and after
    ends_server: bool = False
    in_tests: bool = True  # of the whole suite, with few servers for all; it has tests of its own for the others
    of_store: bool = False


def kernel(name: str, body: str, arguments: str = "volatile __global int *a", lengths: str = "a=64") -> str:
    return f"// kernelcast: global=64 local=64 {lengths}\n__kernel void {name}({arguments}) {{ {body} }}\n"


async def crash(site: Site) -> int:
    """SIGSEGV, a stack that overflows, or a trap, in the kernel."""
    name = site.dice.choice(sorted(CRASHES))
    answer = await site.measure("crash.cl", kernel(name, CRASHES[name]), name)
    _expect(answer, "crashed", f"kernel `{name}` crashed (SIG")
    return 0


async def endless_loop(site: Site) -> int:
    answer = await site.measure("endless.cl", kernel("endless", ENDLESS), "endless")
    _expect(answer, "timed_out", "ran longer than 1 s and was stopped")
    return 0


async def worker_killed(site: Site) -> int:
    """SIGKILL of the device process, or of anything that it started, at any moment of its life."""
    running = asyncio.ensure_future(site.measure("short.cl", CALM, "calm"))
    await _until(lambda: site.device_process() is not None or running.done())
    await asyncio.sleep(site.dice.uniform(0, 2.5))
    child = site.device_process()
    killed = False
    if child is not None:
        with suppress(psutil.NoSuchProcess):
            victims = [child, *child.children(recursive=True)] if site.dice.random() < 0.3 else [child]
            site.dice.choice(victims).kill()
            killed = True
    answer = await running
    if "error" in answer:
        assert killed, answer
        assert answer["error"]["code"] in ("crashed", "out_of_resources", "build_failed", "measure"), answer
        return 0
    return 1


async def server_killed(site: Site) -> int:
    """SIGKILL of the server while it measures; nothing of it may live on."""
    running = asyncio.ensure_future(site.measure("endless.cl", kernel("endless", ENDLESS), "endless"))
    running.add_done_callback(lambda task: task.cancelled() or task.exception())
    await _until(lambda: site.device_process() is not None)
    await asyncio.sleep(site.dice.uniform(0, 2.5))
    site.editor.server.kill()
    await site.editor.server.wait()
    return 0


async def disk_full(site: Site) -> int:
    """Full to the last byte, or with room to begin to write; where no disk can be mounted, as `no_file_may_grow`."""
    if not is_small_disk(site.data):
        return await no_file_may_grow(site)
    with filled(site.data, site.dice.choice((0, 40_960))):
        await _measure_without_room(site)
    return 0


async def no_file_may_grow(site: Site) -> int:
    """None of the server's: a quota, or a limit of file sizes."""
    with _limit(site.server, resource.RLIMIT_FSIZE, 4096):
        await _measure_without_room(site)
    return 0


async def _measure_without_room(site: Site) -> None:
    before = len(site.editor.messages)
    answer = await site.measure_calm()
    assert "error" not in answer, answer
    said = site.editor.messages[before:]
    assert any("not remembered: no room on the disk" in message for message in said), said


async def store_locked(site: Site) -> int:
    """Another process holds the store for longer than anybody waits, sometimes even for readers."""
    before = len(site.editor.messages)
    with closing(sqlite3.connect(site.data / FILE_NAME, isolation_level=None)) as other:
        if site.dice.random() < 0.5:
            other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("UPDATE profiles SET measured_at = measured_at")
        answer = await site.measure_calm()
        other.execute("ROLLBACK")
    assert "error" not in answer, answer
    said = site.editor.messages[before:]
    assert any("not remembered" in message and "locked by another process" in message for message in said), said
    return 0


async def device_gone(site: Site) -> int:
    """The driver is removed after it was found."""
    (site.vendors / "pocl.icd").unlink()
    try:
        answer = await site.measure_calm()
    finally:
        put_pocl(site.vendors)
    _expect(answer, "device", "is not in this machine, or no longer")
    return 0


async def allocation_too_large(site: Site) -> int:
    """Each buffer is one that the device allows; together they are more than the process may have."""
    names = "abcdef"
    text = kernel(
        "huge",
        f"int i = get_global_id(0); {' '.join(f'{name}[i] = i;' for name in names)}",
        ", ".join(f"__global int *{name}" for name in names),
        " ".join(f"{name}=28000000" for name in names),
    )
    with _limit(site.server, resource.RLIMIT_DATA, LIMIT_BYTES):
        answer = await site.measure("huge.cl", text, "huge")
    _expect(answer, "out_of_resources", "choose")
    return 0


async def loud_kernel(site: Site) -> int:
    answer = await site.measure("loud.cl", kernel("loud", LOUD), "loud")
    assert "error" not in answer, answer
    return 1


async def chatty_driver(site: Site) -> int:
    """The driver writes 128 MB to stdout: to what the server talks through, if it were let."""
    site.set_fault("chat")
    answer = await site.measure_calm()
    assert "error" not in answer, answer
    return 1


async def flooding_child(site: Site) -> int:
    """50,000 reports of progress at once."""
    site.set_fault("flood")
    seen = len(site.editor.progress)
    answer = await site.measure_calm()
    assert "error" not in answer, answer
    assert len(site.editor.progress) - seen < 2000, "all of the flood reached the editor"
    return 1


async def garbled_pipe(site: Site) -> int:
    """The driver writes into the pipe between the device process and the server."""
    site.set_fault("garble")
    _expect(await site.measure_calm(), "measure", "sent something that is not a message")
    return 0


async def driver_crashes(site: Site) -> int:
    site.set_fault("crash")
    _expect(await site.measure_calm(), "crashed", "crashed (SIGABRT)")
    return 0


async def driver_leaves(site: Site) -> int:
    """It calls exit(0): the process ends as if all were well."""
    site.set_fault("leave")
    _expect(await site.measure_calm(), "measure", "ended without an answer")
    return 0


async def driver_hangs(site: Site) -> int:
    """For ever, as it is opened; the user does not wait for the limit."""
    site.set_fault("hang")
    seen = len(site.editor.progress)
    running = asyncio.ensure_future(site.measure_calm())
    await _until(lambda: site.device_process() is not None and len(site.editor.progress) > seen)
    site.editor.press_cancel()
    _expect(await running, "cancelled", "cancelled")
    return 0


SCENARIOS = (
    Scenario("SIGSEGV in a kernel", crash),
    Scenario(
        "infinite loop", endless_loop, {"measure": {"budgetS": 0.05, "timeLimitS": 1}}, with_calm=False, in_tests=False
    ),
    Scenario("SIGKILL of the worker", worker_killed),
    Scenario("SIGKILL of the server", server_killed, ends_server=True, in_tests=False),
    Scenario("disk full on the store", disk_full, of_store=True),
    Scenario("no file may grow", no_file_may_grow, in_tests=False, of_store=True),
    Scenario("store locked", store_locked, of_store=True),
    Scenario("device gone", device_gone),
    Scenario("allocation too large", allocation_too_large),
    Scenario("kernel that prints", loud_kernel, in_tests=False),
    Scenario("flood of progress", flooding_child, in_tests=False),
    Scenario("garbage in the pipe", garbled_pipe, in_tests=False),
    Scenario("driver that crashes", driver_crashes, in_tests=False),
    Scenario("driver that exits", driver_leaves, in_tests=False),
    Scenario("driver that hangs", driver_hangs),
    Scenario("driver that writes to stdout", chatty_driver),
)


def _expect(answer: Any, code: str, words: str) -> None:
    error = answer.get("error") or {}
    assert error.get("code") == code, answer
    assert words in error["message"], answer


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.005)


@contextmanager
def _limit(pid: int, kind: int, limit: int) -> Iterator[None]:
    """Of a process that runs: its soft limit, which its children may raise again up to the hard one."""
    soft, hard = resource.prlimit(pid, kind)
    resource.prlimit(pid, kind, (limit, hard))
    try:
        yield
    finally:
        resource.prlimit(pid, kind, (soft, hard))
