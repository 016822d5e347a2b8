"""The log: one line for each event, with how long its stages took, and without the user's code or secrets."""

from __future__ import annotations

import json
import logging
import math
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.log.events import document_name
from server.log.lines import JsonLines, Words
from server.log.options import LogError, LogOptions, read_options
from server.log.start import start_log
from server.log.timings import KEPT, MOST_STAGES, Timings

Start = Callable[..., Any]
CODE = "__kernel void swordfish(__global float *tuna) { tuna[get_global_id(0)] = 1.0f; }\n"
BROKEN = "__kernel void swordfish(__global float *tuna) { tuna[get_global_id(0)] = halibut; }\n"
QUOTES = ("swordfish", "tuna", "halibut")


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


async def _use(editor: Any, name: str = "secret dish.cl") -> str:
    """What a user does in a minute; returns the debug information."""
    editor.open(name, CODE)
    await editor.wait_for_hint(name)
    editor.edit(name, 0, 0, "\n")
    await editor.hints(name)
    await editor.hover(name, 1, 20)
    await editor.run("kernelcast.listDevices")
    told: str = await editor.run("kernelcast.debugInformation")
    return told


@pytest.mark.e2e
@pytest.mark.asyncio
async def test_a_file_tells_what_happened_and_nothing_of_the_code(start_editor: Start, tmp_path: Path) -> None:
    log = tmp_path / "logs" / "kernelcast.jsonl"
    environment = {"KERNELCAST_LOG_FILE": str(log), "KERNELCAST_SECRET_TOKEN": "open sesame"}
    async with start_editor(environment=environment) as editor:
        information = await _use(editor)
        assert await editor.leave() == 0
    told = lines_of(log)
    events = {line["event"] for line in told}
    assert {"initialized", "analysed", "devices found"} <= events
    order = [line["event"] for line in told]
    assert order.index("analysed") < order.index("devices found")  # which would hold up the first hints
    analysed = next(line for line in told if line["event"] == "analysed" and line["kernels"] == 1)
    assert {"read", "analyse", "predict", "analysis"} <= set(analysed["ms"])
    assert analysed["document"] == document_name(editor.uri("secret dish.cl"))
    assert analysed["document"].startswith("secret dish.cl#")
    text = log.read_text("utf-8")
    assert not [word for word in (*QUOTES, "open sesame", str(tmp_path / "workspace")) if word in text]
    assert {stat.S_IMODE(each.stat().st_mode) for each in (log, log.parent)} == {0o600, 0o700}
    assert "open sesame" not in information
    for words in ("### Timings", "| analysis |", "| answer hints |", "| take in an edit |", "p95"):
        assert words in information


@pytest.mark.e2e
@pytest.mark.device
@pytest.mark.asyncio
@pytest.mark.parametrize("with_source", [False, True])
async def test_what_a_compiler_says_is_counted_and_quoted_only_when_that_is_asked_for(
    start_editor: Start, tmp_path: Path, with_source: bool
) -> None:
    log = tmp_path / "log"
    environment = {"KERNELCAST_LOG_FILE": str(log), "KERNELCAST_LOG_SOURCE": "1" if with_source else ""}
    async with start_editor(options={"trusted": True}, environment=environment) as editor:
        editor.open("k.cl", f"// kernelcast: global=64 local=64 tuna=64\n{BROKEN}")
        await editor.wait_for_hint("k.cl")
        answer = await editor.measure("k.cl", "swordfish")
        assert "halibut" in answer["error"]["message"]
        await editor.leave()
    told = lines_of(log)
    measured = next(line for line in told if line["event"] == "measured")
    assert measured["failures"]
    assert "measure: building" in measured["ms"]
    native = next(line for line in told if line["event"] == "native output")
    assert native["lines"] >= 1
    assert ("halibut" in log.read_text("utf-8")) is with_source
    assert ("text" in native) is with_source


