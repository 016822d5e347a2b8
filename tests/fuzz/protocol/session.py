"""One script played to a fresh server in a workspace of its own, and what was wrong with what came back."""

from __future__ import annotations

import base64
import json
import os
import random
import shutil
import string
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz.protocol.connection import Connection, Fault
from tests.fuzz.protocol.expect import Key, answers_to
from tests.fuzz.protocol.manners import by_chance, polite
from tests.fuzz.protocol.script import MARK, SERVERS_ID, Script, Step

ANSWER_S = 2.0
LEAVING_S = 10.0  # for the end of the process: Python's own, with threads under way
# A client that cannot refresh gets no hints before this machine's devices are known, or 5 s after they are looked for.
_FIRST_HINTS_S = 7.0
_LATE_S = 20.0  # how long to wait for what is late already, to tell it from what never comes
_KERNEL = b"""#include "rounds.h"
__kernel void k(__global float *a, int n) {
  int i = get_global_id(0);
  for (int r = 0; r < ROUNDS; ++r) if (i < n) a[i] += 1.0f;
}
"""


@dataclass
class Report:
    """`quick_s` and `slow_s` are from request to answer; the latter are of what may take longer."""

    name: str
    fault: str = ""
    quick_s: list[float] = field(default_factory=list)
    slow_s: list[float] = field(default_factory=list)
    codes: Counter[int] = field(default_factory=Counter)
    answers: int = 0
    probes: int = 0
    starved: int = 0  # see `Connection.in_time`


def play(script: Script, answer_s: float = ANSWER_S) -> Report:
    """Never raises for what the server does: that is in the report."""
    report = Report(script.name)
    with _workspace() as (root, mark):
        connection = Connection([_command(), "serve", "--stdio"], _environment(root), root, root.with_suffix(".log"))
        playing = _Playing(connection, root, mark, report, answer_s)
        connection.manners = playing.well_behaved(by_chance(script.manners) if script.manners else polite)
        try:
            playing.through(script)
        except Fault as fault:
            report.fault = str(fault)
        finally:
            connection.end(0)
        log = connection.log()
        if not report.fault and ("Traceback" in log or "ERROR" in log or "CRITICAL" in log or "never awaited" in log):
            report.fault = f"the server's log holds a fault\n{log[-4000:]}"
        elif report.fault:
            report.fault += f"\n{log[-2000:]}"
        report.codes = connection.seen.codes
        report.answers = connection.seen.answers.total()
        report.starved = connection.starved
    return report


def _command() -> str:
    return str(Path(sys.executable).with_name("kernelcast"))


