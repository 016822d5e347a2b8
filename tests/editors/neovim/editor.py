"""Neovim as a user has it: our plugin as a package, the real server, a screen of its own; asked over its RPC socket."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from tests.editors.neovim.home import Home
from tests.editors.neovim.rpc import Connection, NotAnsweredError, listens, mode
from tests.editors.terminal import Terminal

PATIENCE_S = float(os.environ.get("KERNELCAST_TEST_PATIENCE_S", "60"))
_NEOVIMS_OWN = "Client kernelcast quit with exit code"  # a long line about a crash, which the plugin cannot prevent


class Window(Terminal):
    """A terminal of the size that a test wants, with the colours of what is drawn."""

    def __init__(
        self, command: Sequence[str], folder: Path, environment: Mapping[str, str], size: tuple[int, int]
    ) -> None:
        super().__init__(command, folder, environment)
        self._tmux("resize-window", "-x", str(size[0]), "-y", str(size[1]))

    @property
    def coloured(self) -> str:
        return self._tmux("capture-pane", "-p", "-e", "-N")


class Neovim:
    """What a user does, and what the user sees."""

    def __init__(self, nvim: Path, home: Home, file: Path, size: tuple[int, int]) -> None:
        self.home = home
        self.file = file
        self.prompts: list[str] = []
        self._socket = home.root / f"nvim-{time.monotonic_ns()}.socket"
        command = [str(nvim), "--listen", str(self._socket), str(file)]
        self.window = Window(command, home.root, home.variables, size)
        try:
            self.until(lambda: listens(self._socket), "Neovim listens")
            self._rpc = Connection(self._socket)
            # It answers before it has read its files: what is asked of it then mixes with what it still does by itself.
            self.until(lambda: self.lua("return vim.v.vim_did_enter == 1"), "Neovim has started")
        except BaseException:
            self.window.close()
            raise

    def close(self) -> None:
        self._rpc.close()
        self.window.close()

    # What the user does

    def run(self, command: str) -> None:
        """A command line; what it starts goes on by itself."""
        self._request("nvim_command", command)

    def press(self, *keys: str) -> None:
        self.window.press(*keys)

    def type(self, text: str) -> None:
        self.window.type(text[:-1] + "\\;" if text.endswith(";") else text)  # tmux ends a command there

    def edit(self, file: Path) -> None:
        self.run(f"edit {file}")

    def go_to(self, text: str) -> None:
        """Put the cursor onto the first place that holds it."""
        assert self.lua("return vim.fn.search(..., 'cw')", "\\V" + text) > 0, f"{text!r} is not in the file"

    def actions(self) -> list[str]:
        """Titles of what the menu would offer here."""
        found = self.lua("""
            local params = vim.lsp.util.make_range_params(0, 'utf-16')
            params.context = { diagnostics = {} }
            local titles = {}
            for _, reply in pairs(vim.lsp.buf_request_sync(0, 'textDocument/codeAction', params, 10000) or {}) do
              for _, action in ipairs(reply.result or {}) do table.insert(titles, action.title) end
            end
            return titles
        """)
        return [str(title) for title in found]

    def offered(self, start: str) -> list[str]:
        """The titles, once one of them begins so: nothing is measured before it is known which devices are here."""
        self.until(lambda: any(title.startswith(start) for title in self.actions()), f"an action `{start}`")
        return self.actions()

    def pick(self, wanted: str) -> None:
        """Every question from now on is answered with the first choice that holds this, and written down."""
        self.lua(
            """
            local wanted = ...
            _G.seen.asked = {}
            vim.ui.select = function(items, opts, on_choice)
              local words = vim.tbl_map(opts.format_item or tostring, items)
              table.insert(_G.seen.asked, { prompt = opts.prompt, choices = words })
              for place, word in ipairs(words) do
                if word:find(wanted, 1, true) then return on_choice(items[place], place) end
              end
              on_choice(nil)
            end
            """,
            wanted,
        )

    def kill_server(self) -> int:
        """As a crash would; the id of the process that is gone."""
        pid = self.server()
        os.kill(pid, signal.SIGKILL)
        return pid

    # What the user sees

    def hints(self, bufnr: int = 0) -> dict[int, str]:
        """Text by line, counted from 1."""
        found = self.lua(
            """
            local hints = {}
            for _, hint in ipairs(vim.lsp.inlay_hint.get({ bufnr = ... })) do
              table.insert(hints, { hint.inlay_hint.position.line + 1, hint.inlay_hint.label })
            end
            return hints
            """,
            bufnr,
        )
        return {line: str(label) for line, label in found}

    def hint(self) -> str:
        """The only hint of a file with one kernel; empty before it is there."""
        found = self.hints()
        assert len(found) <= 1, found
        return next(iter(found.values()), "")

    def wait_for_hint(self, wanted: Callable[[str], bool] = bool) -> str:
        """Until it says what is wanted and the screen says the same."""
        self.until(lambda: wanted(self.hint()) and self.hint() in self.screen_text, lambda: f"hint: {self.hint()!r}")
        return self.hint()

    def settle(self) -> None:
        """Until the devices are known, and the hints are those that the server shows from then on."""
        self.until(self.is_attached, "the server is attached")
        self._ask("listDevices")

        def labels() -> list[str]:
            listed = self._ask("listKernels", self.lua("return vim.uri_from_bufnr(0)"))
            return [str(kernel["label"]) for kernel in listed]

        self.until(lambda: [label for _, label in sorted(self.hints().items())] == labels(), lambda: str(labels()))

    def _ask(self, command: str, *arguments: str) -> Any:
        return self.lua(
            """
            local command, arguments = ...
            local params = { command = "kernelcast." .. command, arguments = arguments }
            local client = require("kernelcast.client")
            local of = client.of(0)
            local reply = client.call(of, "request_sync", "workspace/executeCommand", params, 30000, 0)
            return reply and reply.result
            """,
            command,
            list(arguments),
        )

    @property
    def lines(self) -> list[str]:
        return self.window.lines

    def drawn(self) -> list[str]:
        """The screen's lines once all of what the window shows now has reached it, and nothing older is left on it.

        Neovim answers from what it knows, the terminal is drawn later and in pieces: the ruler, which is drawn behind
        the lines, ends them. All of that is seen in one look, for the next may show another page.
        """

        def shows(screen: str) -> bool:
            lines, ruler = self.lua(
                """
                return { vim.api.nvim_buf_get_lines(0, vim.fn.line('w0') - 1, vim.fn.line('w$'), false),
                         vim.api.nvim_eval_statusline('%l,%c%V ', {}).str }
                """
            )
            rows = screen.splitlines()
            is_text = [row.startswith(line.rstrip()) for row, line in zip(rows, lines, strict=False)]
            return len(is_text) == len(lines) and all(is_text) and any(f" {ruler}" in row for row in rows[len(lines) :])

        return self.window.until(shows).splitlines()

    @property
    def screen_text(self) -> str:
        """Without the breaks of lines that are wider than the window."""
        return self.window.screen.replace("\n", "")

    def messages(self) -> list[str]:
        """What Neovim can show again, in full, by `:messages`."""
        return str(self.lua("return vim.fn.execute('messages')")).splitlines()

    def wait_for_message(self, wanted: str) -> str:
        self.until(lambda: any(wanted in message for message in self.messages()), lambda: str(self.messages()))
        return next(message for message in self.messages() if wanted in message)

    def opened(self) -> list[str]:
        return [str(path) for path in self.lua("return _G.seen.opened")]

    def asked(self) -> list[dict[str, Any]]:
        return list(self.lua("return _G.seen.asked or {}"))

    def text(self) -> str:
        """Of the buffer that the user is in."""
        return "\n".join(self.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"))

    def wait_for_text(self, wanted: str) -> str:
        self.until(lambda: wanted in self.text(), lambda: self.text()[-2000:])
        return self.text()

    # What lies behind

    def lua(self, code: str, *arguments: Any) -> Any:
        return self._request("nvim_exec_lua", code, arguments)

    def _request(self, method: str, *arguments: Any) -> Any:
        try:
            return self._rpc.request(method, *arguments, patience_s=PATIENCE_S, meanwhile=self._go_on)
        except NotAnsweredError as error:
            raise NotAnsweredError(f"{error}\n{self._state()}") from None

    def _go_on(self) -> None:
        """Neovim answers nothing while a message wider than the window waits for Enter; users should not have to."""
        if mode(self._socket)["blocking"]:
            screen = self.window.screen
            if "Press ENTER" in screen or "-- More --" in screen:
                if _NEOVIMS_OWN not in screen.replace("\n", ""):
                    self.prompts.append(screen)
                self.window.press("Enter")

    def _state(self) -> str:
        with contextlib.suppress(OSError, AssertionError):
            return f"{mode(self._socket)}\n{self.window.screen}"
        return "It has ended, or does nothing but one thing."

    def is_attached(self) -> bool:
        return bool(self.lua("return #vim.lsp.get_clients({ bufnr = 0, name = 'kernelcast' }) > 0"))

    def servers(self) -> list[int]:
        """The ids of the server's processes: one, but for the time between two."""
        found = []
        for child in psutil.Process(self.lua("return vim.fn.getpid()")).children():
            with contextlib.suppress(psutil.Error):
                if "serve" in child.cmdline():
                    found.append(child.pid)
        return found

    def server(self) -> int:
        (only,) = self.servers()
        return only

    def wait_for_another_server(self, than: int) -> None:
        self.until(lambda: [pid for pid in self.servers() if pid != than], "a new server runs")

    def until(
        self, condition: Callable[[], object], what: str | Callable[[], str], patience_s: float = PATIENCE_S
    ) -> None:
        deadline = time.monotonic() + patience_s
        while not condition():
            if time.monotonic() > deadline:
                said = what if isinstance(what, str) else what()
                raise AssertionError(f"never came about: {said}\n{self._state()}")
            time.sleep(0.02)
