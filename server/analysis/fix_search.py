"""Fixes of an open document's kernel, also inside a host file. Lives in a background thread: it loads the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from model.advice.fixes.fix import Fix, TextEdit, apply_edits
from model.device import Device
from model.embedded.find import find_programs
from model.embedded.languages import Language, language_of
from model.embedded.program import EmbeddedProgram
from model.embedded.writing import edited_host
from model.errors import ConfigError
from model.forecast import Home
from model.launch.config import Config
from model.learned.learned import weights_folder
from model.learned.lessons import Lessons
from model.learned.question import Answer, Question
from server.analysis.configurations import Configurations
from server.analysis.fix_gains import FileContext, FixPredictor, PredictedFix
from server.analysis.sources import Sources
from server.analysis.store_cache import StoreCache
from server.launch_view import LaunchView
from server.snapshot import Snapshot

Now = Callable[[Sequence[Question], Mapping[str, Lessons]], Sequence[Answer | None]]  # the learned model's answers


class FixSearch:
    """Owns the engine that predicts edited texts. Not for two threads at once."""

    def __init__(self, now: Now) -> None:
        self._now = now
        self._lessons: Mapping[str, Lessons] = {}
        self._memory = StoreCache()
        self._configurations = Configurations()
        ask = self._ask if weights_folder() is not None else None
        self._predictor = FixPredictor(Sources(ask, is_taught=self._memory.is_taught))

    def fixes(self, snapshot: Snapshot, view: LaunchView) -> tuple[PredictedFix, ...]:
        """Return the fixes worth showing for one launch, the most useful first. The snapshot must be current."""
        forecast, document, analysis = view.forecast, snapshot.document, snapshot.analysis
        if forecast.launch is None:
            return ()
        self._lessons = analysis.lessons
        config = self._config(snapshot)
        home, name, host = forecast.home, forecast.kernel.name, document.text.value
        if home is not None:
            name = home.kernel.name
        context = FileContext(
            host if home is None else home.text, document.path, analysis.device, config, snapshot.settings.options,
            reach=analysis.reach, recorded=partial(self._memory.recorded, document.path),
        )  # fmt: skip
        ignored = {*snapshot.settings.advice_ignored, *(config.advice_ignored if config else ())}
        found = self._predictor.fixes(context, name, forecast.launch, ignored)
        if home is None:
            return found
        program, language = analysis.programs.get(home.part), language_of(document.path, host, document.language)
        if program is None or language is None:
            return ()
        return tuple(in_host(found, home, program, host, language))

    def _config(self, snapshot: Snapshot) -> Config | None:
        path, problem = snapshot.analysis.config_path, snapshot.analysis.config_problem
        if path is None or problem is not None:
            return None
        try:
            return self._configurations.read(path)
        except ConfigError:  # changed this very moment; the next analysis says so
            return None

    def _ask(self, questions: Sequence[tuple[Question, Device]]) -> Sequence[Answer | None]:
        return self._now([question for question, _ in questions], self._lessons)


def in_host(
    fixes: Sequence[PredictedFix], home: Home, program: EmbeddedProgram, host: str, language: Language
) -> Iterator[PredictedFix]:
    """Yield the fixes of a program's kernel as edits of its host file.

    Only those of which each edit is written one to one, and after which the host holds just the edited program.
    """
    if program.text != home.text:
        return
    for each in fixes:
        edits = edited_host(program, host, [_in_characters(edit, program.text) for edit in each.fix.edits])
        if edits is None:
            continue
        fix = _in_bytes(each.fix, edits, host)
        text = apply_edits(host, fix.edits)
        if any(found.text == each.text for found in find_programs(text, language)):
            line = home.line(home.kernel.name_range.start_line + 1)
            yield replace(each, fix=fix, text=text, sources=(home.text, each.text), host_line=line)


def _in_characters(edit: TextEdit, text: str) -> tuple[int, int, str]:
    if text.isascii():
        return edit.start, edit.end, edit.text
    data = text.encode("utf-8", "surrogatepass")
    start, end = (len(data[:at].decode("utf-8", "surrogatepass")) for at in (edit.start, edit.end))
    return start, end, edit.text


def _in_bytes(fix: Fix, edits: Sequence[tuple[int, int, str]], host: str) -> Fix:
    def byte(at: int) -> int:
        return len(host[:at].encode("utf-8", "surrogatepass"))

    return replace(fix, edits=tuple(TextEdit(byte(start), byte(end), text) for start, end, text in edits))
