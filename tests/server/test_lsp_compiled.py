"""What a compiler made of a kernel stands in its hover, and is asked for only when nobody waits for the device."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from lsprotocol import types

from model.compiled import CodeSource, CompiledCall, CompiledFacts, FactsKey, key_of
from model.device import DeviceType
from model.errors import KernelcastError
from model.launch.launch import Launch
from model.opencl.kernel import Kernel, KernelAttributes, SourceRange
from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from profiler.compiling import CompileRequest
from profiler.measurement import BuildFailed, Cancelled, KernelCrashed
from profiler.offline.diagnostics import Diagnostic
from server.client.settings import Settings
from server.client.trust import Trust
from server.device_work import compile_queue
from server.device_work.background_compiles import _without_others, compile_later
from server.device_work.compile_queue import Compile, CompileQueue, Outcomes
from server.device_work.jobs import Jobs
from server.device_work.refusals import Refusals, refusals_in
from server.documents import Document, changed
from server.features.requests import hover_of
from server.positions import IndexedText
from server.snapshot import Analysis, Snapshot
from server.text.compiled import in_short

FACTS = CompiledFacts(
    "blur", "print", "", (64,), "pocl", "A CPU", "3.0", "2026-11-22T00:00:00+00:00", CodeSource.ASSEMBLY,
    private_mem_bytes=1024, vector_width_bits=256, vector_registers=32, float_vector_share=1.0, spill_bytes=0,
    spill_loads=0, spill_stores=0,
)  # fmt: skip
NOWHERE = SourceRange(0, 0, 0, 0)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (FACTS, "256-bit vectors, 32 vector registers, no spills"),
        (replace(FACTS, vector_width_bits=0, vector_registers=2), "not vectorised, 2 vector registers, no spills"),
        (
            replace(FACTS, float_vector_share=0.5, spill_bytes=64),
            "256-bit vectors (50 % of the arithmetic), 32 vector registers, spills of 64 B",
        ),
        (
            replace(FACTS, calls=(CompiledCall("sin", 1, 2), CompiledCall("pow", 8, 1))),
            "256-bit vectors, 32 vector registers, no spills, calls sin, pow of 8",
        ),
        (
            CompiledFacts("k", "p", "", None, "g", "A GPU", "5", "", CodeSource.PTX, registers=40, spill_bytes=12),
            "40 registers, spills of 12 B",
        ),
        (CompiledFacts("k", "p", "", None, "g", "A GPU", "5", "", private_mem_bytes=64), ""),
    ],
)
def test_facts_are_told_in_a_few_words(facts: CompiledFacts, words: str) -> None:
    assert in_short(facts) == words


def told(snapshot: Snapshot) -> str:
    answer = hover_of(snapshot, types.Position(1, 16), (types.MarkupKind.Markdown,))
    assert answer is not None
    assert isinstance(answer.contents, types.MarkupContent)
    return answer.contents.value


def test_the_hover_has_them_whether_learned_now_or_before(snapshot_of: Callable[..., Snapshot]) -> None:
    plain = snapshot_of()
    (forecast,) = plain.analysis.forecast.forecasts
    assert forecast.launch is not None
    known = {key_of(forecast.kernel, forecast.launch, plain.device.id): FACTS}
    words = "256-bit vectors, 32 vector registers, no spills"
    assert "Compiled" not in told(plain)
    assert words in told(snapshot_of(compiled=known))
    assert words in told(replace(plain, analysis=replace(plain.analysis, compiled=known)))
    assert "Compiled" not in told(snapshot_of(compiled={FactsKey("of another kernel", "", (64,)): FACTS}))


def test_the_hover_has_the_occupancy_of_a_gpu_that_is_not_here(snapshot_of: Callable[..., Snapshot]) -> None:
    plain = snapshot_of()
    (forecast,) = plain.analysis.forecast.forecasts
    assert forecast.launch is not None
    made = replace(
        FACTS, device_id="sm_80", source=CodeSource.PTX, registers=40, vector_width_bits=None, vector_registers=None,
        private_mem_bytes=0, local_mem_bytes=0,
    )  # fmt: skip
    known = {key_of(forecast.kernel, forecast.launch, plain.device.id): made}
    assert re.search(r"40 registers, occupancy \d+ % \([a-z -]+\), no spills", told(snapshot_of(compiled=known)))


def request_of(name: str, device_id: str = "pocl") -> CompileRequest:
    kernel = Kernel(name, (), KernelAttributes(), NOWHERE, NOWHERE, NOWHERE, f"print of {name}")
    return CompileRequest("source", None, kernel, Launch((64,), (64,), (), ()), device_id)


def compiled(requests: Sequence[CompileRequest], _cancel: threading.Event) -> dict[FactsKey, CompiledFacts]:
    return {key_of(r.kernel, r.launch, r.device_id): replace(FACTS, kernel=r.kernel.name) for r in requests}


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    made = Jobs()
    yield made
    made.close()


class Bench:
    """`CompileQueue` with all that it needs, and what it learned."""

    def __init__(self, jobs: Jobs) -> None:
        self.learned: dict[FactsKey, CompiledFacts] = {}
        self.tasks: list[asyncio.Task[Any]] = []
        self.leaving = asyncio.Event()
        self.later = CompileQueue(jobs, lambda _, facts: self.learned.update(facts), self._spawn, self.leaving)

    def _spawn(self, work: Coroutine[Any, Any, object]) -> None:
        self.tasks.append(asyncio.ensure_future(work))

    async def done(self) -> set[str]:
        await asyncio.wait_for(asyncio.gather(*self.tasks), 30)
        return {facts.kernel for facts in self.learned.values()}


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_queue, "QUIET_S", 0.0)


@pytest.mark.asyncio
@pytest.mark.usefixtures("no_pause")
async def test_measured_kernels_are_compiled_once(jobs: Jobs) -> None:
    bench = Bench(jobs)
    calls: list[int] = []

    def work(requests: Sequence[CompileRequest], cancel: threading.Event) -> dict[FactsKey, CompiledFacts]:
        calls.append(len(requests))
        return compiled(requests, cancel)

    bench.later.want([request_of("a"), request_of("b")], work)
    assert await bench.done() == {"a", "b"}
    bench.later.want([request_of("a")], work)
    assert await bench.done() == {"a", "b"}
    assert calls == [2]


@pytest.mark.asyncio
@pytest.mark.usefixtures("no_pause")
async def test_each_device_is_asked_by_its_own_driver(jobs: Jobs) -> None:
    """The second one is measured on while the first one's kernels still wait."""
    bench = Bench(jobs)
    asked: list[tuple[str, set[str]]] = []

    def work_of(driver: str) -> Compile:
        def work(requests: Sequence[CompileRequest], cancel: threading.Event) -> dict[FactsKey, CompiledFacts]:
            asked.append((driver, {request.device_id for request in requests}))
            return compiled(requests, cancel)

        return work

    bench.later.want([request_of("a")], work_of("of PoCL"))
    bench.later.want([request_of("b", "intel")], work_of("of Intel"))
    assert await bench.done() == {"a", "b"}
    assert asked == [("of PoCL", {"pocl"}), ("of Intel", {"intel"})]


