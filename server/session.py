"""The server's state: open documents, what is known of each, and the two threads that find out more.

Everything here happens on the event loop. Requests take an immutable `Snapshot`; only this file puts one together.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from functools import partial
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache
from lsprotocol import types
from pygls.lsp.server import LanguageServer

from model.samples import Samples
from model.version import VERSION
from server.analysis.keep_last_prediction import carry_over, hold_answers
from server.analysis.request import AnalysisRequest, unsampled_in_order
from server.analysis.scheduler import Scheduler
from server.client.capabilities import Supports
from server.client.protocol import KernelcastProtocol, strict_converter
from server.client.refresh import HintRefresh, LensRefresh
from server.client.settings import ScopedSettings, Settings
from server.client.status import METHOD as STATUS
from server.client.status import Activities, ServerFacts, Status, StatusNotifier, status_of
from server.client.trust import Trust, reach_of
from server.compared_devices import ComparedDevices, tell_unknown
from server.device_work.compile_queue import CompileQueue
from server.device_work.jobs import Jobs
from server.device_work.refusals import Build, Refusal, Refusals
from server.documents import Document
from server.features.diagnostics import PublishedDiagnostics, config_diagnostics, diagnostics
from server.features.inlay_hints import shown_labels
from server.known_fixes import KnownFixes
from server.launch_view import Failure, Slot
from server.log.timings import Timings
from server.predictor.client import ModelClient
from server.predictor.messages import RunItems
from server.predictor.sampling import Sampling
from server.prefilter import may_contain_kernel
from server.session_measurements import SavedVersions, SessionMeasurements
from server.snapshot import Analysis, Snapshot, Views
from server.text.escaping import message as as_message

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable

    from model.compiled import CompiledFacts, FactsKey
    from model.device import Device
    from model.opencl.include_policy import Reach
    from profiler.measurement import Measurement
    from server.analysis.sources import MeasuredLaunch

SETTLE_S = 30.0  # for an analysis that is under way when a command comes
_COMPLAINTS_KEPT = 500


class KernelcastServer(LanguageServer):
    """pygls' server with what it knows."""

    protocol: KernelcastProtocol

    def __init__(self, notebooks: types.NotebookDocumentSyncOptions | None = None) -> None:
        super().__init__(
            "kernelcast", VERSION, notebook_document_sync=notebooks, protocol_cls=KernelcastProtocol,
            converter_factory=strict_converter,
        )  # fmt: skip
        self.protocol.on_command = self.wake
        self.supports = Supports()
        self.client_name = ""
        self.seen_editor: int | None = None  # its process, if it was there when it was greeted
        self.encoding: types.PositionEncodingKind | str = types.PositionEncodingKind.Utf16
        self.settings = ScopedSettings()
        self.setting_problems: tuple[str, ...] = ()
        self.trust = Trust.UNSAID
        self.chosen_device = ""  # by command, for this session
        self.found_devices: tuple[Device, ...] = ()
        self.needed = asyncio.Event()  # what takes time to load: the engine, the devices, the learned model
        self.needed_s = 0.0  # since when
        self.discovered = asyncio.Event()
        self.no_devices_because = ""
        self.leaving = asyncio.Event()
        self.timings = Timings()
        self.sampling = Sampling(Samples(), self.hear_of_answers, self.timings)
        self.scheduler = Scheduler(self.accept, self.report_broken, self.timings, self.sampling.samples)
        self.learned = ModelClient(self.hear_of_answers, self.timings)
        self.fixes = KnownFixes(self.learned)
        self.jobs = Jobs()
        self.status_notifier = StatusNotifier(self._status, self._tell_status)
        self.activities = Activities(self.status_notifier.look_again)
        self.refresh, self.lens_refresh = HintRefresh(self), LensRefresh(self)
        self.tasks: set[asyncio.Task[Any]] = set()
        self.measured = SessionMeasurements()
        self.compiles = CompileQueue(self.jobs, self.learn, self.spawn, self.leaving)
        self.refusals = Refusals()
        self.saved = SavedVersions()
        self.background_compile: Callable[[Analysis], None] | None = None  # of what nobody asked to compile
        self._documents: dict[str, Document] = {}
        self._analyses: dict[str, Analysis] = {}
        self._views: dict[str, Views] = {}
        self.windows: dict[str, tuple[int, int]] = {}  # the lines that hints were last asked for
        self._requested: dict[str, int] = {}
        self.compared = ComparedDevices(self, self._requested)
        self._numbers = count(1)
        self._store_news = 0
        self._waiters: dict[str, list[asyncio.Future[None]]] = {}
        self._diagnostics = PublishedDiagnostics(self)
        self._complaints: LRUCache[str, None] = LRUCache(_COMPLAINTS_KEPT)
        self.last_shown = ""  # the document whose analysis came in last

    # Documents

    def document(self, uri: str) -> Document | None:
        return self._documents.get(uri)

    @property
    def documents(self) -> tuple[Document, ...]:
        return tuple(self._documents.values())

    @property
    def device(self) -> Device | None:
        """Return the device that predictions were last made for."""
        analysis = self._analyses.get(self.last_shown)
        return analysis.device if analysis else None

    @property
    def trusted(self) -> bool:
        """Whether kernels may be run when the user asks for it."""
        return self.trust is not Trust.REFUSED

    def put(self, document: Document) -> None:
        """Take in a document that was opened or changed: analyse it if it can hold a kernel."""
        self._documents[document.uri] = document
        if self._is_worth_it(document):
            self._request_analysis(document)

    def drop(self, uri: str) -> None:
        """Drop a document that was closed; its measurements are in the store."""
        if uri in self._requested:
            self.scheduler.forget(uri)
        for kept in (self._documents, self._analyses, self._views, self._requested, self.windows):
            kept.pop(uri, None)
        for forget in (
            self.measured.forget, self.saved.forget, self.refusals.forget, self.compared.forget, self.learned.forget,
            self.sampling.forget, self.refresh.forget, self.lens_refresh.forget, self.status_notifier.forget,
        ):  # fmt: skip
            forget(uri)
        self.compiles.keep_only(uri, ())
        self._diagnostics.publish(uri, None, [])
        self._wake(uri)

    def analyse_all(self) -> None:
        """Analyse all documents anew: settings, the device or a configuration file have changed."""
        for document in self._documents.values():
            if self._is_worth_it(document):
                self._request_analysis(document)

    def read_store_anew(self) -> None:
        """Analyse all documents anew with what the store holds now."""
        self._store_news += 1
        self.analyse_all()

    def wake(self) -> None:
        """Load what commands need, and analyse every document."""
        self._need()
        for document in self._documents.values():
            if document.uri not in self._requested:
                self._request_analysis(document)

    def awaits(self, uri: str) -> bool:
        """Return whether an analysis of it was ordered; one that can hold no kernel has none."""
        return uri in self._requested

    def _is_worth_it(self, document: Document) -> bool:
        if document.uri in self._requested:
            return True
        return may_contain_kernel(document, self.settings_of(document).options, self._reach_of(document))

    def _reach_of(self, document: Document) -> Reach | None:
        return reach_of(self.trust, document.path, self.folders, self.settings.everywhere)

    def _need(self) -> None:
        if not self.needed.is_set():
            self.needed_s = time.monotonic()
            self.needed.set()

    def _request_analysis(self, document: Document) -> None:
        self._need()
        number = self._requested[document.uri] = next(self._numbers)
        settings = self.settings_of(document)
        self.scheduler.submit(
            AnalysisRequest(
                number, document, settings, self.chosen_device, self.found_devices, self.measured.runs,
                self.measured.all_compiled(), self.learned, self._reach_of(document), self._store_news,
                partial(self.windows.get, document.uri),
            )
        )  # fmt: skip

    def settings_of(self, document: Document) -> Settings:
        return self.settings.of(document.uri, document.path, self.folders)

    @property
    def folders(self) -> list[str]:
        """Return the URIs of the workspace's folders; old clients have one at most."""
        named = [folder.uri for folder in self.workspace.folders.values()]
        return named or ([self.workspace.root_uri] if self.workspace.root_uri else [])

    # Answers

    def snapshot(self, uri: str) -> Snapshot | None:
        """Return what is known now, None before the first analysis."""
        document, analysis = self._documents.get(uri), self._analyses.get(uri)
        if document is None or analysis is None:
            return None
        device_id = analysis.device.id
        return Snapshot(
            document, analysis, self.settings_of(document), self.encoding, self.trusted,
            self.measured.measurements(uri, device_id), self.measured.failures(uri, device_id),
            self.measured.compiled(device_id), self._views.setdefault(uri, Views()), self.refusals.of(uri, device_id),
            self.compared.rows(uri),
        )  # fmt: skip

    async def settled(
        self, uri: str, timeout_s: float, *, answered: bool = False, any_kernels: bool = False
    ) -> Snapshot | None:
        """Return the snapshot of the newest text and settings if it comes in time, else the present one.

        With `answered` the learned model's answers are waited for, too, as far as they are to be expected, and what
        running some work-items tells. With `any_kernels` those that are shown first are enough.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s

        def is_enough() -> bool:
            return self._is_current(uri, answered=answered) or (any_kernels and uri in self._analyses)

        while uri in self._documents and not is_enough() and loop.time() < deadline:
            waiter: asyncio.Future[None] = loop.create_future()
            self._waiters.setdefault(uri, []).append(waiter)
            await asyncio.wait([waiter], timeout=deadline - loop.time())
        return self.snapshot(uri)

    def _is_current(self, uri: str, *, answered: bool) -> bool:
        if uri not in self._requested:
            return True
        analysis = self._analyses.get(uri)
        if analysis is None or analysis.number != self._requested[uri] or analysis.is_partial:
            return False
        waits = analysis.unanswered, analysis.unanswered_versions, analysis.unsampled, analysis.unsampled_runs
        return not (answered and any(waits))

    def _wake(self, uri: str) -> None:
        for waiter in self._waiters.pop(uri, ()):
            if not waiter.done():
                waiter.set_result(None)

    # What the threads find

    def accept(self, analysis: Analysis) -> None:
        """Take in a new analysis, unless its document was closed or opened anew meanwhile."""
        uri = analysis.document.uri
        document = self._documents.get(uri)
        if document is None or analysis.document.opening != document.opening:
            return
        before = self._analyses.get(uri)
        self._analyses[uri] = hold_answers(before, carry_over(before, analysis))
        self.refusals.follow(document)
        self._documents[uri] = document.without_edits_until(analysis.document.serial)
        if questions := (*analysis.unanswered.values(), *chain.from_iterable(analysis.unanswered_versions.values())):
            self.learned.ask(uri, questions, analysis.lessons)
        if unsampled := unsampled_in_order(analysis, partial(self.windows.get, uri)):
            text, path, reach = analysis.document.text.value, analysis.document.path, analysis.reach
            wanted = {u.key: RunItems(u.text or text, path, reach, u.kernel, u.launch) for u in unsampled}
            self.sampling.ask(uri, wanted)
        self.last_shown = uri
        self.measured.take_stored(analysis)
        self._wake(uri)
        if analysis.memory_problem:
            self.say_once(types.MessageType.Warning, analysis.memory_problem)
        if self.discovered.is_set():
            tell_unknown(self, analysis)
        self.show(uri)
        self._publish_config(analysis)
        self.compared.follow(analysis)
        if self.background_compile is not None and not analysis.is_partial:
            self.background_compile(analysis)

    def record(self, uri: str, device_id: str, slot: Slot, outcome: Measurement | Failure) -> None:
        """Keep the outcome of a measurement, success or failure."""
        if uri not in self._documents:
            return  # closed meanwhile
        self.measured.record(uri, device_id, slot, outcome)
        self.show(uri)

    def remember(self, runs: Iterable[MeasuredLaunch]) -> None:
        """Add measurements, through which other launches of these kernels are predicted from now on."""
        self.measured.add_runs(runs)
        self.analyse_all()

    def learn(self, device_id: str, facts: Mapping[FactsKey, CompiledFacts]) -> None:
        """Take in what a device's compiler made of kernels, for hovers and for predictions.

        It changes predictions by the learned model, and those for GPUs.
        """
        self.measured.learn(device_id, facts)
        if self.learned.is_there or any(each.registers is not None for each in facts.values()):
            self.analyse_all()

    def refuse(self, uri: str, build: Build, found: tuple[Refusal, ...]) -> None:
        """Show where the compiler for the chosen device refuses a build of a document; nowhere if it compiles."""
        if self.refusals.put(uri, build, found):
            self.show(uri)

    def forget_refusals(self, uri: str) -> None:
        """Drop all refusals of a document that is compiled no more."""
        if self.refusals.forget(uri):
            self.show(uri)

    def hear_of_answers(self, uri: str) -> None:
        """Use the learned model's new answers for this document; an empty `uri`: it answers no more."""
        document = self._documents.get(uri)
        if document is not None:
            self._request_analysis(document)
        elif not uri:
            self.analyse_all()
            self.status_notifier.look_again()

    def show(self, uri: str) -> None:
        """Tell the client of hints, lenses, diagnostics and status that have changed."""
        if (snapshot := self.snapshot(uri)) is not None:
            self.refresh.offer(uri, shown_labels(snapshot))
            self.lens_refresh.offer(uri, shown=snapshot.settings.code_lens, runs=snapshot.may_run)
            self._diagnostics.publish(uri, snapshot.document.version, diagnostics(snapshot))
            self.status_notifier.shown_anew(uri)

    def _status(self, uri: str) -> Status | None:
        snapshot = self.snapshot(uri)
        if snapshot is None or not self.supports.status:
            return None
        if snapshot.analysis.found != self.found_devices:
            return None  # the next analysis knows of them; until then it would complain of devices not found yet
        facts = ServerFacts(
            self.found_devices, self.discovered.is_set(), self.no_devices_because, self.activities.foremost,
            self.setting_problems, self.learned.problem,
        )  # fmt: skip
        return status_of(snapshot, facts)

    def _tell_status(self, told: dict[str, Any]) -> None:
        self.protocol.notify(STATUS, told)

    def _publish_config(self, analysis: Analysis) -> None:
        if analysis.config_path is not None:
            found = config_diagnostics(analysis, knows_devices=self.discovered.is_set())
            self._diagnostics.publish(analysis.config_path.as_uri(), None, found)

    # Words to the user

    def say(self, kind: types.MessageType, message: str) -> None:
        self.window_show_message(types.ShowMessageParams(type=kind, message=as_message(message)))

    def say_once(self, kind: types.MessageType, message: str) -> None:
        """Say something once that would otherwise be said at every keystroke."""
        if message not in self._complaints:
            self._complaints[message] = None
            self.say(kind, message)

    def report_broken(self, uri: str, reason: str) -> None:
        """Report an analysis that failed by a fault of ours."""
        self._wake(uri)
        name = uri.rpartition("/")[2] or "anything"
        self.say_once(
            types.MessageType.Error,
            f"Kernelcast could not analyse {name} ({reason}). This is a fault of Kernelcast; its log has the details.",
        )

    def spawn(self, work: Coroutine[Any, Any, object]) -> None:
        """Run a coroutine beside the handlers, and keep it from being forgotten halfway."""
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def close(self) -> None:
        """End what runs in the background. Called once, when the connection is over."""
        self.scheduler.stop()
        self.learned.stop()
        self.sampling.stop()
        self.jobs.close()
