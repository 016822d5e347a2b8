"""Our packaged extension in VS Code's real workbench: code-server, with Chromium in front of it."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from server.text.format import format_duration_us
from tests.editors.vscode.host import CodeServer
from tests.editors.vscode.workbench import Workbench

REPOSITORY = Path(__file__).resolve().parents[3]
CACHE = REPOSITORY / ".cache" / "editors"
FAILURES = CACHE / "failures"
QUICK = {"kernelcast.measure.budgetS": 0.2, "kernelcast.measure.timeLimitS": 60}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
    # Nothing but this machine exists: no test may depend on what the network answers.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
VIEW = {"width": 1200, "height": 700}

_opened: list[Workbench] = []
ServerStart = Callable[..., CodeServer]
WindowOpen = Callable[..., Workbench]
Foretold = Callable[..., str]


@pytest.fixture(scope="session")
def code_server_files() -> ModuleType:
    """The set-up script, which knows where it has put things."""
    script = REPOSITORY / "tests" / "editors" / "setup" / "code_server.py"
    spec = importlib.util.spec_from_file_location("code_server_setup", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not module.STAMP.exists():
        pytest.fail(f"code-server is not set up: `make test-editors` does, or `python {script}`")
    return module


@pytest.fixture(scope="session")
def vsix() -> Path:
    """Our extension as users get it."""
    packed = sorted((REPOSITORY / "editors" / "vscode" / "build").glob("*.vsix"))
    if len(packed) != 1:
        pytest.fail(f"one .vsix is wanted in editors/vscode/build, not {len(packed)}: `make vsix` packs it")
    return packed[0]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.fail("no Chromium here. On Debian: sudo make screen-packages")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=[*BROWSER_FLAGS])
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def start_code_server(code_server_files: ModuleType, vsix: Path) -> Iterator[ServerStart]:
    """`start_code_server(...)`: a user with a home folder, settings and extensions of their own; ours is installed."""
    started: list[CodeServer] = []
    # Ended from outside, as by a time limit, the windows must go too.
    signal.signal(signal.SIGTERM, lambda *_: pytest.exit("ended by SIGTERM"))
    # A short path without spaces, since sockets lie below it. Folders with spaces are opened in the tests.
    base = Path(tempfile.mkdtemp(prefix="kernelcast-vscode-"))

    def start(
        *,
        environment: dict[str, str] | None = None,
        settings: dict[str, Any] | None = None,
        extensions: tuple[Path, ...] = (),
        trust_all: bool = True,
    ) -> CodeServer:
        folder = base / str(len(started))
        server = CodeServer(
            code_server_files.node(), code_server_files.ENTRY, folder, environment or {}, trust_all=trust_all
        )
        started.append(server)
        server.configure(settings)
        server.install([vsix, *extensions])
        server.start()
        return server

    yield start
    for server in started:
        server.stop()
    shutil.rmtree(base, ignore_errors=True)


@pytest.fixture(scope="session")
def ours(kernelcast: str) -> dict[str, Any]:
    """Settings of a user who has Kernelcast, and little time."""
    return {"kernelcast.server.path": kernelcast, **QUICK}


@pytest.fixture(scope="session")
def code_server(start_code_server: ServerStart, ours: dict[str, Any]) -> CodeServer:
    """The ordinary user: Kernelcast is installed and set, the embedded CPU device is there, folders are trusted."""
    return start_code_server(settings=ours)


@pytest.fixture(scope="session")
def foretold(kernelcast: str, tmp_path_factory: pytest.TempPathFactory) -> Foretold:
    """`foretold(server, text, kernel, device="")`: how the hint begins once the editor of that user has caught up.

    The command line tells. Nothing else knows the last hint from those that are passed through, of half of what is
    typed or of the device that is taken before the drivers have answered; and what bounds a kernel differs by machine.
    """
    folder = tmp_path_factory.mktemp("foretold")

    def foretell(server: CodeServer, text: str, kernel: str, device: str = "") -> str:
        file = folder / "kernel.cl"
        file.write_text(text, encoding="utf-8")
        asked = ["--kernel", kernel, "--format", "json", *(("--device", device) if device else ())]
        done = subprocess.run(
            [kernelcast, "predict", str(file), *asked],
            env=server.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        answer = json.loads(done.stdout)
        is_founded = answer["device"]["calibrated"] or answer["basis"] != "analytic"
        sign = "≈" if is_founded else "~"
        # Where room is short, the range stands between the amount and its unit.
        return f"{sign} {format_duration_us(answer['runtime_us']['p50']).split()[0]} "

    return foretell


Profile = Callable[..., BrowserContext]


@pytest.fixture(scope="session")
def profile(browser: Browser) -> Iterator[Profile]:
    """A user's browser: what a window keeps (the chosen device, trusted folders) the next window of theirs finds."""
    made: dict[tuple[CodeServer, int], BrowserContext] = {}

    def of(server: CodeServer, sharpness: int = 1) -> BrowserContext:
        if (server, sharpness) not in made:
            context = browser.new_context(viewport=VIEW, device_scale_factor=sharpness)
            context.grant_permissions(["clipboard-read", "clipboard-write"])
            made[server, sharpness] = context
        return made[server, sharpness]

    yield of
    for context in made.values():
        context.close()


