"""A program: one text under one set of build options, read as far as it can be.

A text is cut into segments (`segments`), directives decide which of them are read (`preprocess_plan`), macros are
expanded in each (`expanded_segments`), these form whole items (`top_level_items`), and each item is parsed alone
(`item_parser`). All of this is kept from reading to reading by content, so that an edit costs the segment that it
changes, and what depends on it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

from cachetools import LRUCache

from model.errors import NoSuchKernel
from model.opencl.builtins import is_builtin
from model.opencl.declarations import Declarations, Declared, Names
from model.opencl.directive_skeleton import SourceFile
from model.opencl.directives import SourceNote
from model.opencl.expanded_segments import ExpandedSegment, ExpandedSegments, let_go
from model.opencl.fingerprint import Definition, Meaning, Weight, joined, meaning
from model.opencl.include_policy import Reach
from model.opencl.item_parser import Function, Reading, read
from model.opencl.kernel import Kernel, Parameter, SourceRange
from model.opencl.masking import Masked
from model.opencl.options import BuildOptions
from model.opencl.overloads import chosen, same_parameters
from model.opencl.preprocess_plan import Plan, made
from model.opencl.segments import Segment, bytewise, cut
from model.opencl.top_level_items import Spot, TopLevelItem, grouped
from model.opencl.types import Type

_KEPT_CHARACTERS = 2 << 20
_JOINED_KEPT = 4096  # meanings of names that several functions have


class Reader(Declarations):
    """Reads the nodes of one item, and knows the main file's lines (from 0) behind them."""

    def __init__(self, masked: Masked, names: Names, item: TopLevelItem, base: int) -> None:
        super().__init__(masked, names)
        self._starts, self._lines = item.lines()
        self._base = base

    def line(self, offset: int) -> int:
        """Return the line behind an offset; -1 where another file speaks."""
        line = self._lines[bisect_right(self._starts, offset) - 1]
        return line + self._base if line >= 0 else -1


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """What one text says under one set of options. Immutable; `notes` tell what could not be read."""

    text: str
    raw: str  # one character a byte
    options: BuildOptions
    plan: Plan
    kernels: tuple[Kernel, ...]  # of the main file
    included: tuple[Kernel, ...]  # of the files that it includes: they stand where it includes them
    by_name: dict[str, Kernel]
    functions: dict[str, Function]  # of several of one name the last: see `overloads`
    several: dict[str, tuple[Function, ...]]  # those of one name with different parameters, in their order
    globals: dict[str, Declared]
    items_of_globals: dict[str, TopLevelItem]
    names: Names
    definitions: dict[str, Definition]
    meanings: dict[str, Meaning]  # of kernels
    rests_on: dict[str, tuple[Function, ...]]  # of kernels: the functions that their meaning covers
    bases: dict[TopLevelItem, int]  # the line on which each item begins
    readings: tuple[Reading, ...]
    piece_places: tuple[tuple[int, int], ...]
    notes: tuple[SourceNote, ...]
    kept: Kept = field(repr=False)

    @property
    def rests_on_files(self) -> bool:
        """Whether the same text may read differently later: it includes files, or misses some."""
        return bool(self.plan.opened or self.notes)

    def wanted(self, name: str | None, *, included: bool = False) -> list[Kernel]:
        """Return all kernels of the file, or of those that it includes where it has none; by its name one of either."""
        if name is None:
            return list(self.kernels or (self.included if included else ()))
        found = self.by_name.get(name)
        return [found] if found is not None else []

    def kernel(self, name: str) -> Kernel:
        found = self.by_name.get(name)
        if found is None:
            known = ", ".join(f"`{k.name}`" for k in (*self.kernels, *self.included)) or "none"
            raise NoSuchKernel(f"there is no kernel `{name}` here; kernels in this file: {known}")
        return found

    def overloads(self, name: str) -> tuple[Function, ...]:
        """Return all functions of that name: none, one, or those among which a call's arguments decide."""
        found = self.several.get(name)
        if found is None:
            one = self.functions.get(name)
            found = () if one is None else (one,)
        return found

    def called(self, name: str, arguments: Sequence[Type], active: Collection[Function] = ()) -> Function | None:
        """Return the function that a call with arguments of these types means; None where it is none of the program's.

        `active` are those whose calls the call stands in. OpenCL C has no recursion, so another of the same name is
        meant, or the built-in function of that name; only where there is no other the call is to itself.
        """
        found = self.overloads(name)
        if len(found) == 1 and not is_builtin(name):
            return found[0]
        others = [function for function in found if function not in active]
        meant = chosen(others, arguments)
        if meant is not None or not found:
            return meant
        if is_builtin(name):
            return None
        return chosen(found, arguments) or next((f for f in others if len(f.parameters) == len(arguments)), found[-1])

    def places(self) -> Iterator[tuple[Segment, int, int]]:
        """Yield the segments of the main file, each with the line and byte column (from 0) that it begins at."""
        for segment, (line, byte) in zip(self.plan.files[0].segments, self.piece_places, strict=False):
            yield segment, line, byte

    @property
    def code(self) -> str:
        """Return the text of the file and of those that it includes, without comments; one character a byte."""
        return "".join(segment.blank for file in self.plan.files for segment in file.segments)

    def lines(self) -> list[str]:
        """Return the lines of the main file without comments."""
        return (
            "".join(p.blank for p in self.plan.files[0].segments).encode("latin-1").decode(errors="replace").split("\n")
        )

    def reader(self, function: Function, names: Names) -> Reader:
        """Return a reader for the nodes of `function`; `names` grows with declarations inside (see `Names.child`)."""
        return Reader(function.masked, names, function.item, self.bases[function.item])

    def reader_of_global(self, name: str, names: Names) -> Reader:
        """Return a reader for the nodes of the declaration of a variable at program scope."""
        item = self.items_of_globals[name]
        return Reader(item.masked, names, item, self.bases[item])

    def line_of(self, function: Function) -> int:
        """Return the line on which `function` begins; -1 where that is in another file."""
        return self.bases[function.item] + function.first_line if function.first_line >= 0 else -1


