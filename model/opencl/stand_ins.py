"""Stand-ins for names that only the host defines: types, functions and sizes, guessed from how they are named and used.

Host programs give them as `-D` options, or join texts that define them. A kernel that is read without them has buffers
of unknown elements, and cannot be built.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import astuple, dataclass

from model.opencl.builtin_types import builtin_type
from model.opencl.likely_defines import (
    FUNCTIONS,
    WIDTH,
    argument_count,
    likely_function,
    likely_type,
    likely_value,
    pasted_macro,
)


@dataclass(frozen=True, slots=True)
class Lacking:
    """Names that nothing declares, by what they stand for; `given` are others to which a launch gives a value."""

    types: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    given: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """Return all but those that are given."""
        return tuple(dict.fromkeys((*self.types, *self.names, *self.functions)))

    def with_given(self, names: Collection[str]) -> Lacking:
        """Return what is lacking where launches give these names a value."""
        types, others, functions = (
            tuple(n for n in of if n not in names) for of in (self.types, self.names, self.functions)
        )
        return Lacking(types, others, functions, tuple(n for n in self.all if n in names))

    def joined(self, other: Lacking) -> Lacking:
        """Return what either lacks."""
        mine, its = (astuple(each) for each in (self, other))
        return Lacking(*(tuple(dict.fromkeys((*one, *two))) for one, two in zip(mine, its, strict=True)))


_NOT_A_NUMBER = re.compile(r"IMAGE|SAMPLER|QUEUE|EVENT|PIPE|STRUCT", re.IGNORECASE)
_OF_DRIVERS = re.compile(r"__|(?:intel|amd|arm|qcom|nv|cl|sub_group|work_group|async|atom|printf|get)[_a-z]*_?")
# What programs choose for a kernel, not for its data; so are the lengths of its own arrays.
_CHOSEN = re.compile(r"STRIDE|PAD|DILAT|RADIUS|UNROLL|SIMD|VEC|TILE|BLOCK|GROUP|_WG|WG_|LOCAL|THREADS")
_NUMBERS = re.compile(
    r"real|float|double|half|int|char|type|scalar|value|data|elem|num|acc|idx|index|byte|word", re.IGNORECASE
)
_MOST = 60  # names of each kind that are looked for in the text
_USUAL_GROUP = "64"
_DEMANDED = re.compile(r"#[ \t]*if(?:ndef[ \t]+|[ \t]+![ \t]*defined[ \t]*\(?[ \t]*)(\w+)[^\n]*\n\s*#[ \t]*error\b")
_PARAMETER = re.compile(r"_?[A-Z0-9_]+$|T[a-z]?\d*$")  # how macros and parameters of templates are written
# What begins a parameter: before it stands a macro that holds other parameters.
_QUALIFIER = re.compile(r"_*(?:read_only|write_only|read_write|global|constant|void|image\dd\w*)$")
_BETWEEN = r"(?:__)?(?:restrict|const|private|volatile)"  # a type and what is declared
_LANES = re.compile(r"(?:[xyzw]{1,4}|s[0-9a-fA-F]+|lo|hi|even|odd)$")


def stand_ins(asked: Lacking, text: str, known: Collection[str] = ()) -> dict[str, str]:
    """Return a define for each name of a program that is a number, a type of numbers, or a macro that its name tells.

    Types come alone, as what other names stand for may follow from them; `known` have a define already. Structs, images
    and all of which the use is not plain are left out: better to count them for little than to read another kernel.
    """
    types = dict.fromkeys(_without_pasted_width(name, text) for name in asked.types[:_MOST])
    defines = {name: kind for name in types if (kind := _number_type(name, text)) is not None}
    functions = asked.functions[:_MOST]
    literal = [name for name in functions if re.search(rf"\b{name}\b", text)]
    for name in functions:
        pasted = pasted_macro(name, text, 0) if name not in literal else None
        if pasted is not None and pasted[0] not in known:
            defines[pasted[0]] = pasted[1]
    if defines:
        return defines
    for name in literal:
        if not _OF_DRIVERS.match(name) and (function := _known_function(name, text)) is not None:
            defines[function[0]] = function[1]
    demanded = [name for name in _DEMANDED.findall(text) if name not in known]
    for name in (*filter(str.isupper, asked.names[:_MOST]), *demanded[:_MOST]):
        if re.search(rf"^[ \t]*(?:const[ \t]+)?{name}[ \t]+\w+[ \t]*[=;\[]", text, re.MULTILINE):
            if (kind := _number_type(name, text)) is not None:
                defines[name] = kind
        elif re.search(rf"work_group_size[ \t]*\([ \t]*{name}[ \t]*,[ \t]*1[ \t]*,[ \t]*1[ \t]*\)", text):
            defines[name] = _USUAL_GROUP
        elif name in demanded or _CHOSEN.search(name) or _is_length(name, text):
            defines[name] = likely_value(name, text, 0)
    return defines


def _is_length(name: str, text: str) -> bool:
    """Return whether arrays are as long as it says, or work-groups as large."""
    declared = r"(?:^|[;{}])[ \t]*(?:\w+[ \t]+){0,4}(?!return\b|else\b)\w+[ \t]+\w+[ \t]*(?:\[[^\]\n]*\])*"
    return (
        re.search(rf"{declared}\[[^\]\n]*\b{name}\b|work_group_size[ \t]*\([^)]*\b{name}\b", text, re.MULTILINE)
        is not None
    )


def _without_pasted_width(name: str, text: str) -> str:
    """Return `REAL` for `REAL4` where the program defines the latter itself, by what the host calls `REAL`."""
    width = WIDTH.search(name)
    if width is None or not re.search(rf"#[ \t]*define[ \t]+{name}\b", text):
        return name
    return name[: width.start()]


def _number_type(name: str, text: str) -> str | None:
    """Return the type that a name stands for; None where that is no number or vector, or cannot be told."""
    kind = likely_type(name, text, 0)
    if kind.startswith("__"):
        return kind
    uses = re.findall(rf"\b{name}\b[\s*]*(?:\b{_BETWEEN}\b[\s*]*)*([A-Za-z_]\w*)?", text)
    if builtin_type(name) is not None or not (_PARAMETER.match(name) or _NUMBERS.search(name)):
        return None
    if not uses or _NOT_A_NUMBER.search(name) or any(_QUALIFIER.match(word) for word in uses if word):
        return None
    variables = {word for word in uses if word and not word.isupper()}
    if not variables:
        return kind
    members = re.findall(
        rf"\b(?:{'|'.join(sorted(variables))})\b[ \t]*(?:\[[^\]\n]*\][ \t]*)*(->|\.)[ \t]*([A-Za-z_]\w*)", text
    )
    if any(sign == "->" or not _LANES.match(lane) for sign, lane in members):
        return None
    is_vector = members and kind.isalpha() and not name.startswith("T") and not re.search(rf"\b{name}\d", text)
    return f"{kind}4" if is_vector else kind


def _known_function(name: str, text: str) -> tuple[str, str] | None:
    """Return the define of a macro that its name tells, if it takes as many arguments."""
    if not (name.isupper() or "convert" in name.lower()):
        return None
    for pattern, head, body in FUNCTIONS:
        if re.search(pattern, name, re.IGNORECASE):
            takes = head.count(",") + 1
            return (head.format(name=name), body) if argument_count(name, text) == takes or "..." in head else None
    is_conversion = "convert" in name.lower() or re.match(r"(?:to|as|cast)_", name.lower()) is not None
    return likely_function(name, text) if is_conversion and argument_count(name, text) == 1 else None