@pytest.fixture(scope="session")
def _open(profile: Profile) -> WindowOpen:
    def open_window(server: CodeServer, folder: Path, sharpness: int = 1) -> Workbench:
        workbench = Workbench(profile(server, sharpness), server, folder)
        _opened.append(workbench)
        return workbench

    return open_window


@pytest.fixture(scope="module")
def open_sharp_window(_open: WindowOpen) -> Iterator[WindowOpen]:
    """`open_sharp_window(code_server, folder)`: four pixels where others have one, for pictures."""
    mine: list[Workbench] = []

    def open_one(server: CodeServer, folder: Path) -> Workbench:
        mine.append(_open(server, folder, 2))
        return mine[-1]

    yield open_one
    for workbench in mine:
        _opened.remove(workbench)
        workbench.shut()


@pytest.fixture
def open_window(_open: WindowOpen) -> Iterator[WindowOpen]:
    """`open_window(code_server, folder)`: a window that is shut after the test."""
    mine: list[Workbench] = []

    def open_one(server: CodeServer, folder: Path) -> Workbench:
        mine.append(_open(server, folder))
        return mine[-1]

    yield open_one
    for workbench in mine:
        _opened.remove(workbench)
        workbench.shut()


@pytest.fixture(scope="session")
def _shared(code_server: CodeServer, _open: WindowOpen) -> Workbench:
    folder = code_server.home / "kernels"
    folder.mkdir()
    return _open(code_server, folder)


@pytest.fixture
def workbench(_shared: Workbench) -> Iterator[Workbench]:
    """The ordinary user's window, shared by tests: each opens files of its own, and finds no others."""
    yield _shared
    _shared.close_everything()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """A failed test leaves pictures of its windows and what the extension logged, and says where."""
    report = yield
    if report.failed and _opened and "vscode" in item.path.parts:
        left = _keep(re.sub(r"\W+", "-", item.name))
        report.sections.append(("what was on the screen", "\n".join(map(str, left))))
    return report


def _keep(name: str) -> list[Path]:
    FAILURES.mkdir(parents=True, exist_ok=True)
    left = []
    for number, workbench in enumerate(_opened):
        picture = FAILURES / f"{name}-{number}.png"
        try:
            workbench.page.screenshot(path=picture, timeout=10_000)
            left.append(picture)
        except PlaywrightError:
            pass  # a window that is gone has no picture
        for log in workbench.server.logs():
            kept = FAILURES / f"{name}-{number}-{log.stem}.log"
            shutil.copy(log, kept)
            left.append(kept)
    return left


@pytest.fixture(scope="session", autouse=True)
def _no_old_failures() -> None:
    shutil.rmtree(FAILURES, ignore_errors=True)


@pytest.fixture
def no_opencl() -> dict[str, str]:
    """An environment in which no OpenCL platform can be found."""
    return {"OCL_ICD_VENDORS": "/nonexistent.icd"}


@pytest.fixture
def path_without_kernelcast() -> str:
    """A PATH as on a machine that has never heard of Kernelcast."""
    folders = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if not (Path(folder) / "kernelcast").exists())
