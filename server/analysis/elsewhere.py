"""A forecast's kernel under other launches and on other devices, predicted as a request about them would be.

What a report shows of other sizes and devices is what `kernelcast predict` and the editor say of them: analytically, by
the learned model where it covers the device, by what was measured of other kernels there, and through what was measured
of the kernel on that device.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from model.compiled import CompiledFacts
from model.device import Device
from model.engine import CodeOf, not_compiled
from model.forecast import Forecast
from model.launch.launch import Launch
from model.learned.asking import covers, no_lessons, question_of
from model.measured import Fits
from model.opencl.kernel import Kernel
from model.prediction import Prediction
from model.predictor import Predictor
from server.analysis.fits import Run, samples_of
from server.analysis.questions import Ask, answered, with_compiled_facts

At = tuple[Launch, Device]


def _nothing_measured(_fingerprint: str, _device_id: str) -> Sequence[Run]:
    return ()


def _nothing_compiled(_kernel: Kernel, _launch: Launch, _device: Device) -> CompiledFacts | None:
    return None


@dataclass(frozen=True, slots=True)
class Sources:
    """What is known beside the source text. `ask` is the learned model, None where it is not to be asked."""

    ask: Ask | None = None
    runs_of: Callable[[str, str], Sequence[Run]] = _nothing_measured  # by the kernel's fingerprint and the device's id
    compiled_of: Callable[[Kernel, Launch, Device], CompiledFacts | None] = _nothing_compiled
    code_of: CodeOf = not_compiled  # of GPUs
    is_taught: Callable[[Device], bool] = no_lessons


class Elsewhere:
    """Not for two threads at once."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._predictor = Predictor()
        self._fits = Fits()

    def predicted(
        self, forecast: Forecast, device: Device, wanted: Sequence[At], runs: Sequence[Run] = ()
    ) -> list[Prediction]:
        """In the order of `wanted`; the learned model is asked of all at once.

        `device` is the forecast's own, `runs` what was measured of its kernel beside what the sources know. As
        `kernelcast predict` does, a launch that was measured itself is predicted through that, too.
        """
        made = [
            forecast if self._is_own(forecast, device, each) else self._by_the_laws(forecast, *each) for each in wanted
        ]
        devices = [where for _, where in wanted]
        made = self._by_the_model(forecast, made, devices)
        known = {f.launch.key: f.launch for f in (forecast, *made) if f.launch is not None}
        return [
            self._through_measurements(each, where, runs, known)
            for each, where in zip(made, devices, strict=True)
            if each.prediction is not None
        ]

    def _is_own(self, forecast: Forecast, device: Device, at: At) -> bool:
        return forecast.prediction is not None and at[0] == forecast.launch and at[1].id == device.id

    def _by_the_laws(self, forecast: Forecast, launch: Launch, device: Device) -> Forecast:
        """With the question for the learned model where it can be asked."""
        assert forecast.work is not None
        code = self._sources.code_of(forecast.kernel, launch, device)
        prediction = self._predictor.predict(forecast.work, launch, device, code)
        question = None
        if self._sources.ask is not None and forecast.tokens and self._asks_of(device):
            question = question_of(
                forecast.work, prediction.work, launch, device, forecast.tokens, times=prediction.laws
            )
        return replace(forecast, launch=launch, prediction=prediction, question=question, compiled=None)

    def _asks_of(self, device: Device) -> bool:
        return covers(device) or self._sources.is_taught(device)

    def _by_the_model(self, own: Forecast, made: Sequence[Forecast], devices: Sequence[Device]) -> list[Forecast]:
        """Those that have a question, but for the forecast that all is about: it has its answer if there is one."""
        told = [
            with_compiled_facts(each, self._sources.compiled_of(each.kernel, each.launch, device))
            if each is not own and each.question is not None and each.launch is not None
            else each
            for each, device in zip(made, devices, strict=True)
        ]
        asked = [
            (each.question, device)
            for each, device in zip(told, devices, strict=True)
            if each is not own and each.question is not None
        ]
        answers = iter(self._sources.ask(asked) if self._sources.ask is not None and asked else ())
        return [
            answered(each, next(answers, None)) if each is not own and each.question is not None else each
            for each in told
        ]

    def _through_measurements(
        self, forecast: Forecast, device: Device, runs: Sequence[Run], known: Mapping[str, Launch]
    ) -> Prediction:
        prediction, launch, work, fingerprint = (
            forecast.prediction, forecast.launch, forecast.work, forecast.kernel.fingerprint
        )  # fmt: skip
        assert prediction is not None
        assert launch is not None
        assert work is not None
        own = [
            r for r in runs
            if (r.measurement.kernel_fingerprint, r.measurement.device_id) == (fingerprint, device.id)
        ]  # fmt: skip
        samples = samples_of((*own, *self._sources.runs_of(fingerprint, device.id)), launch, device, known)
        if not samples or prediction.through is not None:
            return prediction
        return self._fits.through(prediction, work, launch, device, samples)
