"""One VS Code window, whatever is open in it: files, commands, messages, status. Waits for conditions only."""

from __future__ import annotations

import os
import re
import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Locator, Page
from playwright.sync_api import Error as PlaywrightError

from tests.editors.vscode.host import CodeServer

PATIENCE_S = float(os.environ.get("KERNELCAST_TEST_PATIENCE_S", "90"))
POLL_S = 0.1
SEEN = Path(__file__).with_name("seen.js")


class Window:
    def __init__(self, context: BrowserContext, server: CodeServer, folder: Path) -> None:
        """`folder` may also be a .code-workspace file."""
        self.server, self.folder = server, folder
        self._patience_s = PATIENCE_S
        self.page: Page = context.new_page()
        self.page.set_default_timeout(PATIENCE_S * 1000)
        self.page.on("dialog", lambda dialog: dialog.accept())
        self.page.add_init_script(path=SEEN)
        kind = "workspace" if folder.suffix == ".code-workspace" else "folder"
        self._address = f"http://127.0.0.1:{server.port}/?{urllib.parse.urlencode({kind: str(folder)})}"
        self._go()

    def _go(self) -> None:
        self.page.goto(self._address)
        self.page.locator(".monaco-workbench").wait_for()
        # The extension host and the explorer both work by the time that there are status items of the remote side.
        self.page.locator("[id='status.notifications']").wait_for()
        if self.page.locator(".part.sidebar:visible").count():
            self.command("View: Close Primary Side Bar")

    def reload(self) -> None:
        """As "Reload Window" does: a new extension host, the same editors."""
        self.page.reload()
        self.page.locator(".monaco-workbench").wait_for()

    def shut(self) -> None:
        self.page.close(run_before_unload=False)

    # Waiting

    @contextmanager
    def patient(self, *, for_s: float) -> Iterator[None]:
        """For what takes its time, such as an installation."""
        before, self._patience_s = self._patience_s, max(for_s, self._patience_s)
        try:
            yield
        finally:
            self._patience_s = before

    def until(self, condition: Callable[[], Any], wanted: str) -> Any:
        """The first true answer of `condition`. What is wanted is said in the failure."""
        deadline = time.monotonic() + self._patience_s
        while True:
            try:
                if answer := condition():
                    return answer
            except PlaywrightError as problem:
                if time.monotonic() > deadline:
                    raise AssertionError(f"never seen: {wanted} ({problem})") from problem
            assert time.monotonic() < deadline, f"never seen: {wanted}; messages so far: {self.messages()}"
            self.page.wait_for_timeout(POLL_S * 1000)

    # Files

    def write(self, name: str, text: str) -> Path:
        """A file in the folder, written by somebody else."""
        root = self.folder.parent if self.folder.is_file() else self.folder
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def open(self, name: str, text: str | None = None) -> None:
        """By its full path in "Go to File", as nothing else is sure to find it."""
        root = self.folder.parent if self.folder.is_file() else self.folder
        if text is not None:
            self.write(name, text)
        self.page.keyboard.press("Control+p")
        self._ask_for(str(root / name))
        self._row(re.compile(re.escape(Path(name).name))).first.click()
        self.page.locator(f".tab.active[aria-label^='{Path(name).name}']").wait_for()
        self.page.locator(".editor-instance .view-line").first.wait_for()

    def close_everything(self) -> None:
        """Editors without saving, messages without answering."""
        for _ in range(2):
            self.page.keyboard.press("Escape")
        while self.page.locator(".tab").count():
            before = self.page.locator(".tab").count()
            self.command("View: Revert and Close Editor")
            self.until(lambda before=before: self.page.locator(".tab").count() < before, "an editor less")
        self.quiet()
        self.page.evaluate("kernelcastSeen.forget()")

    # Commands and questions

    def _took_theme(self, name: str) -> bool:
        """A window that is still settling shuts its lists again."""
        try:
            self.command("Preferences: Color Theme")
            wanted = self.page.locator(".quick-input-widget:visible input[placeholder*='Theme']")
            wanted.fill(name, timeout=5000)
            self._row(re.compile(rf"^{re.escape(name)}$")).first.click(timeout=5000)
        except PlaywrightError:
            self.page.keyboard.press("Escape")
            return False
        return True

    def choose_theme(self, name: str) -> None:
        self.until(lambda: self._took_theme(name), f"the theme {name} in the list")
        kind = "vs" if "Light" in name else "hc-black" if "Contrast" in name else "vs-dark"
        self.page.locator(f".monaco-workbench.{kind}").wait_for()

    def command(self, title: str) -> None:
        """From the palette."""
        self.page.keyboard.press("F1")
        self._ask_for(f">{title}")
        self._row(re.compile(rf"^{re.escape(title)}$")).first.click()

    def offered_commands(self, words: str) -> list[str]:
        """What the palette finds for these words; it is left again."""
        self.page.keyboard.press("F1")
        self._ask_for(f">{words}")
        self.page.locator(".quick-input-list .monaco-list-row").first.wait_for()
        rows = [plain(text).strip() for text in self.page.locator(".quick-input-list .label-name").all_inner_texts()]
        self.page.keyboard.press("Escape")
        return rows

    def pick(self, words: str) -> str:
        """Type these words into the list that is open and take what is found; its name."""
        rows = self.page.locator(".quick-input-widget:visible .quick-input-list .monaco-list-row[aria-label]")
        rows.first.wait_for()
        self._ask_for(words)
        found = rows.filter(has_text=words).first
        name = plain(found.locator(".label-name").first.inner_text()).strip()
        found.click()
        return name

    def _ask_for(self, words: str) -> None:
        self.page.locator(".quick-input-widget:visible input[type='text']").fill(words)

    def _row(self, words: re.Pattern[str]) -> Locator:
        rows = self.page.locator(".quick-input-widget:visible .quick-input-list .monaco-list-row")
        return rows.filter(has=self.page.locator(".label-name", has_text=words))

    # Messages and progress

    def messages(self) -> list[str]:
        """All that were shown since the window was opened or tidied, hidden again or not."""
        return [plain(text) for text in self.page.evaluate("kernelcastSeen.messages()")]

    def wait_for_message(self, words: str) -> str:
        def found() -> str | None:
            return next((text for text in self.messages() if words in text), None)

        return str(self.until(found, f'a message with "{words}"'))

    def message_box(self, words: str) -> Locator:
        """A message that is on the screen now."""
        return self.page.locator(".notification-toast .notification-list-item").filter(has_text=words).first

    def answer(self, words: str, button: str) -> None:
        box = self.message_box(words)
        box.locator(".monaco-button", has_text=re.compile(rf"^{re.escape(button)}")).first.click()

    def press_cancel(self, words: str) -> None:
        self.answer(words, "Cancel")

    def quiet(self) -> None:
        """No message is on the screen any more, and the keyboard is in the text again."""
        self.command("Notifications: Clear All Notifications")
        self.page.locator(".notification-toast").first.wait_for(state="hidden")

    # Status

    def status(self) -> str:
        """The language status item in one line."""
        item = self.page.locator("[id='status.languageStatus']")
        label = item.get_attribute("aria-label") if item.count() else None
        return plain(label or "").removeprefix("Editor Language Status: ")

    def wait_for_status(self, words: str) -> str:
        seen: list[str] = []

        def shown() -> str | None:
            status = self.status()
            if status not in seen[-1:]:
                seen.append(status)
            return status if words in status else None

        try:
            return str(self.until(shown, f'the status "{words}"'))
        except AssertionError as failure:
            raise AssertionError(f"{failure}; the status was {seen}") from failure

    # The folder

    def trust_the_folder(self) -> None:
        self.command("Workspaces: Manage Workspace Trust")
        self.page.locator(".workspace-trust-editor .monaco-button", has_text="Trust").first.click()
        self.command("View: Close Editor")

    def debug_information(self) -> str:
        """As the command puts it into the clipboard."""
        self.page.evaluate("navigator.clipboard.writeText('')")
        self.command("Kernelcast: Copy Debug Information")
        return str(self.until(lambda: self.page.evaluate("navigator.clipboard.readText()"), "a filled clipboard"))


def plain(text: str) -> str:
    """Without the spaces that VS Code puts in place of spaces."""
    return re.sub(r"[\u00a0\u2007\u202f]", " ", re.sub(r"[\u200b\u200c\u200d]", "", text))