class Kept:
    """What outlives a reading: expanded units and read items, the last reading's and recent ones."""

    def __init__(self) -> None:
        self.units = ExpandedSegments()
        self._recent: LRUCache[object, Reading] = LRUCache(_KEPT_CHARACTERS, lambda r: len(r.item.text) + 100)
        self._last: dict[object, Reading] = {}
        self._now: dict[object, Reading] = {}
        self._joined: LRUCache[tuple[Definition, ...], Definition] = LRUCache(_JOINED_KEPT)

    def joined(self, parts: tuple[Definition, ...]) -> Definition:
        """Several functions of one name as what that name means; the same object for the same parts."""
        found = self._joined.get(parts)
        if found is None:
            found = self._joined[parts] = joined(parts)
        return found

    def begin(self) -> None:
        self._last, self._now = self._now or self._last, {}
        let_go(self._recent, sum(len(reading.item.text) for reading in self._last.values()))

    def forget_recent(self) -> None:
        """Forget what only an undo in this file would need."""
        self._recent.clear()
        self.units.forget_recent()

    def reading(self, units: tuple[ExpandedSegment, ...], spots: tuple[Spot, ...], names: Names) -> Reading:
        """Return the item of these units read where names mean what they do in `names`."""
        key = (units, spots)
        known = self._now.get(key) or self._last.get(key) or self._recent.get(key)
        if known is None or not known.holds(names):
            known = read(known.item if known is not None else TopLevelItem(units, spots), names)
            with suppress(ValueError):  # larger than all that is kept
                self._recent[key] = known
        self._now[key] = known
        return known