def _environment(root: Path) -> dict[str, str]:
    """No devices, so that nothing spoilt is run; no learned model, whose process takes longer to start
    than a session."""
    home = root.with_suffix(".home")
    return {
        **os.environ,
        "KERNELCAST_DATA_DIR": str(home / "data"),
        "XDG_DATA_HOME": str(home / "share"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "KERNELCAST_WEIGHTS": str(home / "no weights"),
        "OCL_ICD_VENDORS": "/nonexistent.icd",
        "PYTHONASYNCIODEBUG": "",
    }


@contextmanager
def _workspace() -> Iterator[tuple[Path, str]]:
    """With names and links as users have them."""
    mark = "".join(random.choices(string.ascii_lowercase, k=len(MARK)))
    root = Path(tempfile.gettempdir()) / f"kernelcast-fuzz-{mark}"
    (root / "sub").mkdir(parents=True)
    for name in ("k.cl", "a name.cl", "ünï😀.cl", "sub/deep.cl"):
        (root / name).write_bytes(_KERNEL)
    (root / "rounds.h").write_bytes(b"#define ROUNDS 3\n")
    (root / "loop").symlink_to(".", target_is_directory=True)
    (root / "sub/up").symlink_to("..", target_is_directory=True)
    (root / "round").symlink_to("round")
    (root / "nowhere.h").symlink_to("not there")
    try:
        yield root, mark
    finally:
        for each in (root, root.with_suffix(".home")):
            shutil.rmtree(each, ignore_errors=True)
        root.with_suffix(".log").unlink(missing_ok=True)


class _Playing:
    def __init__(self, connection: Connection, root: Path, mark: str, report: Report, answer_s: float) -> None:
        self._connection = connection
        self._root = root
        self._mark = mark.encode()
        self._report = report
        self._answer_s = answer_s
        self._expected: Counter[Key] = Counter()
        self._sent: dict[Key, float] = {}
        self._quick: set[Key] = set()
        self._hints: set[Key] = set()
        self._has_waited = False
        self._slow: set[Key] = set()
        self._asked_again = 0
        self._has_shut_down = False

    def well_behaved(self, manners: Any) -> Any:
        """What the client says to the server's requests may itself be a request."""

        def answer(request: dict[str, Any]) -> list[bytes]:
            replies: list[bytes] = manners(request)
            for reply in replies:
                self._note(reply, is_slow=True)
            return replies

        return answer

    def through(self, script: Script) -> None:
        is_broken = False
        for step in script.steps:
            self._check()
            if step.kind == "broken":
                is_broken = True
                self._connection.send(step.bytes, self._answer_s)
            else:
                getattr(self, f"_{step.kind}")(step)
        self._connection.close_input()
        status = self._connection.end(LEAVING_S)
        if status is None:
            raise Fault(f"the server did not end within {LEAVING_S:g} s of {'nonsense' if is_broken else '`exit`'}")
        wanted = (0,) if self._has_shut_down else (0, 1)
        if status not in wanted:
            raise Fault(f"the server ended with status {status}")

    def _check(self) -> None:
        seen = self._connection.seen
        if seen.faults:
            raise Fault(seen.faults[0])
        if seen.has_ended:
            raise Fault(f"the server ended in the middle, with status {self._connection.end(LEAVING_S)}")

    def _send(self, step: Step) -> None:
        data = self._made_real(step.bytes)
        body = self._note(data, is_slow=step.is_slow)
        if b'"shutdown"' in body and b'"the end"' in body:
            self._has_shut_down = True
            self._quick |= self._slow  # they are cancelled now
            now = time.monotonic()
            self._sent.update(dict.fromkeys(self._slow, now))
            self._slow = set()
        self._connection.send(data, self._answer_s)

    def _made_real(self, data: bytes) -> bytes:
        servers_id = self._connection.seen.servers_id or SERVERS_ID
        return data.replace(SERVERS_ID.encode(), servers_id.encode()).replace(MARK.encode(), self._mark)

    def _note(self, data: bytes, *, is_slow: bool) -> bytes:
        """Which answer must come to this."""
        body = data.partition(b"\r\n\r\n")[2]
        key = answers_to(body)
        if key is not None:
            self._expected[key] += 1
            self._sent[key] = time.monotonic()
            if b'"textDocument/inlayHint"' in body:
                self._hints.add(key)
            if is_slow or key in self._slow:
                self._slow.add(key)
                self._quick.discard(key)  # of two requests with one id, nobody can tell which is answered first
            else:
                self._quick.add(key)
        return body

    def _settle(self, _: Step) -> None:
        """Until all that is quick is answered, in time."""
        due, seen = set(self._quick), self._connection.seen
        self._await(due - self._hints, self._answer_s)
        began = time.monotonic()
        self._await(due, self._answer_s if self._has_waited else max(self._answer_s, _FIRST_HINTS_S))
        self._has_waited = self._has_waited or time.monotonic() - began > self._answer_s
        self._check()
        for key, count in list(seen.answers.items()):
            if count > self._expected[key]:
                raise Fault(f"{count} answers to {key}, of which {self._expected[key]} were asked for")
        self._report.quick_s += [max(0.0, seen.times[key] - self._sent[key]) for key in due]
        done = {key for key in self._slow if seen.answers[key] >= self._expected[key]}
        self._report.slow_s += [max(0.0, seen.times[key] - self._sent[key]) for key in done]
        self._slow -= done
        self._quick -= due

    def _await(self, due: set[Key], patience_s: float) -> None:
        seen = self._connection.seen

        def answered(_: object) -> bool:
            return all(seen.answers[key] >= self._expected[key] for key in due) or bool(seen.faults)

        if self._connection.in_time(lambda left_s: self._connection.wait(answered, left_s), patience_s):
            return
        self._check()
        missing = [key for key in due if seen.answers[key] < self._expected[key]]
        began = time.monotonic()
        if self._connection.wait(answered, _LATE_S):
            raise Fault(f"answered {patience_s + time.monotonic() - began:.1f} s after it was asked: {missing}")
        raise Fault(f"never answered: {missing}")

    def _ask(self, step: Step) -> None:
        """The hint stands where the editor has the kernel, as soon as the analysis is done."""
        message = json.loads(self._made_real(step.bytes).partition(b"\r\n\r\n")[2])
        deadline = time.monotonic() + max(_LATE_S, self._answer_s)
        while True:
            self._asked_again += 1
            key: Key = ("str", f"probe {self._asked_again}")
            body = json.dumps({**message, "id": key[1]}).encode()
            self._note(b"\r\n\r\n" + body, is_slow=False)
            self._connection.send(b"Content-Length: %d\r\n\r\n%s" % (len(body), body), self._answer_s)
            self._settle(step)
            hints = self._connection.seen.last[key].get("result") or []
            found = [(hint["position"]["line"], hint["position"]["character"]) for hint in hints]
            if found == [step.wanted]:
                self._report.probes += 1
                return
            if time.monotonic() > deadline:
                raise Fault(f"the hints stand at {found} and not at {step.wanted}")
            time.sleep(0.02)

    def _write(self, step: Step) -> None:
        file = self._root / step.path
        if step.wanted:
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(base64.b64decode(step.data))
        else:
            file.unlink(missing_ok=True)
