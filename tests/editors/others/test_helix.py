"""Helix with editors/helix/languages.toml: hint, hover, measuring from the menu of code actions."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.editors.others.conftest import REPOSITORY, program
from tests.editors.terminal import Terminal

PREDICTED = re.compile(r"const int n\) [~≈] [\d.]+ (ns|µs|ms|s)\b")
MEASURED = re.compile(r"const int n\) [\d.]+ (ns|µs|ms|s) measured")
EDITOR_SETTINGS = "[editor.lsp]\ndisplay-inlay-hints = true\ndisplay-progress-messages = true\n"

LANGUAGES = REPOSITORY / "editors" / "helix" / "languages.toml"

Start = Callable[..., Terminal]


@pytest.fixture
def opened(start: Start, environment: dict[str, str]) -> Callable[[str], Terminal]:
    """Helix with a languages.toml, once it shows the hint."""

    def opened_with(languages: str) -> Terminal:
        command = program("hx")
        settings = Path(environment["HOME"]) / ".config" / "helix"
        settings.mkdir(parents=True)
        (settings / "config.toml").write_text(EDITOR_SETTINGS)
        (settings / "languages.toml").write_text(languages)
        terminal = start(command, "blend.cl")
        # Helix asks for hints when the text changes, and once the user moves after it was opened.
        terminal.until(lambda screen: bool(PREDICTED.search(screen)), nudge=lambda: terminal.press("j", "k"))
        return terminal

    return opened_with


@pytest.fixture
def helix(opened: Callable[[str], Terminal]) -> Terminal:
    return opened(LANGUAGES.read_text())


def go_to_kernel(helix: Terminal) -> None:
    helix.press("g", "g", "j", "w", "w")


def open_menu(helix: Terminal) -> None:
    """Until measuring is among the actions: it is not before the devices are known."""

    def again() -> None:
        helix.press("Escape", "Escape", "Space", "a")

    helix.press("Space", "a")
    helix.until("Measure `blend` on", nudge=again)


@pytest.mark.device
def test_hint_says_what_a_kernel_will_take_and_follows_an_edit(helix: Terminal) -> None:
    before = PREDICTED.search(helix.screen)
    assert before is not None
    helix.type("/65536")
    helix.press("Enter")
    helix.type("a000")  # n, and with it the time, a thousand times as large
    helix.press("Escape")
    helix.until(lambda screen: (now := PREDICTED.search(screen)) is not None and now[0] != before[0])


@pytest.mark.device
def test_hover_is_readable_in_80_columns(helix: Terminal) -> None:
    go_to_kernel(helix)
    helix.press("Space", "k")
    screen = helix.until("will take about")
    assert "Hottest lines" in screen
    assert "| ---" not in screen  # Helix draws no Markdown tables


@pytest.mark.device
def test_measuring_from_the_menu_shows_progress_and_the_measured_time(helix: Terminal) -> None:
    go_to_kernel(helix)
    open_menu(helix)
    helix.press("Enter", "Enter")
    helix.until(lambda screen: bool(re.search(r"\d+% \w|blend: [\d.]+ ", screen)))
    helix.until(lambda screen: bool(re.search(r"blend: [\d.]+ (ns|µs|ms|s), predicted", screen)))
    helix.press("Space", "k")
    helix.until("(measured")
    helix.press("Escape", "Escape")
    # Its hints are asked for anew with the next edit.
    helix.press("G", "o", "Escape")
    helix.until(lambda screen: bool(MEASURED.search(screen)))


@pytest.mark.device
def test_device_named_in_languages_toml_is_the_one_predicted_for(opened: Callable[[str], Terminal]) -> None:
    line = '# config.kernelcast = { device = "pocl" }'
    assert line in LANGUAGES.read_text()
    helix = opened(LANGUAGES.read_text().replace(line, 'config.kernelcast = { device = "nvidia-tesla-t4" }'))
    go_to_kernel(helix)
    helix.press("Space", "k")
    helix.until("Tesla T4")
