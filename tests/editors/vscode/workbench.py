"""A VS Code window with kernels in it, in a user's words: what is done with it, and what is seen in it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import FrameLocator, Locator, expect

from tests.editors.vscode.window import Window, plain

MENU_S = 10.0  # the server is asked, and the editor's own helpers
SETTINGS_S = 20.0


@dataclass(frozen=True, slots=True)
class Hint:
    """A hint as drawn: its text, and where it begins behind the text of its own line, in pixels."""

    text: str
    left: int
    gap: int


class Workbench(Window):
    # Hints

    def hints(self) -> dict[str, Hint]:
        found = self.page.evaluate("kernelcastSeen.hints()")
        return {name: Hint(hint["text"], hint["left"], hint["gap"]) for name, hint in found.items()}

    def hint(self, kernel: str) -> str | None:
        hint = self.hints().get(kernel)
        return hint.text if hint else None

    def wait_for_hint(self, kernel: str, wanted: Callable[[str], Any] = bool, what: str = "") -> str:
        seen: list[str | None] = []

        def look() -> str | None:
            text = self.hint(kernel)
            if text not in seen[-1:]:
                seen.append(text)
            return text if text and wanted(text) else None

        try:
            return str(self.until(look, f"a hint of `{kernel}` {what}"))
        except AssertionError as failure:
            raise AssertionError(f"{failure}; its hint was {seen}") from failure

    def open_numberless(self, name: str) -> None:
        """Open a file whose folder's own settings want its lines without numbers, and wait until they are.

        VS Code takes a folder's settings over late on a busy machine, and a remote window now and then not at all
        until it is loaded again: what it does not follow itself, no extension hears of.
        """
        self.open(name)
        since = time.monotonic()

        def shown() -> bool:
            nonlocal since
            if not self.page.locator(".editor-instance .line-numbers").count():
                return True
            if time.monotonic() - since > SETTINGS_S:
                self.reload()
                self.page.locator("[id='status.notifications']").wait_for()
                self.open(name)
                since = time.monotonic()
            return False

        self.until(shown, "lines without numbers")

    def wait_for_prediction(self, kernel: str, foretold: str) -> str:
        """A hint that begins as foretold."""
        return self.wait_for_hint(kernel, lambda text: text.startswith(foretold), f"that begins with `{foretold}`")

    @contextmanager
    def watching(self) -> Iterator[list[dict[str, Hint]]]:
        """Every set of hints that was painted meanwhile, in order."""
        frames: list[dict[str, Hint]] = []
        self.page.evaluate("kernelcastSeen.watch()")
        try:
            yield frames
        finally:
            frames.extend(
                {name: Hint(h["text"], h["left"], h["gap"]) for name, h in frame.items()}
                for frame in self.page.evaluate("kernelcastSeen.watched()") or []
            )

    def contrast_of_hint(self, kernel: str) -> float:
        """How a hint's colour stands out from what it is drawn on, as WCAG counts: 1 to 21."""
        self.wait_for_hint(kernel)
        return float(self.page.evaluate("kernel => kernelcastSeen.contrast(kernel)", kernel))

    # The text

    def place(self, source: str) -> dict[str, float]:
        """Where the first match of the pattern `source` stands on the screen."""
        found = self.until(lambda: self.page.evaluate("s => kernelcastSeen.place(s, '')", source), f"the text {source}")
        return dict(found)

    def point_at(self, source: str) -> None:
        box = self.place(source)
        # From somewhere else: VS Code shows a hover for a mouse that has come, not for one that was there.
        self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 3)
        self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)

    def put_cursor(self, kernel: str) -> None:
        box = self.place(rf"\b{kernel}\b(?=\s*\()")
        self.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def put_cursor_behind(self, source: str) -> None:
        box = self.place(source)
        self.page.mouse.click(box["x"] + box["width"] - 1, box["y"] + box["height"] / 2)

    def go_to_line(self, number: int) -> None:
        """The cursor at its start, and the line in the middle of the window."""
        self.page.keyboard.press("Control+g")
        self._ask_for(f":{number}")
        self.page.keyboard.press("Enter")
        self.page.locator(".quick-input-widget:visible").wait_for(state="hidden")

    def type(self, text: str, *, delay_ms: float = 30) -> None:
        self.page.keyboard.type(text, delay=delay_ms)

    def press(self, keys: str) -> None:
        self.page.keyboard.press(keys)

    def everything_shown(self) -> str:
        """The text area as it is read, hints among the source."""
        return plain(self.page.locator(".editor-instance .view-lines").first.inner_text())

    def source(self) -> str:
        """The lines on the screen, without hints."""
        return str(
            self.page.evaluate(
                """() => [...document.querySelectorAll(".editor-instance .view-line")]
                .sort((a, b) => a.offsetTop - b.offsetTop)
                .map(line => [...line.querySelectorAll(":scope > span > span")]
                    .filter(span => !/dyn-rule-/.test(span.className))
                    .map(span => span.textContent).join("").replace(/\\u00a0/g, " "))
                .join("\\n")"""
            )
        )

    # Hover

    def hover(self, kernel: str, wanted: str = "") -> str:
        """What stands in the box that the mouse on the kernel's name brings up."""
        return self.hover_at(rf"\b{kernel}\b(?=\s*\()", wanted)

    def hover_at(self, source: str, wanted: str = "") -> str:
        def shown() -> str | None:
            box = self.hover_box
            if not box.count():
                self.point_at(source)
                self.page.wait_for_timeout(700)
            text = plain(box.first.inner_text()) if box.count() else ""
            return text if text.strip() and "Loading..." not in text and wanted in text else None

        return str(self.until(shown, f"a hover of {source}"))

    @property
    def hover_box(self) -> Locator:
        return self.page.locator(".monaco-resizable-hover .monaco-hover:visible, .content-hover .monaco-hover:visible")

    def stretch_hover(self, height: int) -> None:
        """Drag its lower edge, for a story longer than what VS Code gives it."""
        box = self.hover_box.first.bounding_box()
        assert box is not None
        edge, middle = box["y"] + box["height"], box["x"] + box["width"] / 2
        self.page.mouse.move(middle, edge)
        self.page.mouse.down()
        self.page.mouse.move(middle, edge + height, steps=5)
        self.page.mouse.up()
        self.page.mouse.move(middle, box["y"] + box["height"] / 2)

    def leave_hover(self) -> None:
        self.page.keyboard.press("Escape")
        self.page.mouse.move(5, 5)
        expect(self.hover_box).to_have_count(0)

    # Code actions

    def code_actions(self, kernel: str) -> list[str]:
        """The titles in the menu, which stays open; none where the editor says that there are none."""
        return list(self.until(lambda: self._actions_menu(kernel), f"an answer to what can be done with {kernel}")[0])

    def _actions_menu(self, kernel: str) -> tuple[list[str]]:
        """Asked for once. VS Code drops the question where the editor is just being laid out anew."""
        self.page.keyboard.press("Escape")
        self.put_cursor(kernel)
        self.page.keyboard.press("Control+.")
        first = self.actions_menu.locator(".monaco-list-row.action").first
        first.or_(self.page.get_by_text("No code actions available")).first.wait_for(timeout=MENU_S * 1000)
        return ([plain(title).strip() for title in self.actions_menu.locator(".action .title").all_inner_texts()],)

    def code_action(self, kernel: str, title: str) -> None:
        """Take the first action whose title begins so."""
        self.until(lambda: self.has_action(kernel, title), f"the code action {title}")
        self.actions_menu.locator(".monaco-list-row.action", has_text=title).first.click()

    def has_action(self, kernel: str, title: str) -> bool:
        """Whether an action's title begins so now; the menu stays open where one does."""
        if any(offered.startswith(title) for offered in self.code_actions(kernel)):
            return True
        self.page.keyboard.press("Escape")
        return False

    @property
    def actions_menu(self) -> Locator:
        return self.page.locator(".action-widget:not(.action-list-submenu-panel)")

    # Webviews

    def webview(self) -> FrameLocator:
        return self.page.frame_locator("iframe.webview.ready").frame_locator("iframe#active-frame")

    def webview_text(self, wanted: str = "") -> str:
        def shown() -> str | None:
            body = self.webview().locator("body")
            text = plain(body.inner_text(timeout=2000)) + plain(body.locator("svg").first.text_content() or "")
            return text if wanted in text else None

        return str(self.until(shown, f'a page with "{wanted}"'))

    def picture_widths(self, where: Locator) -> list[int]:
        """Of the pictures there, once all are loaded; a step may show its picture in a page of its own."""
        found = where.locator("img").evaluate_all("all => all.map(one => one.naturalWidth)")
        inside = self.webview().locator("img")
        if where.locator("iframe.webview.ready").count() or self.page.locator("iframe.webview.ready").count():
            found += inside.evaluate_all("all => all.map(one => one.naturalWidth)")
        return [] if 0 in found else list(found)

    def logs(self) -> str:
        return "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in self.server.logs())


def settings_file(folder: Path, settings: dict[str, Any]) -> None:
    """The folder's own settings, as they come with somebody's repository."""
    (folder / ".vscode").mkdir(parents=True, exist_ok=True)
    (folder / ".vscode" / "settings.json").write_text(json.dumps(settings, indent=1), encoding="utf-8")


def workspace_file(file: Path, folders: Sequence[str]) -> Path:
    """A workspace of several folders beside `file`."""
    file.write_text(json.dumps({"folders": [{"path": folder} for folder in folders]}), encoding="utf-8")
    return file