@pytest.mark.asyncio
@pytest.mark.usefixtures("no_pause")
async def test_a_compiler_that_fails_is_not_asked_again_and_bothers_nobody(jobs: Jobs) -> None:
    bench = Bench(jobs)
    calls: list[int] = []

    def work(requests: Sequence[CompileRequest], _cancel: threading.Event) -> dict[FactsKey, CompiledFacts]:
        calls.append(len(requests))
        raise KernelcastError("the compiler crashed")

    bench.later.want([request_of("a")], work)
    assert await bench.done() == set()
    bench.later.want([request_of("a")], work)
    await bench.done()
    assert calls == [1]


@pytest.mark.asyncio
@pytest.mark.usefixtures("no_pause")
async def test_a_measurement_takes_the_device_and_the_compiler_waits_again(jobs: Jobs) -> None:
    bench = Bench(jobs)
    begun, gave_way = threading.Event(), threading.Event()

    def work(requests: Sequence[CompileRequest], cancel: threading.Event) -> dict[FactsKey, CompiledFacts]:
        if not gave_way.is_set():
            begun.set()
            assert cancel.wait(30)
            gave_way.set()
            raise Cancelled("given up")
        return compiled(requests, cancel)

    bench.later.want([request_of("a")], work)
    await asyncio.to_thread(begun.wait, 30)
    assert await jobs.run(lambda _tell, _cancel: "measured", lambda *_: None, threading.Event()) == "measured"
    assert gave_way.is_set()
    assert await bench.done() == {"a"}


