"""What commands predict by: the learned model in this very process, loaded with the first question, and the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from model.device import Device
from model.learned.asking import no_lessons
from model.learned.learned import UnusableModel, load_model, use_one_thread, weights_folder
from model.learned.lessons import Lessons
from model.learned.question import Answer, Question
from server.analysis.compiled_code import AllCode, GpuCode
from server.analysis.sources import Sources, no_versions, nothing_measured, nothing_recorded
from server.analysis.store_cache import StoreCache
from server.cli.output import warn

if TYPE_CHECKING:
    from model.learned.answering import Answering


def sources_of(
    memory: StoreCache, *, analytic_only: bool, ignore_measurements: bool = False, ignore_recordings: bool = False
) -> Sources:
    """Return what a command predicts by.

    With `analytic_only` the learned model is not asked; with `ignore_measurements` nothing that was measured counts,
    with `ignore_recordings` no launch that was recorded.
    """
    learned = None if analytic_only else Learned(memory, unmeasured=ignore_measurements)
    return Sources(
        ask=learned.ask if learned is not None and learned.is_there else None,
        runs_of=nothing_measured if ignore_measurements else memory.runs,
        versions_of=no_versions if ignore_measurements else memory.versions,
        compiled_of=memory.compiled,
        code_of=(AllCode(memory) if analytic_only else GpuCode(memory)).of,
        is_taught=learned.is_taught if learned is not None else no_lessons,
        recorded=nothing_recorded if ignore_recordings else memory.recorded,
    )


class Learned:
    """Answers, or does not where there is no model; why it cannot be used is said once.

    `memory` knows what was measured on the devices: unless `unmeasured`, that corrects the answers.
    """

    def __init__(self, memory: StoreCache, *, unmeasured: bool = False) -> None:
        self._memory = memory
        self._unmeasured = unmeasured
        self._answering: Answering | None = None
        self._is_loaded = False

    @property
    def is_there(self) -> bool:
        """Whether questions are worth making."""
        return weights_folder() is not None if not self._is_loaded else self._answering is not None

    def is_taught(self, device: Device) -> bool:
        """Whether something was measured there that corrects what is predicted."""
        return bool(self._lessons(device).lessons)

    def ask(self, questions: Sequence[tuple[Question, Device]]) -> Sequence[Answer | None]:
        if not questions:
            return ()
        if not self._is_loaded:
            self._load()
        if self._answering is None:
            return [None] * len(questions)
        devices = {device.id: device for _, device in questions}
        lessons = {each: self._lessons(device) for each, device in devices.items()}
        return self._answering.answer([question for question, _ in questions], lessons)

    def _load(self) -> None:
        use_one_thread()
        from model.learned.answering import Answering  # noqa: PLC0415 - not for those who have no model

        self._is_loaded = True
        try:
            model = load_model()
        except UnusableModel as error:
            warn(f"{error.message}; predictions come from the analytical model alone")
        else:
            self._answering = Answering(model) if model is not None else None

    def _lessons(self, device: Device) -> Lessons:
        return Lessons() if self._unmeasured else self._memory.lessons(device)
