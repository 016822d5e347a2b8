"""Many files, and edits without end: every request is answered, and the server's memory stays what it was."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from tests.e2e.editor import PATIENCE_S, Editor, started
from tests.faults.watching import environment_of, wait_until_alone
from tests.soak.sources import files
from tests.soak.typist import Typist, position

SETTLED_AFTER = 5000  # edits, after which caches are full
GROWTH_MB = 20.0  # from then on
KERNEL = "__kernel"
_LONGEST_BURST = 60  # edits of one file, before the next


@dataclass(frozen=True)
class Sample:
    """What the processes held after so many edits."""

    edits: int
    requests: int
    seconds: float
    server_mb: float
    own_mb: float  # of the server, without what it shares with others
    predictor_mb: float
    files: int
    threads: int


@dataclass
class Typed:
    """What came of the run so far."""

    edits: int = 0
    requests: int = 0
    empty: int = 0  # answers about hints without any: where the text has no kernel, and nowhere else
    longest_s: float = 0.0
    samples: list[Sample] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def growth_mb(self) -> float:
        """From the sample at `SETTLED_AFTER` edits, or the first behind it, to the largest one."""
        settled = [each.server_mb for each in self.samples if each.edits >= SETTLED_AFTER]
        return max(settled) - settled[0] if settled else 0.0


async def typing_run(
    kernelcast: str,
    home: Path,
    *,
    number: int,
    edits: int,
    seed: int,
    every: int,
    tell: Callable[[Sample], None],
    environment: dict[str, str] | None = None,
) -> Typed:
    """`number` open files and `edits` edits, in bursts, now here and now there; a sample `every` so many."""
    typed = Typed()
    chance = random.Random(seed)
    mark = f"soak-{seed}-{time.monotonic_ns()}"
    own = {**environment_of(home, mark), **(environment or {})}
    begin = time.monotonic()
    async with started(kernelcast, home, settings={"device": "generic-cpu"}, environment=own) as editor:
        texts = files(number)
        typists = {name: Typist(text, random.Random(f"{seed} {name}")) for name, text in texts.items()}
        for name, text in texts.items():
            editor.open(name, text)
            await _asked(editor, typed, editor.hints(name))
        # A file that was typed in costs more than one that was only opened: by `SETTLED_AFTER`, each has been.
        first = chance.sample(list(texts), len(texts))
        while typed.edits < edits:
            most = max(2, SETTLED_AFTER // number) if first else _LONGEST_BURST
            name = first.pop() if first else chance.choice(list(texts))
            for _ in range(min(chance.randrange(most // 6, most), edits - typed.edits)):
                await _edit(editor, typists[name], name, chance, typed)
                if typed.edits % every == 0:
                    await editor.run("kernelcast.listKernels", editor.uri(name))
                    sample = _sample(editor, typed, time.monotonic() - begin)
                    typed.samples.append(sample)
                    tell(sample)
                    del editor.statuses[:-1], editor.progress[:], editor.tokens[:]
            if chance.random() < 0.1:
                editor.close(name)
                editor.open(name, typists[name].text)
        if await editor.leave() != 0:
            typed.problems.append("the server did not leave with status 0")
    typed.problems += [f"left after the server: {each}" for each in await wait_until_alone(mark, None, home / "tmp")]
    return typed


async def _edit(editor: Editor, typist: Typist, name: str, chance: random.Random, typed: Typed) -> None:
    """One change, and what editors ask about it."""
    before = typist.text
    change = typist.next()
    start, end = position(before, change.start), position(before, change.end)
    editor.edit(name, *start, change.text, end)
    typed.edits += 1
    hints = await _asked(editor, typed, editor.hints(name))
    typed.empty += not hints
    if chance.random() < 0.1:
        at = typist.text.find(KERNEL)
        line, column = position(typist.text, max(at, 0))
        await _asked(editor, typed, _hover(editor, name, line, column + chance.randrange(40)))
    if chance.random() < 0.03:
        await _asked(editor, typed, editor.actions(name, start[0]))
    if chance.random() < 0.1:
        await _asked(editor, typed, editor.run("kernelcast.listKernels", editor.uri(name)))


async def _hover(editor: Editor, name: str, line: int, column: int) -> str:
    """Empty where there is nothing to tell."""
    from lsprotocol import types

    answer = await editor.client.text_document_hover_async(
        types.HoverParams(types.TextDocumentIdentifier(editor.uri(name)), types.Position(line, column))
    )
    return str(answer.contents) if answer else ""


async def _asked(editor: Editor, typed: Typed, request: Any) -> Any:
    """The answer; a request that fails, or is not answered, is a problem of the server's."""
    from asyncio import wait_for

    from pygls.exceptions import JsonRpcException

    begin = time.monotonic()
    typed.requests += 1
    try:
        return await wait_for(request, PATIENCE_S)
    except (JsonRpcException, TimeoutError) as error:
        typed.problems.append(f"after {typed.edits} edits: {type(error).__name__} {error}"[:300])
        return None
    finally:
        typed.longest_s = max(typed.longest_s, time.monotonic() - begin)


def _sample(editor: Editor, typed: Typed, seconds: float) -> Sample:
    server = psutil.Process(editor.server.pid)
    memory = server.memory_full_info()
    return Sample(
        typed.edits, typed.requests, seconds, memory.rss / 1e6, memory.uss / 1e6,
        sum(_rss_mb(child) for child in server.children(recursive=True)), server.num_fds(), server.num_threads(),
    )  # fmt: skip


def _rss_mb(process: psutil.Process) -> float:
    try:
        return float(process.memory_info().rss) / 1e6
    except psutil.Error:  # it has just gone
        return 0.0
