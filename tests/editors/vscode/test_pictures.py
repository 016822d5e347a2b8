"""What a README shows of VS Code is what these tests saw: in a light and a dark theme, still and in motion."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.editors.faster import WRITE
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
// kernelcast: global=N local=1 N=2097152 signal=N tune.local=4,16,64,256
__kernel void soften(__global float *signal, float gain)
{
    const int i = get_global_id(0);
    signal[i] *= gain;
}
"""
WIDTH, HOVER_HEIGHT = 860, 300
DEVICE = "pocl"
RATES_ALONE = f"""\
from profiler.calibrate import calibrate
from profiler.store import Store
Store.open().save_profile(calibrate({DEVICE!r}, quick=True))
"""


@pytest.fixture(scope="module")
def window(
    start_code_server: ServerStart, ours: dict[str, Any], kernelcast: str, open_sharp_window: WindowOpen, is_kept: bool
) -> Workbench:
    """Open a window of a user who has calibrated the device.

    The kernels of the corpus, which take another minute, are measured only for pictures that are committed.
    """
    code_server = start_code_server(settings={**ours, "kernelcast.device": DEVICE})
    calibrate = [kernelcast, "calibrate", DEVICE, "--quick"] if is_kept else [sys.executable, "-c", RATES_ALONE]
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
    with sized(window, WIDTH + 50, 700):
        window.open("filters.cl", FILTERS)
        window.wait_for_hint("swell", lambda text: "compute" in text)
        window.code_action("amplify", "Measure `amplify` on ")
        window.wait_for_hint("amplify", lambda text: "measured" in text)
        window.quiet()
        window.go_to_line(7)
        picture = window.until(lambda: _with_hover(window, "swell"), "a hover that stays")
        assert save(picture, pictures / f"hints-{theme}.png") < 150_000
        window.leave_hover()


def _with_hover(window: Workbench, kernel: str) -> Image.Image | None:
    """Take a picture with the hover; None where the hover closed meanwhile, as it does when hints are drawn anew."""
    window.page.mouse.move(5, 5)  # a mouse that stays where it is brings up nothing
    assert "compute" in window.hover(kernel, kernel)
    box = window.hover_box.first.bounding_box()
    if box is not None and box["height"] < HOVER_HEIGHT:
        window.stretch_hover(240)
    picture = take(window, clip_of(window, ".part.editor"))
    return picture if window.hover_box.count() else None


@pytest.mark.parametrize("theme", THEMES)
def test_the_report_on_one_picture(window: Workbench, pictures: Path, theme: str) -> None:
    window.choose_theme(THEMES[theme])
    with sized(window, 1560, 1060):
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


def test_typing_measuring_and_tuning_in_motion(window: Workbench, pictures: Path, foretold: Foretold) -> None:
    typed = " * sqrt(signal[i])"
    after = foretold(window.server, SOFTEN.replace("gain;", f"gain{typed};"), "soften", DEVICE)
    with sized(window, 880, 420):
        window.open("soften.cl", SOFTEN)
        before = window.wait_for_prediction("soften", foretold(window.server, SOFTEN, "soften", DEVICE))
        window.put_cursor_behind(r"\*= gain;")
        window.press("ArrowLeft")
        window.quiet()
        film = Film(window, clip_of(window, ".part.editor"))
        film.look_until_still()
        film.begin()
        film.stand(1000)
        for letter in typed:
            window.type(letter, delay_ms=0)
            film.look()
        film.look_until(lambda: (window.hint("soften") or "").startswith(after), "a hint that follows")
        film.stand(1500)
        _choose(window, film, "Measure `soften` on")
        film.look_until(lambda: "measured" in (window.hint("soften") or ""), "a measured time")
        window.quiet()
        window.page.mouse.move(400, 400)
        film.look_until_still()
        film.stand(2000)
        assert window.hint("soften") != before
        _choose(window, film, "Find a faster launch of `soften` on")
        film.look_until(lambda: window.message_box(WRITE).count(), "a faster launch")
        for _ in range(3):  # it fades in, and the bar of progress never stands still
            film.look()
        film.stand(2000)
        window.answer("soften: ", WRITE)
        film.look_until(lambda: "local=1 " not in window.source(), "the launch in the annotation")
        film.look_until(lambda: "measured" in (window.hint("soften") or ""), "its measured time")
        window.quiet()
        film.look_until_still()
        assert film.save(pictures / "tune.gif") < 600_000


def _choose(window: Workbench, film: Film, title: str) -> None:
    """Take an action from the menu, long enough for a reader to see which."""
    window.code_actions("soften")
    film.look_until_still()
    action = window.actions_menu.locator(".action", has_text=title).first
    action.hover()
    film.look_until_still()
    film.stand(800)
    action.click()
