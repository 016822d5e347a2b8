"""Emacs with editors/emacs/kernelcast.el: hint, eldoc, measuring from code actions, cancel, choosing the device."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.editors.others.conftest import KERNEL, REPOSITORY, program
from tests.editors.terminal import COLUMNS, Terminal

PACKAGE = REPOSITORY / "editors" / "emacs" / "kernelcast.el"
PREDICTED = re.compile(r"const int n\) [~≈] [\d.]+ (ns|µs|ms|s)\b")
MEASURED = re.compile(r"const int n\) [\d.]+ (ns|µs|ms|s) measured")
INIT = "(setq inhibit-startup-screen t)\n(require 'kernelcast)\n"


@pytest.fixture
def opened(start: Callable[..., Terminal], folder: Path) -> Callable[[str], Terminal]:
    """Emacs with an init file, once it shows the hint."""

    def opened_with(init: str) -> Terminal:
        (folder / "init.el").write_text(init)
        emacs = start(program("emacs"), "-q", "-L", str(PACKAGE.parent), "-l", str(folder / "init.el"), "blend.cl")
        emacs.until(lambda screen: bool(PREDICTED.search(screen)))
        return emacs

    return opened_with


@pytest.fixture
def emacs(opened: Callable[[str], Terminal]) -> Terminal:
    return opened(INIT)


def command(emacs: Terminal, name: str) -> None:
    emacs.press("M-x")
    emacs.until("M-x")
    emacs.type(name)
    emacs.press("Enter")


def go_to_kernel(emacs: Terminal) -> None:
    emacs.press("C-s")
    emacs.type("blend(")
    emacs.press("Enter", "C-b", "C-b")


def ask_for_measuring(emacs: Terminal) -> None:
    """Open the code actions until measuring is among them: it is not before the devices are known."""

    def again() -> None:
        emacs.press("C-g")
        command(emacs, "eglot-code-actions")

    command(emacs, "eglot-code-actions")
    emacs.until("Measure `blend` on", nudge=again)


def answer(emacs: Terminal, title: str) -> None:
    """In place of the first answer, which eglot has filled in."""
    emacs.press("C-a", "C-k")
    emacs.type(title)
    emacs.press("Tab", "Enter")


def ask(expression: str, *files: Path) -> str:
    """What Emacs says without a terminal."""
    words = [program("emacs"), "-Q", "--batch", "-L", str(PACKAGE.parent), *map(str, files)]
    ended = subprocess.run(
        [*words, "--eval", f"(princ {expression})"], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.device
def test_hint_says_what_a_kernel_will_take_and_follows_an_edit(emacs: Terminal) -> None:
    before = PREDICTED.search(emacs.screen)
    assert before is not None
    emacs.press("C-s")
    emacs.type("n=65536")
    emacs.press("Enter")
    emacs.type("000")  # n, and with it the time, a thousand times as large
    emacs.until(lambda screen: (now := PREDICTED.search(screen)) is not None and now[0] != before[0])


@pytest.mark.device
def test_eldoc_tells_the_whole_story_in_80_columns(emacs: Terminal) -> None:
    go_to_kernel(emacs)
    emacs.until("blend will take about")  # in the echo area, by itself
    command(emacs, "eldoc-doc-buffer")
    screen = emacs.until("Hottest lines")
    rows = [line for line in screen[screen.rindex("blend will take about") :].splitlines() if line.startswith("  ")]
    assert rows
    assert not [row for row in rows if len(row) == COLUMNS and row.endswith("\\")], "a row is wrapped"


@pytest.mark.device
def test_measuring_from_the_code_actions_shows_the_measured_time_without_another_key(emacs: Terminal) -> None:
    go_to_kernel(emacs)
    ask_for_measuring(emacs)
    emacs.type("Measure `blend` on")
    emacs.press("Tab", "Enter")
    emacs.until(lambda screen: bool(MEASURED.search(screen)))


@pytest.mark.device
def test_command_measures_the_kernel_at_point(emacs: Terminal) -> None:
    command(emacs, "kernelcast-measure")
    emacs.until("No kernel that can be measured stands at point")
    go_to_kernel(emacs)
    ask_for_measuring(emacs)
    emacs.press("C-g")
    command(emacs, "kernelcast-measure")
    emacs.until(lambda screen: bool(MEASURED.search(screen)))


@pytest.mark.device
def test_measurement_can_be_cancelled_and_leaves_the_prediction(opened: Callable[[str], Terminal]) -> None:
    for_ever = "(setq-default eglot-workspace-configuration '(:kernelcast (:measure (:budgetS 50 :timeLimitS 60))))\n"
    emacs = opened(for_ever + INIT)
    go_to_kernel(emacs)
    ask_for_measuring(emacs)
    emacs.press("C-g")
    command(emacs, "kernelcast-measure")
    emacs.until("Measure `blend` on")
    command(emacs, "kernelcast-cancel")
    emacs.until("Nothing of Kernelcast’s is running", nudge=lambda: command(emacs, "kernelcast-cancel"))
    assert PREDICTED.search(emacs.screen)


@pytest.mark.device
def test_device_is_chosen_from_a_list(emacs: Terminal) -> None:
    command(emacs, "kernelcast-choose-device")
    emacs.until("Which device are predictions and measurements")
    answer(emacs, "Another")
    emacs.until("amd-instinct-mi100")
    answer(emacs, "Tesla T4")
    go_to_kernel(emacs)
    emacs.until(lambda screen: bool(re.search(r"blend will take about .* on Tesla T4", screen)))


@pytest.mark.device
def test_eldoc_follows_a_change_of_device_without_another_key(opened: Callable[[str], Terminal], folder: Path) -> None:
    asked_for = folder / "now"
    switch = (
        f'(run-with-timer 0.2 0.2 (lambda () (when (file-exists-p "{asked_for}") (delete-file "{asked_for}")'
        ' (with-current-buffer "blend.cl"'
        ' (setq-default eglot-workspace-configuration \'(:kernelcast (:device "tesla-t4")))'
        " (eglot-signal-didChangeConfiguration (eglot-current-server))))))\n"
    )
    emacs = opened(INIT + switch)
    go_to_kernel(emacs)
    emacs.until("blend will take about")
    asked_for.touch()
    emacs.until(lambda screen: bool(re.search(r"blend will take about .* on Tesla T4", screen)))


def test_lisp_of_the_same_extension_stays_lisp(tmp_path: Path) -> None:
    (tmp_path / "package.cl").write_text(";;; A system\n(defpackage :blend)\n")
    (tmp_path / "kernel.cl").write_text("// A kernel\n__kernel void f(void) {}\n")
    modes = "(mapcar (lambda (name) (with-current-buffer (find-file-noselect name) major-mode)) '({}))"
    names = " ".join(f'"{tmp_path / name}"' for name in ("package.cl", "kernel.cl", "new.cl"))
    loaded = f"(progn (require 'kernelcast) (remove-hook 'opencl-mode-hook #'eglot-ensure) {modes.format(names)})"
    assert ask(loaded) == "(lisp-mode opencl-mode opencl-mode)"


def test_qualifiers_and_vectors_are_coloured_and_indentation_is_that_of_c(folder: Path) -> None:
    faces = (
        "(progn (require 'kernelcast) (remove-hook 'opencl-mode-hook #'eglot-ensure)"
        f' (find-file "{folder / "blend.cl"}") (setq c-basic-offset 4) (font-lock-ensure)'
        ' (search-forward "__kernel") (let ((face (get-text-property (- (point) 2) \'face)) (before (buffer-string)))'
        " (c-indent-region (point-min) (point-max) t) (list face (equal before (buffer-string)))))"
    )
    assert ask(faces) == "(font-lock-keyword-face t)"


def test_package_compiles_without_a_warning(tmp_path: Path) -> None:
    copied = Path(shutil.copy(PACKAGE, tmp_path))
    compiled = f'(progn (setq byte-compile-error-on-warn t) (byte-compile-file "{copied}"))'
    assert ask(compiled).endswith("t")


def test_a_python_file_with_kernels_has_hints_on_demand(start: Callable[..., Terminal], folder: Path) -> None:
    (folder / "init.el").write_text(INIT)
    (folder / "host.py").write_text(f'SOURCE = """\n{KERNEL}"""\n')
    emacs = start(program("emacs"), "-q", "-L", str(PACKAGE.parent), "-l", str(folder / "init.el"), "host.py")
    emacs.until("SOURCE")
    command(emacs, "kernelcast-embedded")
    emacs.until(lambda screen: bool(PREDICTED.search(screen)))