@pytest.mark.asyncio
async def test_whoever_leaves_waits_for_no_compiler(jobs: Jobs) -> None:
    bench = Bench(jobs)
    bench.later.want([request_of("a")], compiled)
    bench.leaving.set()
    assert await bench.done() == set()


@pytest.mark.asyncio
@pytest.mark.usefixtures("no_pause")
@pytest.mark.parametrize("is_raised", [True, False])
async def test_a_build_that_fails_is_reported_again_when_it_comes_back_and_not_compiled_again(
    jobs: Jobs, *, is_raised: bool
) -> None:
    bench = Bench(jobs)
    heard: list[list[str]] = []
    calls: list[str] = []
    broken, mended = request_of("a"), replace(request_of("a"), source="mended")

    def work(requests: Sequence[CompileRequest], cancel: threading.Event) -> Outcomes:
        calls.append(requests[0].source)
        if requests[0].source != broken.source:
            return compiled(requests, cancel)
        error = BuildFailed("line 3: no such name")
        if is_raised:
            raise error
        return dict.fromkeys(compiled(requests, cancel), error)

    for request in (broken, broken, mended, mended):
        bench.later.want([request], work, lambda failures: heard.append([each.message for each in failures.values()]))
        await bench.done()
    assert heard == [["line 3: no such name"], ["line 3: no such name"], [], []]
    assert calls == [broken.source, mended.source]


@pytest.mark.asyncio
@pytest.mark.usefixtures("no_pause")
async def test_a_kernel_that_its_compiler_does_not_survive_waits_for_another_text_of_its_own(jobs: Jobs) -> None:
    bench = Bench(jobs)
    heard: list[set[str]] = []
    tried: list[str] = []

    def work(requests: Sequence[CompileRequest], cancel: threading.Event) -> Outcomes:
        tried.extend(each.kernel.name for each in requests)
        found = compiled(requests, cancel)
        return {key: KernelCrashed("crashed") if facts.kernel == "bad" else facts for key, facts in found.items()}

    for source in ("before", "after", "mended"):
        requests = [replace(request_of(name), source=source) for name in ("bad", "good")]
        bench.later.want(
            requests,
            work,
            lambda failures: heard.append({key.kernel_fingerprint for key in failures}),
            text_of=lambda request: "other" if request.source == "mended" else "own",
        )
        assert await bench.done() == {"good"}
    assert tried == ["bad", "good", "bad"]  # after another change of the text not, after one of its own
    assert heard == [{"print of bad"}] * 3


def test_a_kernels_own_text_is_all_but_the_other_kernels() -> None:
    def own(text: str) -> list[str]:
        kernels = read_program(text).kernels
        return [_without_others(kernels, replace(request_of("a"), source=text, kernel=each)) for each in kernels]

    first, second = own("#pragma one\nkernel void a() {\n}\n\nkernel void b() {\n}\n")
    assert first == "#pragma one\nkernel void a() {\n}"
    assert second == "#pragma one\nkernel void b() {\n}"
    assert own("#pragma one\n\nkernel void a() {\n}\nkernel void b() {\n  int i;\n}\n")[0] == first


@pytest.mark.asyncio
@pytest.mark.usefixtures("no_pause")
async def test_what_is_compiled_of_an_older_text_is_given_up_and_nothing_else(jobs: Jobs) -> None:
    bench = Bench(jobs)
    begun, given_up = threading.Event(), threading.Event()
    finished: list[str] = []

    def work(requests: Sequence[CompileRequest], cancel: threading.Event) -> Outcomes:
        if requests[0].source == "old":
            begun.set()
            assert cancel.wait(30)
            given_up.set()
            raise Cancelled("given up")
        finished.extend(each.kernel.name for each in requests)
        return compiled(requests, cancel)

    old, new = (replace(request_of("a"), source=source) for source in ("old", "new"))
    bench.later.want([old], work, owner="a.cl")
    bench.later.want([request_of("b")], work, owner="b.cl")
    await asyncio.to_thread(begun.wait, 30)
    bench.later.keep_only("a.cl", ("old",), "pocl")
    assert not given_up.is_set()
    bench.later.keep_only("a.cl", ("new",), "pocl")
    bench.later.want([new], work, owner="a.cl")
    assert await bench.done() == {"a", "b"}
    assert given_up.is_set()
    assert sorted(finished) == ["a", "b"]


