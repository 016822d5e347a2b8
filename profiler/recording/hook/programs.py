"""Find the program of a kernel: its source and build options."""

from __future__ import annotations

import functools
from typing import Any


class Programs:
    """Built programs, by the driver's pointer. PyOpenCL's cache builds from binaries, but it knows their source."""

    def __init__(self, cl: Any, log: Any) -> None:
        self._cl, self._log = cl, log
        self._sources: dict[int, bytes] = {}
        self._options: dict[int, str] = {}
        self._headers: dict[int, list[tuple[str, bytes]]] = {}
        self._parts: dict[int, list[int]] = {}
        self._ids: dict[tuple[Any, ...], int] = {}
        self._known: dict[int, int] = {}  # numbers of programs by pointer, until another is built there
        log.on_fork.append(self._forget_written)

    def install(self) -> None:
        """Wrap the functions that build, compile and link programs."""
        cl = self._cl
        build, compile_, link = cl.Program.build, cl.Program.compile, cl.link_program

        @functools.wraps(build)
        def recorded_build(program: Any, options: Any = None, *others: Any, **named: Any) -> Any:
            source = _text(program)
            result = build(program, options, *others, **named)
            if program._prg is not None:
                self.built(program._prg, source, _options(cl, program, options))
            return result

        @functools.wraps(compile_)
        def recorded_compile(program: Any, options: Any = None, devices: Any = None, headers: Any = None) -> Any:
            result = compile_(program, options, devices, headers)
            texts = [(str(name), _text(each) or b"") for name, each in headers or []]
            self.compiled(program._get_prg(), _options(cl, program, options), texts)
            return result

        @functools.wraps(link)
        def recorded_link(context: Any, parts: Any, options: Any = None, devices: Any = None) -> Any:
            parts = list(parts)
            result = link(context, parts, options, devices)
            words = options if isinstance(options, str) else " ".join(options or [])
            self.linked(result._get_prg(), [each._get_prg() for each in parts], words)
            return result

        cl.Program.build, cl.Program.compile, cl.link_program = recorded_build, recorded_compile, recorded_link

    def built(self, raw: Any, source: bytes | None, options: str) -> None:
        pointer = raw.int_ptr
        self.forget(pointer)
        if source is not None:
            self._sources[pointer] = source
        self._options[pointer] = options

    def compiled(self, raw: Any, options: str, headers: list[tuple[str, bytes]]) -> None:
        self.built(raw, None, options)
        self._headers[raw.int_ptr] = headers

    def linked(self, raw: Any, parts: list[Any], options: str) -> None:
        self.built(raw, None, options)
        self._parts[raw.int_ptr] = [self.number_of(part) for part in parts]

    def forget(self, pointer: int) -> None:
        for known in (self._sources, self._options, self._headers, self._parts, self._known):
            known.pop(pointer, None)

    def number_of(self, raw: Any) -> int:
        """Return the program's number in the log; write the program if it is new."""
        pointer = raw.int_ptr
        number = self._known.get(pointer)
        if number is None:
            number = self._known[pointer] = self._write(raw, pointer)
        return number

    def _write(self, raw: Any, pointer: int) -> int:
        source = self._sources.get(pointer) or self._source(raw)
        options = self._options.get(pointer)
        options = self._given_options(raw) if options is None else options
        headers = [{"name": name, "source": self._log.source(text)[0]} for name, text in self._headers.get(pointer, [])]
        parts = self._parts.get(pointer, [])
        kind = "source" if source else self._kind(raw)
        if parts:
            kind, source = "source", None
        file, digest = self._log.source(source) if source else (None, None)
        key = (kind, digest, options, tuple(parts), tuple(each["source"] for each in headers))
        if key in self._ids and (source or parts):
            return self._ids[key]
        number = self._ids[key] = len(self._ids)
        entry: dict[str, Any] = {"record": "program", "id": number, "kind": kind, "source": file, "sha256": digest}
        entry["options"] = options
        if headers:
            entry["headers"] = headers
        if parts:
            entry["linked"] = parts
        self._log.line(entry)
        return number

    def _source(self, raw: Any) -> bytes | None:
        try:
            text = raw.get_info(self._cl.program_info.SOURCE)
        except self._cl.Error:
            return None
        return (text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")) or None

    def _given_options(self, raw: Any) -> str:
        try:
            devices = raw.get_info(self._cl.program_info.DEVICES)
            return str(raw.get_build_info(devices[0], self._cl.program_build_info.OPTIONS) or "").strip()
        except self._cl.Error:
            return ""

    def _kind(self, raw: Any) -> str:
        try:
            return {"SOURCE": "source", "IL": "il"}.get(self._cl.program_kind.to_string(raw.kind(), ""), "binary")
        except (AttributeError, self._cl.Error):
            return "binary"

    def _forget_written(self) -> None:
        self._ids.clear()
        self._known.clear()


def _text(program: Any) -> bytes | None:
    source = program.__dict__.get("_source")
    if source is None:
        return None
    return source if isinstance(source, bytes) else str(source).encode("utf-8", "surrogateescape")


def _options(cl: Any, program: Any, options: Any) -> str:
    """Return all options that the driver is given, with those that PyOpenCL adds."""
    raw = program._prg
    try:
        devices = raw.get_info(cl.program_info.DEVICES)
        given = str(raw.get_build_info(devices[0], cl.program_build_info.OPTIONS) or "").strip()
    except cl.Error:
        given = ""
    if given:
        return given
    if isinstance(options, bytes):
        return options.decode("utf-8", "replace")
    return options if isinstance(options, str) else " ".join(map(str, options or []))
