"""What a README shows of VS Code is what these tests saw: in a light and a dark theme, still and in motion."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.editors.vscode.conftest import Foretold, ServerStart, WindowOpen
from tests.editors.vscode.pictures import Film, clip_of, save, sized, take
from tests.editors.vscode.workbench import Workbench

pytestmark = pytest.mark.device

THEMES = {"light": "Light Modern", "dark": "Dark Modern"}
FILTERS = """\
// kernelcast: global=N local=64 N=16777216 signal=N
__kernel void amplify(__global float *signal, float gain)
{
    const int i = get_global_id(0);
    signal[i] *= gain;
}

// kernelcast: global=N local=64 N=262144 wave=N steps=64
__kernel void swell(__global float *wave, int steps)
{
    const int i = get_global_id(0);
    float height = 0.0f;
    for (int k = 1; k <= steps; ++k)
        height += sin(k * wave[i]) / k;
    wave[i] = height;
}
"""
SOFTEN = """\
// kernelcast: global=N local=64 N=16777216 signal=N
__kernel void soften(__global float *signal, float gain)
{
    const int i = get_global_id(0);
    signal[i] *= gain;
}
"""
WIDTH = 860
DEVICE = "pocl"


@pytest.fixture(scope="module")
def window(
    start_code_server: ServerStart, ours: dict[str, Any], kernelcast: str, open_sharp_window: WindowOpen
) -> Workbench:
    """Of a user who has calibrated the device, as everybody is asked to."""
    code_server = start_code_server(settings={**ours, "kernelcast.device": DEVICE})
    calibrate = [kernelcast, "calibrate", DEVICE, "--quick"]
    done = subprocess.run(
        calibrate, env=code_server.environment, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    folder = code_server.home / "filters"
    folder.mkdir()
    return open_sharp_window(code_server, folder)


@pytest.fixture(autouse=True)
def _tidy(window: Workbench) -> Iterator[None]:
    yield
    window.choose_theme(THEMES["dark"])
    window.close_everything()


@pytest.mark.parametrize("theme", THEMES)
def test_hints_and_a_hover_on_one_picture(window: Workbench, pictures: Path, theme: str) -> None:
    window.choose_theme(THEMES[theme])
    with sized(window, WIDTH + 50, 590):
        window.open("filters.cl", FILTERS)
        window.wait_for_hint("swell", lambda text: "compute" in text)
        window.code_action("amplify", "Measure `amplify` on ")
        window.wait_for_hint("amplify", lambda text: "measured" in text)
        window.quiet()
        window.go_to_line(7)
        story = window.hover("swell", "swell")
        assert "compute" in story
        window.stretch_hover(120)
        clip = clip_of(window, ".part.editor")
        assert save(take(window, clip), pictures / f"hints-{theme}.png") < 150_000
        window.leave_hover()


@pytest.mark.parametrize("theme", THEMES)
def test_the_report_on_one_picture(window: Workbench, pictures: Path, theme: str) -> None:
    window.choose_theme(THEMES[theme])
    with sized(window, 1560, 970):
        window.open("filters.cl", FILTERS)
        window.wait_for_hint("swell", lambda text: "compute" in text)
        window.code_action("amplify", "Measure `amplify` on ")
        window.wait_for_hint("amplify", lambda text: "measured" in text)
        window.put_cursor("amplify")
        window.command("Kernelcast: Show Performance Report")
        window.webview_text("oofline")
        window.quiet()
        clip = clip_of(window, "iframe.webview.ready")
        assert save(take(window, clip), pictures / f"report-{theme}.png") < 150_000


def test_typing_and_measuring_in_motion(window: Workbench, pictures: Path, foretold: Foretold) -> None:
    typed = " * sin(signal[i])"
    after = foretold(window.server, SOFTEN.replace("gain;", f"gain{typed};"), "soften", DEVICE)
    with sized(window, 880, 330):
        window.open("soften.cl", SOFTEN)
        before = window.wait_for_prediction("soften", foretold(window.server, SOFTEN, "soften", DEVICE))
        window.put_cursor_behind(r"\*= gain;")
        window.press("ArrowLeft")
        window.quiet()
        film = Film(window, clip_of(window, ".part.editor"))
        film.look_until_still()
        film.begin()
        for letter in typed:
            window.type(letter, delay_ms=0)
            film.look()
        film.look_until(lambda: (window.hint("soften") or "").startswith(after), "a hint that follows")
        window.code_actions("soften")
        film.look_until_still()
        window.actions_menu.locator(".action", has_text="Measure `soften` on").first.click()
        film.look_until(lambda: "measured" in (window.hint("soften") or ""), "a measured time")
        window.quiet()
        window.page.mouse.move(400, 300)
        film.look_until_still()
        assert window.hint("soften") != before
        assert film.save(pictures / "measure.gif") < 400_000
