"""code-server: the process behind every window, with nobody's settings, extensions or home folder but its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil

PATIENCE_S = 120.0
POLL_S = 0.2

# What keeps a window still: nothing that greets, asks, updates or moves.
SETTINGS: dict[str, Any] = {
    "breadcrumbs.enabled": False,
    "chat.commandCenter.enabled": False,
    "chat.disableAIFeatures": True,
    "editor.cursorBlinking": "solid",
    "editor.inlayHints.enabled": "on",
    "editor.minimap.enabled": False,
    "editor.scrollBeyondLastLine": False,
    "editor.stickyScroll.enabled": False,
    "explorer.autoReveal": False,
    "extensions.autoCheckUpdates": False,
    "extensions.autoUpdate": False,
    "extensions.ignoreRecommendations": True,
    "files.autoSave": "off",
    "files.simpleDialog.enable": True,
    "git.enabled": False,
    "security.workspace.trust.startupPrompt": "never",
    "security.workspace.trust.banner": "never",
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "window.commandCenter": False,
    "window.restoreWindows": "none",
    "workbench.colorTheme": "Dark Modern",
    "workbench.editor.enablePreview": False,
    "workbench.editor.useModal": "off",
    "workbench.layoutControl.enabled": False,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "workbench.welcomePage.walkthroughs.openOnInstall": False,
}


class CodeServer:
    """One code-server with its user, whose home is `folder`. Every window gets an extension host of its own from it."""

    def __init__(self, node: Path, entry: Path, folder: Path, environment: dict[str, str], *, trust_all: bool) -> None:
        self.folder = folder
        self.home = folder / "home"
        self._node, self._entry, self._environment, self._trust_all = node, entry, environment, trust_all
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0
        self.home.mkdir(parents=True)
        (folder / "data").mkdir()
        self.configure()

    # What the user does

    def configure(self, settings: dict[str, Any] | None = None) -> None:
        """The user's settings: those that keep windows still, and these. What names executables is the machine's."""
        chosen = settings or {}
        machine = {name: value for name, value in chosen.items() if name.startswith("kernelcast.server.")}
        for where, said in (("User", {**SETTINGS, **chosen}), ("Machine", machine)):
            file = self.folder / "user" / where / "settings.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(said, indent=1), encoding="utf-8")

    def install(self, extensions: Sequence[Path]) -> None:
        asked = [word for extension in extensions for word in ("--install-extension", str(extension))]
        done = subprocess.run(
            [*self._command(), *asked],
            env=self.environment,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, f"{' '.join(asked)} failed:\n{done.stdout}{done.stderr}"

    # The process

    @property
    def environment(self) -> dict[str, str]:
        foreign = ("VIRTUAL_ENV", "PYTHON", "KERNELCAST", "VSCODE", "XDG")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        theirs = Path.home() / ".config" / "pip" / "pip.conf"
        if theirs.exists():
            kept.setdefault("PIP_CONFIG_FILE", str(theirs))  # which index a machine reaches is not the user's doing
        own = {
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "XDG_DATA_HOME": str(self.home / ".local" / "share"),
            "KERNELCAST_DATA_DIR": str(self.folder / "data"),
        }
        return {**kept, **own, **self._environment}

    def _command(self) -> list[str]:
        trust = ["--disable-workspace-trust"] if self._trust_all else []
        folders = ["--user-data-dir", str(self.folder / "user"), "--extensions-dir", str(self.folder / "extensions")]
        quiet = ["--auth", "none", "--disable-telemetry", "--disable-update-check", "--disable-proxy"]
        return [str(self._node), str(self._entry), *folders, *quiet, *trust]

    def start(self) -> None:
        """In a process group of its own: extension hosts outlive code-server, and are ended with the group."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        with (self.folder / "code-server.log").open("wb") as log:
            self._process = subprocess.Popen(
                [*self._command(), "--bind-addr", f"127.0.0.1:{self.port}"],
                env=self.environment,
                cwd=self.home,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        deadline = time.monotonic() + PATIENCE_S
        while not self._answers():
            said = (self.folder / "code-server.log").read_text(encoding="utf-8", errors="replace")
            assert self._process.poll() is None, f"code-server ended by itself:\n{said}"
            assert time.monotonic() < deadline, f"code-server did not answer within {PATIENCE_S:.0f} s:\n{said}"
            time.sleep(POLL_S)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def stop(self) -> None:
        if self._process is None:
            return
        left = self.processes()
        for kind in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, kind)
            _, left = psutil.wait_procs(left, timeout=5)
            for process in left if kind is signal.SIGKILL else []:
                process.kill()
        self._process = None

    def processes(self) -> list[psutil.Process]:
        if self._process is None:
            return []
        return [psutil.Process(self._process.pid), *psutil.Process(self._process.pid).children(recursive=True)]

    def language_servers(self) -> Iterator[psutil.Process]:
        """The running `kernelcast serve` processes of all windows."""
        for process in self.processes():
            with contextlib.suppress(psutil.Error):
                words = process.cmdline()
                if "serve" in words and any(Path(word).name == "kernelcast" for word in words):
                    yield process

    # What is left to read afterwards

    def logs(self) -> Iterator[Path]:
        """What the extension and the server said, newest last."""
        found = (self.folder / "user" / "logs").rglob("*Kernelcast*.log")
        yield from sorted(found, key=lambda file: file.stat().st_mtime)
