"""What a package defines by name, so that a program can be given what its host would have put in front of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from profiler.corpus.origins.literals import programs_in
from profiler.corpus.origins.sources import OPENCL_SUFFIXES

_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)(?:\\\n|[^\n])*", re.MULTILINE)
_TYPEDEF = re.compile(
    r"\btypedef\s+(?:(?:struct|union|enum)\b[^{};]*\{[^{}]*\}\s*|[^{};()]*?)\b(?P<name>\w+)\s*(?:\[[^\]]*\]\s*)?;"
)
_STRUCT = re.compile(r"\b(?:struct|union)\s+(?P<name>\w+)\s*\{[^{}]*\}\s*(?:__attribute__\s*\(\([^;]*\)\)\s*)?;")
_FUNCTION = re.compile(
    r"^(?!#)[ \t]*(?:(?:static|inline|__inline|__inline__|const|unsigned|struct)[ \t]+)*"
    r"[A-Za-z_]\w*[ \t\n]+(?P<name>[A-Za-z_]\w*)[ \t]*\((?P<takes>[^(){};]*)\)\s*\{",
    re.MULTILINE,
)
_CONSTANT = re.compile(
    r"^[ \t]*(?:static\s+)?(?:__)?constant\s+[\w\s]+?\b(?P<name>\w+)\s*(?:\[[^=;]*\])?\s*=[^;]*;", re.MULTILINE
)
_WORD = re.compile(r"\b[A-Za-z_]\w*")
_NO_FUNCTION = frozenset(["if", "for", "while", "switch", "return", "else", "sizeof", "do"])
# What tells a host's language, or a template of one, from OpenCL C.
_HOST = re.compile(
    r"::|\bnamespace\b|\busing\b|\btypename\b|\btemplate\s*<|\bcl_mem\b|\bclass\b|\bnew\b|->|\bNULL\b|\bvirtual\b|\bpublic\b|&&?\s*\w+\s*[,)]\s*\{|#\s*include|"
    r"%s|%\(\w+\)|\{\{|\$\{|<%|@\w+@"
)
_OTHER = re.compile(r"half|fp16|cuda|hip|metal|vulkan|glsl", re.IGNORECASE)  # taken only where there is nothing else
_DEVICE = re.compile(r"__global\b|__kernel\b|__local\b|get_global_id|read_imagef")
_FIXED = re.compile(r"u?int(?:8|16|32|64)_t\Z|size_t\Z|bool\Z")  # a host's, and no other
LONGEST = 6_000  # characters
MOST_OF_ONE_NAME = 12


@dataclass(frozen=True, slots=True)
class Definition:
    """`text` defines `name`; it stood in the file `path`."""

    name: str
    path: str
    text: str

    @property
    def words(self) -> frozenset[str]:
        return frozenset(_WORD.findall(self.text)) - {self.name}


@dataclass
class Definitions:
    """Of one package, by name."""

    by_name: dict[str, list[Definition]] = field(default_factory=dict)

    def add(self, path: str, text: str, *, only_macros: bool = False) -> None:
        for one in definitions_in(path, text):
            if (only_macros and not one.text.startswith("#")) or _FIXED.match(one.name):
                continue
            known = self.by_name.setdefault(one.name, [])
            if len(known) < MOST_OF_ONE_NAME and all(one.text != other.text for other in known):
                known.append(one)

    def nearest(self, name: str, path: str) -> Definition | None:
        """Return the definition in the file nearest to `path`, one without half floats if there is one."""
        return min(
            self.by_name.get(name, ()),
            key=lambda one: (
                bool(_OTHER.search(f"{one.path} {one.text}")),
                -_shared(one.path, path),
                len(one.text),
                one.path,
            ),
            default=None,
        )

    def closure(self, names: Iterable[str], path: str, known: set[str]) -> list[str]:
        """Texts that define `names` and what these rest on, in an order in which they can stand."""
        found: list[str] = []
        for name in names:
            self._visit(name, path, known, found)
        return found

    def _visit(self, name: str, path: str, known: set[str], found: list[str], depth: int = 0) -> None:
        definition = self.nearest(name, path)
        if definition is None or name in known or depth > 30:
            return
        known.add(name)
        for word in sorted(definition.words):
            self._visit(word, path, known, found, depth + 1)
        found.append(definition.text)


def package_definitions(folder: Path) -> Definitions:
    """Of all files below `folder`: OpenCL C as it is, and what stands in other languages' literals or headers."""
    found = Definitions()
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        name = path.relative_to(folder).as_posix()
        text = path.read_text(encoding="utf-8", errors="replace")
        if name.lower().endswith(OPENCL_SUFFIXES) and 'R"' not in text:
            found.add(name, text)
            continue
        for program in programs_in(text, is_python=name.endswith(".py")):
            found.add(name, program)
        if name.lower().endswith((".h", ".hpp", ".inc", ".def", *OPENCL_SUFFIXES)):
            found.add(name, text, only_macros=not _DEVICE.search(text))
    return found


def definitions_in(path: str, text: str) -> Iterator[Definition]:
    """Yield what `text` defines at its top level, as far as it may be OpenCL C."""
    for pattern in (_DEFINE, _TYPEDEF, _STRUCT, _CONSTANT):
        for match in pattern.finditer(text):
            if len(match[0]) <= LONGEST and not _HOST.search(match[0]) and match[0].split()[-1] != match["name"]:
                yield Definition(match["name"], path, match[0].strip())
    for match in _FUNCTION.finditer(text):
        end = _end_of_body(text, match.end())
        if end is None or match["name"] in _NO_FUNCTION or "kernel" in match[0].split():
            continue
        body = text[match.start() : end].strip()
        if len(body) <= LONGEST and not _HOST.search(body) and "__kernel" not in body:
            yield Definition(match["name"], path, body)


def _end_of_body(text: str, start: int) -> int | None:
    depth = 1
    for match in re.compile(r"[{}]").finditer(text, start, start + LONGEST):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.end()
    return None


def _shared(one: str, other: str) -> int:
    count = 0
    for a, b in zip(one.split("/"), other.split("/"), strict=False):
        if a != b:
            break
        count += 1
    return count
