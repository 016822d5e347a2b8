"""The learned model in this very process, for commands: loaded with the first question, not before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from model.device import Device
from model.forecast import Forecast
from model.learned.learned import UnusableModel, load_model, weights_folder
from model.learned.lessons import Lessons
from model.learned.question import Answer, Question
from model.learned.threads import use_one_thread
from server.analysis.memory import Memory
from server.analysis.questions import answered, with_compiled_facts
from server.cli.streams import warn

if TYPE_CHECKING:
    from model.learned.answering import Answering


class Learned:
    """Answers, or does not where there is no model; why it cannot be used is said once.

    `memory` knows what compilers made of kernels, and what was measured on the devices: unless it is `unmeasured`,
    that corrects the answers.
    """

    def __init__(self, memory: Memory, *, unmeasured: bool = False) -> None:
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

    def answered(self, found: Sequence[tuple[Sequence[Forecast], Device]]) -> list[tuple[Forecast, ...]]:
        """Return the forecasts of each device, answered by the model where they have an input for it.

        The model is called once for all of them.
        """
        told = [[self._told(forecast, device) for forecast in forecasts] for forecasts, device in found]
        asked = [
            (each.question, device)
            for forecasts, (_, device) in zip(told, found, strict=True)
            for each in forecasts
            if each.question is not None
        ]
        answers = iter(self.ask(asked))
        return [
            tuple(answered(each, next(answers)) if each.question is not None else each for each in forecasts)
            for forecasts in told
        ]

    def _told(self, forecast: Forecast, device: Device) -> Forecast:
        if forecast.question is None or forecast.launch is None:
            return forecast
        return with_compiled_facts(forecast, self._memory.compiled(forecast.kernel, forecast.launch, device))

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