def read_program(
    text: str,
    path: Path | None = None,
    options: BuildOptions | None = None,
    previous: Program | None = None,
    reach: Reach | None = None,
) -> Program:
    """Read `text` under `options`. `previous`, an earlier reading of nearly the same text, makes it fast.

    Never raises for bad input, and includes nothing beyond `reach`.
    """
    options = options or BuildOptions()
    name = str(path) if path else ""
    if previous is not None and (previous.options, previous.plan.files[0].name) != (options, name):
        previous = None
    raw = bytewise(text)
    segments = cut(raw, previous.plan.files[0].segments, previous.raw) if previous else cut(raw)
    main = SourceFile(name, 0, segments)
    plan = made(main, path, options, reach, previous.plan if previous else None)
    return _Assembly(text, raw, options, plan, previous).program()


class _Assembly:
    """Puts a program together from what its items say, in their order."""

    def __init__(self, text: str, raw: str, options: BuildOptions, plan: Plan, previous: Program | None) -> None:
        self.text, self.raw, self.options, self.plan, self.previous = text, raw, options, plan, previous
        self.kept = previous.kept if previous else Kept()
        segments = plan.files[0].segments
        self.first_lines = [0, *accumulate(p.line_feeds for p in segments)]
        self.first_bytes = [0]
        for segment in segments:
            self.first_bytes.append(segment.tail if segment.line_feeds else self.first_bytes[-1] + segment.tail)
        self.notes: list[SourceNote] = []
        self.names = Names()
        self.bases: dict[TopLevelItem, int] = {}
        self.readings: list[Reading] = []
        self.functions: dict[str, Function] = {}
        self.several: dict[str, tuple[Function, ...]] = {}
        self.parts: dict[str, list[tuple[Function, Definition]]] = {}  # of these
        self.kernels: dict[Function, Kernel] = {}
        self.globals: dict[str, Declared] = {}
        self.items_of_globals: dict[str, TopLevelItem] = {}
        self.definitions: dict[str, Definition] = {}

    def program(self) -> Program:
        self._note_pieces()
        self._read()
        meanings = self._meanings()
        by_name = {name: self._kernel(self.functions[name], found) for name, found in meanings.items()}
        return Program(
            text=self.text,
            raw=self.raw,
            options=self.options,
            plan=self.plan,
            kernels=tuple(sorted((k for k in by_name.values() if self._is_own(k)), key=lambda k: k.range)),
            included=tuple(k for k in by_name.values() if not self._is_own(k)),
            by_name=by_name,
            functions=self.functions,
            several=self.several,
            globals=self.globals,
            items_of_globals=self.items_of_globals,
            names=self.names,
            definitions=self.definitions,
            meanings=meanings,
            rests_on={name: self._rests_on(name, found) for name, found in meanings.items()},
            bases=self.bases,
            readings=tuple(self.readings),
            piece_places=tuple(zip(self.first_lines, self.first_bytes, strict=True)),
            notes=tuple(dict.fromkeys(self.notes)),
            kept=self.kept,
        )

    def _is_own(self, kernel: Kernel) -> bool:
        return self.functions[kernel.name].is_own

    def _note_pieces(self) -> None:
        main = self.plan.files[0]
        last = main.segments[-1] if main.segments else None
        if last is not None and last.open_comment is not None:
            line = self.first_lines[-2] + last.raw.count("\n", 0, last.open_comment)
            self.notes.append(SourceNote("this comment is never closed", line))
        for note in self.plan.notes:
            number = main.rows[note.line] if note.line < len(main.rows) else 0
            line = self.first_lines[number] + (main.segments[number].line_of_text if main.segments else 0)
            self.notes.append(SourceNote(note.message, line))

    def _read(self) -> None:
        found, is_whole = self.kept.units.of(self.plan)
        units: list[ExpandedSegment] = []
        spots: list[Spot] = []
        at = Spot(0, 0)
        for unit, is_own, first in found:
            if is_own:
                at = Spot(self.first_lines[first], self.first_bytes[first])
            units.append(unit)
            spots.append(at)
            for message, offset in unit.expanded.notes:
                self.notes.append(SourceNote(message, at.line + (unit.place(offset)[0] if is_own else 0)))
        if not is_whole:
            said = "the preprocessed text is larger than 8 MB; the rest of the file was not read"
            self.notes.append(SourceNote(said, at.line))
        self.kept.begin()
        for start, end in grouped(units):
            base = next((s.line for u, s in zip(units[start:end], spots[start:end], strict=True) if u.is_own), -1)
            base = base if base >= 0 else spots[start].line
            relative = tuple(Spot(s.line - base, s.byte) for s in spots[start:end])
            self._add(self.kept.reading(tuple(units[start:end]), relative, self.names), base)

    def _add(self, reading: Reading, base: int) -> None:
        reading.add_to(self.names)
        self.readings.append(reading)
        self.bases[reading.item] = base
        self.kernels.update(reading.kernels)
        if reading.globals:
            self.globals.update(reading.globals)
            self.items_of_globals.update(dict.fromkeys(reading.globals, reading.item))
        functions = iter(reading.functions)
        for name, said, weight in reading.says:
            definition = said
            if weight >= Weight.FUNCTION:
                function = next(functions)
                known = self.functions.get(name)
                if known is not None and known.is_kernel and not function.is_kernel:
                    continue
                self.functions[name] = function
                if function.is_kernel:
                    self.several.pop(name, None)
                    self.parts.pop(name, None)
                elif known is not None:
                    definition = self._overloaded(name, known, function, definition)
            self.definitions[name] = definition

    def _overloaded(self, name: str, known: Function, function: Function, definition: Definition) -> Definition:
        """Take in one more function of a name: beside the others, or in place of the one with the same parameters."""
        others = [(f, d) for f, d in self.parts.get(name, [(known, self.definitions[name])])]
        kept = [(f, d) for f, d in others if not same_parameters(f, function)] + [(function, definition)]
        self.parts[name] = kept
        self.several[name] = tuple(f for f, _ in kept)
        return self.kept.joined(tuple(d for _, d in kept)) if len(kept) > 1 else definition

    def _meanings(self) -> dict[str, Meaning]:
        """Return the meanings of all kernels; those that no changed definition concerns are kept."""
        before = self.previous
        wanted = [name for name, f in self.functions.items() if f.is_kernel]
        if before is None:
            return {name: meaning(name, self.definitions) for name in wanted}
        changed = set(_differing(before.definitions, self.definitions))
        kept = {}
        for name in wanted:
            known = before.meanings.get(name)
            if known is None or not changed.isdisjoint(known.words):
                known = meaning(name, self.definitions)
            kept[name] = known
        return kept

    def _rests_on(self, name: str, found: Meaning) -> tuple[Function, ...]:
        before = self.previous
        if before is not None and before.meanings.get(name) is found:
            return before.rests_on[name]
        used = (self.several.get(name) or (self.functions[name],) for name in found.covered if name in self.functions)
        return tuple(function for functions in used for function in functions)

    def _kernel(self, function: Function, found: Meaning) -> Kernel:
        base = self.bases[function.item]
        before = self.previous
        if (
            before is not None
            and before.functions.get(function.name) is function
            and before.bases[function.item] == base
            and before.meanings.get(function.name) is found
        ):
            return before.by_name[function.name]
        return _moved(self.kernels[function], base, found.fingerprint)


def _differing(before: dict[str, Definition], now: dict[str, Definition]) -> Iterator[str]:
    for name, definition in now.items():
        if before.get(name) is not definition:
            yield name
    yield from (name for name in before if name not in now)


def _moved(kernel: Kernel, base: int, fingerprint: str) -> Kernel:
    def at(where: SourceRange) -> SourceRange:
        return SourceRange(where.start_line + base, where.start_byte, where.end_line + base, where.end_byte)

    return Kernel(
        kernel.name,
        tuple(Parameter(p.name, p.type, at(p.range), p.access) for p in kernel.parameters),
        kernel.attributes,
        at(kernel.name_range),
        at(kernel.signature_range),
        at(kernel.range),
        fingerprint,
        kernel.has_errors,
    )
