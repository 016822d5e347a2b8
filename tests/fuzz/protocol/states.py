"""Sessions in which documents go through many states, by edits, and in which places are held against the editor's."""

from __future__ import annotations

import random
from typing import Any

from tests.fuzz.edits import versions
from tests.fuzz.protocol.compose import FILES, uri_of
from tests.fuzz.protocol.document import CODECS, EditorsText, edit
from tests.fuzz.protocol.script import ROOT, SETTLE, Script, Step, plain
from tests.fuzz.protocol.texts import Texts

PROBE = "__kernel void probe(__global float *a) { a[get_global_id(0)] = 1.0f; }"
_MOST_UNITS = 40_000
_PROBE_AFTER = 60


class Author:
    """Edits a few documents as editors do, and knows their texts."""

    def __init__(self, chance: random.Random, texts: Texts, encoding: str) -> None:
        self._chance = chance
        self._texts = texts
        self._encoding = encoding
        self._open: dict[str, EditorsText] = {}
        self._ids = 0
        self._versions = 0

    def session(self, name: str, length: int) -> Script:
        steps = [self._initialize(), SETTLE, plain({"method": "initialized", "params": {}})]
        states = 0
        while states < length:
            uri = uri_of(self._chance.choice(FILES[:5]))
            if uri not in self._open or self._chance.random() < 0.02:
                steps.append(self._opened(uri))
                states += 1
            for step in self._worked_on(uri):
                steps.append(step)
                states += step.kind == "send"
            steps += self._asked(uri)
            if self._chance.random() < 10 / _PROBE_AFTER:
                steps += self._probed(uri)
                states += 3
        steps += [SETTLE, plain({"id": "the end", "method": "shutdown"}), SETTLE, plain({"method": "exit"})]
        return Script(name, tuple(steps), states=states)

    def _initialize(self) -> Step:
        hints = {"workspace": {"inlayHint": {"refreshSupport": self._chance.random() < 0.8}}}
        capabilities = {**hints, "general": {"positionEncodings": [self._encoding]}}
        params = {"processId": None, "rootUri": f"file://{ROOT}", "capabilities": capabilities}
        return plain({"id": "first", "method": "initialize", "params": params})

    def _opened(self, uri: str) -> Step:
        text = self._texts.some(self._chance)
        if self._encoding != "utf-16":  # such an editor has no halves to send
            text = text.encode("utf-8", "replace").decode()
        self._open[uri] = EditorsText.of(text, self._encoding)
        item = {"uri": uri, "languageId": "opencl", "version": self._version(), "text": text}
        return plain({"method": "textDocument/didOpen", "params": {"textDocument": item}})

    def _worked_on(self, uri: str) -> list[Step]:
        document = self._open[uri]
        if len(document.data) > _MOST_UNITS or self._chance.random() < 0.01:
            self._open.pop(uri)
            return [self._opened(uri)]
        if self._chance.random() < 0.1:
            return [self._changed(uri, [self._whole(document, text)]) for text in self._retyped(document)]
        count = self._chance.randrange(1, 20)
        return [self._changed(uri, [edit(self._chance, document) for _ in range(self._chance.choice((1, 1, 1, 2, 3)))])
                for _ in range(count)]  # fmt: skip

    def _retyped(self, document: EditorsText) -> list[str]:
        data = document.text.encode("utf-8", "replace")
        return [text.decode("utf-8", "replace")[:_MOST_UNITS] for text in versions(self._chance, data, data[:2000])]

    def _whole(self, document: EditorsText, text: str) -> dict[str, Any]:
        document.data = EditorsText.of(text, self._encoding).data
        return {"text": text}

    def _changed(self, uri: str, changes: list[dict[str, Any]]) -> Step:
        where = {"uri": uri, "version": self._version()}
        return plain({"method": "textDocument/didChange", "params": {"textDocument": where, "contentChanges": changes}})

    def _asked(self, uri: str) -> list[Step]:
        pick = self._chance.random()
        if pick < 0.3:
            return [plain(self._hints(uri)), SETTLE]
        if pick < 0.5:
            line = self._chance.randrange(len(self._open[uri].lines()))
            where = {"textDocument": {"uri": uri}, "position": {"line": line, "character": self._chance.randrange(40)}}
            return [plain({"id": self._id(), "method": "textDocument/hover", "params": where}), SETTLE]
        return []

    def _hints(self, uri: str) -> dict[str, Any]:
        everything = {"start": {"line": 0, "character": 0}, "end": {"line": 10**6, "character": 0}}
        params = {"textDocument": {"uri": uri}, "range": everything}
        return {"id": self._id(), "method": "textDocument/inlayHint", "params": params}

    def _probed(self, uri: str) -> list[Step]:
        """A kernel put somewhere, then all before and behind it deleted: if places or line ends were taken for others,
        something is left, or the kernel is cut."""
        document = self._open[uri]
        lines = document.lines()
        line = self._chance.randrange(len(lines))
        here = {"line": line, "character": lines[line][1] - lines[line][0]}
        middle = f"\n{PROBE} //{self._filling()}\n"
        document.replace(lines[line][1], lines[line][1], middle)
        put = {"range": {"start": here, "end": here}, "text": middle}

        lines = document.lines()
        at = next(n for n in range(line, len(lines)) if self._line(document, *lines[n]).startswith(PROBE))
        (start, end), last = lines[at], lines[-1]
        width = end - start
        last_place = {"line": len(lines) - 1, "character": last[1] - last[0]}
        document.replace(end, last[1], "")
        tail = {"range": {"start": {"line": at, "character": width}, "end": last_place}, "text": ""}
        document.replace(0, start, "")
        head = {"range": {"start": {"line": 0, "character": 0}, "end": {"line": at, "character": 0}}, "text": ""}
        asked = self._hints(uri)
        steps = [self._changed(uri, [change]) for change in (put, tail, head)]
        return [*steps, SETTLE, Step("ask", plain(asked).data, wanted=(0, width))]

    def _filling(self) -> str:
        return "".join(self._chance.choices("ab😀é€ ", k=self._chance.randrange(12)))

    def _line(self, document: EditorsText, start: int, end: int) -> str:
        codec, size = CODECS[self._encoding]
        return document.data[start * size : end * size].decode(codec, "surrogatepass")

    def _id(self) -> int:
        self._ids += 1
        return self._ids

    def _version(self) -> int:
        """Mostly the next one; the server is not to care."""
        self._versions += 1
        return self._versions if self._chance.random() < 0.95 else self._chance.randrange(-5, 10**6)
