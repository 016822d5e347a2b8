"""A terminal without a screen: what a program draws in tmux, and keys for it."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

PATIENCE_S = 60.0
COLUMNS, LINES = 80, 40
_LOOK_S = 0.05  # between two looks at the screen
_LEAVE_S = 0.3  # for programs whose window was closed: none has anything to save
# Linux ends the server, and that its programs, even when whoever runs the tests is killed.
_WITH_US = ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []


def tmux_is_here() -> bool:
    return shutil.which("tmux") is not None


class Terminal:
    """One program in one window of a tmux server of its own, whose socket lies in `folder`."""

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self._socket = str(folder / "tmux.socket")
        self._server = subprocess.Popen(
            [*_WITH_US, "tmux", "-D", "-S", self._socket, "-f", "/dev/null"],
            **dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL),
            start_new_session=True,
        )
        try:
            self._await_server()
            given = [f"{key}={value}" for key, value in {"TERM": "tmux-256color", **environment}.items()]
            self._tmux(
                *("new-session", "-d", "-x", str(COLUMNS), "-y", str(LINES), "-c", str(folder)),
                shlex.join(["env", *given, *command]),
            )
        except BaseException:
            self.close()
            raise

    def _await_server(self) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while subprocess.run(self._client("start-server"), capture_output=True, timeout=30, check=False).returncode:
            if self._server.poll() is not None or time.monotonic() > deadline:
                raise AssertionError("tmux does not start")
            time.sleep(_LOOK_S)

    def press(self, *keys: str) -> None:
        """By tmux's names: `Enter`, `Escape`, `C-x`; anything else is typed as it stands."""
        self._tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    @property
    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    @property
    def lines(self) -> list[str]:
        return self.screen.splitlines()

    def until(self, wanted: str | Callable[[str], bool], nudge: Callable[[], None] | None = None) -> str:
        """The screen once it shows what is wanted; `nudge` is what a user does who waits, about once a second."""
        holds = wanted if callable(wanted) else lambda screen: wanted in screen
        began = nudged = time.monotonic()
        while not holds(screen := self.screen):
            now = time.monotonic()
            if now - began > PATIENCE_S:
                raise AssertionError(f"The screen never showed {wanted!r}, but at last:\n{screen}")
            if nudge is not None and now - nudged > 1:
                nudge()
                nudged = now
            time.sleep(_LOOK_S)
        return screen

    def close(self) -> None:
        """Ends the program as closing the window would, and by force what stays then."""
        started: list[psutil.Process] = []
        with contextlib.suppress(psutil.NoSuchProcess):
            started = psutil.Process(self._server.pid).children(recursive=True)
        self._server.terminate()
        _, left = psutil.wait_procs(started, timeout=_LEAVE_S)
        for process in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self._server.kill()
        self._server.wait()

    def _client(self, *words: str) -> list[str]:
        return ["tmux", "-N", "-S", self._socket, *words]

    def _tmux(self, *words: str) -> str:
        ended = subprocess.run(self._client(*words), capture_output=True, text=True, timeout=30, check=False)
        if ended.returncode != 0:
            raise AssertionError(f"tmux {words[0]}: {ended.stderr.strip()} (did the program end?)")
        return ended.stdout