@pytest.mark.e2e
@pytest.mark.asyncio
async def test_a_library_that_complains_of_a_message_does_not_quote_it(start_editor: Start, tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with start_editor(environment={"KERNELCAST_LOG_FILE": str(log)}) as editor:
        for params in ({"textDocument": {"text": CODE, "uri": 7}}, {"nonsense": CODE}, CODE):
            body = json.dumps({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": params}).encode()
            assert editor.server.stdin
            editor.server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        await _use(editor, "plain.cl")
        await editor.leave()
    assert any(line["logger"] == "server.client.protocol" for line in lines_of(log))
    assert not [word for word in QUOTES if word in log.read_text("utf-8")]


@pytest.mark.e2e
def test_a_log_that_cannot_be_written_is_named(kernelcast: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "somebody else's")
    os.mkfifo(tmp_path / "pipe")
    mode = Path(os.devnull).stat().st_mode
    for file in (tmp_path, tmp_path / "link", tmp_path / "pipe", Path(os.devnull)):
        ended = subprocess.run(
            [kernelcast, "serve", "--log-file", str(file)], capture_output=True, text=True, check=False, timeout=60,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert ended.returncode == 2
        assert f"the log cannot be written to {file}" in ended.stderr
        assert "Traceback" not in ended.stderr
    assert not (tmp_path / "somebody else's").exists()
    assert Path(os.devnull).stat().st_mode == mode


@pytest.fixture
def started() -> Iterator[Callable[[LogOptions], logging.Handler]]:
    """Starts the log, and puts back afterwards what pytest has."""
    root, ours = logging.getLogger(), logging.getLogger("kernelcast")
    handlers, level = list(root.handlers), ours.level

    def start(options: LogOptions) -> logging.Handler:
        start_log(options)
        return root.handlers[-1]

    yield start
    for handler in [each for each in root.handlers if each not in handlers]:
        root.removeHandler(handler)
        handler.close()
    ours.setLevel(level)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_full_disk_is_told_once_and_without_what_was_to_be_logged(
    started: Callable[[LogOptions], logging.Handler], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    handler = started(LogOptions("error", tmp_path / "log"))
    assert isinstance(handler, logging.FileHandler)
    handler.stream.close()
    handler.stream = open("/dev/full", "w", encoding="utf-8")  # noqa: SIM115
    for _ in range(3):
        handler.handle(_record("pygls", "Failed to handle %s", CODE))
    said = capsys.readouterr().err
    assert said.count("the log can no longer be written to") == 1
    assert "No space left" in said
    assert not [word for word in (*QUOTES, "Traceback") if word in said]
    handler.stream = None  # type: ignore[assignment]  # closing it would try once more


def test_the_editor_has_its_first_answer_before_the_log_is_loaded() -> None:
    probe = "import sys, server.cli.entry, server.cli.serve; print('logging' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True, timeout=60)
    assert told.stdout.strip() == "False"


def test_the_command_line_counts_before_the_environment(tmp_path: Path) -> None:
    environment = {"KERNELCAST_LOG_LEVEL": "Debug", "KERNELCAST_LOG_FILE": str(tmp_path), "KERNELCAST_LOG_SOURCE": "0"}
    assert read_options(None, None, False, environment) == LogOptions("debug", tmp_path, with_source=False)
    assert read_options("error", tmp_path / "a", True, environment) == LogOptions("error", tmp_path / "a", True)
    assert read_options(None, None, False, {}) == LogOptions()
    with pytest.raises(LogError, match="there is error, warning"):
        read_options(None, None, False, {"KERNELCAST_LOG_LEVEL": "loud"})


def _record(name: str, message: str, *arguments: object, error: BaseException | None = None) -> logging.LogRecord:
    info = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord(name, logging.ERROR, "file.py", 1, message, arguments, info)


@given(st.text(min_size=3), st.sampled_from([JsonLines, Words]))
def test_no_text_begins_a_line_of_its_own(text: str, formatter: Any) -> None:
    for record in (_record("server", text), _record("pygls", text), _record("server", "%s", text)):
        record.__dict__["facts"] = {"kernel": text, text: text}
        line = formatter(with_source=True).format(record)
        assert len(line.splitlines()) == 1
        if formatter is JsonLines:
            assert json.loads(line)[text]


def test_a_librarys_wording_is_kept_and_what_it_quotes_is_not() -> None:
    with pytest.raises(ValueError, match="swordfish") as caught:
        int(CODE)
    message, method = "Failed to handle %s: %s", "textDocument/didOpen"
    complaint = _record("pygls.protocol", message, method, CODE, error=caught.value)
    quiet, whole = (json.loads(JsonLines(with_source=each).format(complaint)) for each in (False, True))
    assert "swordfish" not in json.dumps(quiet)
    assert quiet["event"].startswith("Failed to handle")
    assert quiet["failure"] == "ValueError"
    assert any("test_log.py" in place for place in quiet["at"])
    assert "swordfish" in whole["event"]
    assert "swordfish" in whole["traceback"]


def test_a_file_that_grows_is_turned_over(
    started: Callable[[LogOptions], logging.Handler], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.log.start.MOST_BYTES", 2000)
    started(LogOptions("info", tmp_path / "log"))
    for number in range(200):
        logging.getLogger("kernelcast").info("line %d of what goes on for a while", number)
    files = sorted(tmp_path.iterdir())
    assert [each.name for each in files] == ["log", "log.1", "log.2", "log.3"]
    assert all(each.stat().st_size <= 2000 and stat.S_IMODE(each.stat().st_mode) == 0o600 for each in files)


@given(st.lists(st.floats(0, 1e4), min_size=1, max_size=KEPT))
def test_timings_are_those_that_were(seconds: list[float]) -> None:
    timings = Timings()
    for each in seconds:
        timings.add("stage", each)
    (facts,) = timings.facts()
    assert facts.count == len(seconds)
    assert math.isclose(facts.max_ms, max(seconds) * 1000)
    assert sum(each * 1000 <= facts.p50_ms for each in seconds) * 2 >= len(seconds)
    assert sum(each * 1000 <= facts.p95_ms for each in seconds) * 20 >= len(seconds) * 19
    assert facts.p50_ms <= facts.p95_ms <= facts.max_ms


def test_timings_take_no_more_memory_however_long_a_server_lives() -> None:
    timings = Timings()
    threads = [threading.Thread(target=lambda: [timings.add("busy", 0.001) for _ in range(5000)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(10 * MOST_STAGES):
        timings.add(f"stage {number}", 1.0)
    assert timings.facts()[0].count == 20_000
    assert len(timings.facts()) == MOST_STAGES
    assert len(timings._stages["busy"].last_s) == KEPT
