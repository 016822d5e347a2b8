"""What an analysis could not read: each construct by kind, name and line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from model.opencl.stand_ins import Lacking
from model.opencl.types import ArrayType, OpaqueType, PointerType, Type, VectorType


class UnknownKind(StrEnum):
    """Why a construct could not be read. A value that only the data decide is not one of these."""

    SYNTAX = "syntax error"
    TYPE = "undeclared type"
    FUNCTION = "undeclared function"
    NAME = "undeclared name"
    MEMBER = "undeclared member"
    STRUCT = "struct with more members than are followed"
    LENGTH = "array without a known length"
    POINTER = "pointer that is not followed"
    EXPRESSION = "expression that is not understood"
    STATEMENT = "statement that is not understood"
    GOTO = "goto"


@dataclass(frozen=True, slots=True, order=True)
class Unknown:
    """`name` is the source's own word where there is one; `line` counts from 0, in the main file."""

    line: int
    kind: UnknownKind
    name: str


def undeclared_names(unknowns: Iterable[Unknown]) -> Lacking:
    """Return the names among these that another file, or the host, could declare."""
    found: dict[UnknownKind, dict[str, None]] = {UnknownKind.TYPE: {}, UnknownKind.NAME: {}, UnknownKind.FUNCTION: {}}
    for each in unknowns:
        if each.kind in found and each.name.isidentifier():
            found[each.kind][each.name] = None
    return Lacking(*(tuple(names) for names in found.values()))


def undeclared_types(kind: Type) -> Iterable[str]:
    """Yield the names inside a type that nothing declares; members of structs are told when they are used."""
    match kind:
        case OpaqueType(is_unknown=True):
            yield kind.name
        case PointerType():
            yield from undeclared_types(kind.pointee)
        case ArrayType() | VectorType():
            yield from undeclared_types(kind.element)