def asked_to_compile(analysis: Analysis, trust: Trust, *, here: bool = False, is_on: bool = True) -> bool:
    """Whether an analysis' kernels are going to be compiled without being asked for."""
    spawned: list[Coroutine[Any, Any, object]] = []
    server = SimpleNamespace(
        trust=trust,
        found_devices=(analysis.device,) if here else (),
        spawn=spawned.append,
        settings_of=lambda _: Settings(background_compiles=is_on),
        compiles=SimpleNamespace(keep_only=lambda *_: None),
        forget_refusals=lambda _: None,
    )
    compile_later(server, analysis)  # type: ignore[arg-type]
    for each in spawned:
        each.close()
    return bool(spawned)


@pytest.mark.parametrize(("trust", "compiles"), [(Trust.SAID, True), (Trust.UNSAID, False), (Trust.REFUSED, False)])
def test_only_trusted_folders_are_compiled_unasked(
    trust: Trust, *, compiles: bool, snapshot_of: Callable[..., Snapshot]
) -> None:
    here = snapshot_of().analysis
    elsewhere = replace(here, device=replace(here.device, type=DeviceType.GPU))
    assert asked_to_compile(here, trust, here=True) is compiles
    assert asked_to_compile(elsewhere, trust) is compiles
    assert not asked_to_compile(here, trust, here=True, is_on=False)
    assert not asked_to_compile(elsewhere, trust, is_on=False)


def test_for_a_cpu_that_is_not_here_there_is_no_compiler(snapshot_of: Callable[..., Snapshot]) -> None:
    assert not asked_to_compile(snapshot_of().analysis, Trust.SAID)


TEXT = "kernel void k() {\n  int é = wrong + 1;\n}\n"


def refused(text: str, line: int, column: int, file: str = "k.cl") -> tuple[str, int]:
    """The words that are marked for an error of clang's, and on which line."""
    document = Document("file:///k.cl", 1, IndexedText.of(text))
    said = Diagnostic(file, line, column, True, "no such name")
    (found,) = refusals_in([said], document, "k.cl", "sm_80", "a100")
    return text[found.start : found.end], text.count("\n", 0, found.start)


def test_an_error_marks_the_word_that_clang_means() -> None:
    assert refused(TEXT, 2, 12) == ("wrong", 1)  # columns of clang are bytes
    assert refused(TEXT, 2, 18) == ("+", 1)
    assert refused(TEXT, 2, 99) == ("  int é = wrong + 1;", 1)
    assert refused(TEXT, 99, 1) == ("", 0)
    assert refused(TEXT, 7, 1, "a.h") == ("", 0)  # in an included file


def test_a_refusal_follows_the_edits_and_ends_with_its_build_or_its_document() -> None:
    document = Document("file:///k.cl", 1, IndexedText.of(TEXT))
    said = Diagnostic("k.cl", 2, 12, True, "no such name")
    found = refusals_in([said], document, "k.cl", "sm_80", "a100")
    first, second = BuildOptions(), BuildOptions((("N", "2"),))
    refusals = Refusals()
    assert refusals.put(document.uri, first, found)
    assert refusals.put(document.uri, second, found)
    assert not refusals.put(document.uri, second, found)
    assert refusals.of(document.uri, "a100") == found  # told once
    assert refusals.of(document.uri, "another") == ()
    edit = types.TextDocumentContentChangePartial(types.Range(types.Position(0, 0), types.Position(0, 0)), "\n\n")
    edited = changed(document, 2, [edit], "utf-16")
    refusals.follow(edited)
    (moved,) = refusals.of(document.uri, "a100")
    assert edited.text.value[moved.start : moved.end] == "wrong"
    refusals.keep(document.uri, [first])
    assert refusals.of(document.uri, "a100") == (moved,)
    refusals.put(document.uri, first, ())
    assert refusals.of(document.uri, "a100") == ()
