"""What the source analysis reads of a program beside what the compiler says of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from model.opencl.kernel import Kernel, Parameter, ParameterKind
from model.opencl.program import Program
from model.opencl.types import AddressSpace, ImageType, PointerType, Type
from tests.oracles.compiler.building import Argument, Built

POCLS_OWN = "_cl_"  # PoCL's headers give built-in functions such names by macros, and with them what is named alike


@dataclass(frozen=True)
class Compared:
    """One program: kernels that both know, that only the compiler knows, that only we know, and where they differ."""

    found: int
    missed: tuple[str, ...]
    invented: tuple[str, ...]
    differences: tuple[str, ...]


def compared(program: Program, built: Built) -> Compared:
    """Kernels by name, then their parameters one by one: name, type, address space, access, qualifiers."""
    ours = {kernel.name: kernel for kernel in program.kernels}
    theirs = {name.removeprefix(POCLS_OWN): arguments for name, arguments in built.kernels.items()}
    # A kernel of an included file belongs to that file, where it is compared; here it only has to be known.
    known = {*ours, *(name for name, function in program.functions.items() if function.is_kernel)}
    return Compared(
        sum(name in known for name in theirs),
        tuple(name for name in theirs if name not in known),
        tuple(name for name in ours if name not in theirs),
        tuple(d for name in theirs if name in ours for d in _differences(program, ours[name], theirs[name])),
    )


def _differences(program: Program, kernel: Kernel, theirs: tuple[Argument, ...]) -> Iterator[str]:
    if len(kernel.parameters) != len(theirs):
        yield f"{kernel.name}: {len(kernel.parameters)} parameters, the compiler says {len(theirs)}"
        return
    for parameter, argument in zip(kernel.parameters, theirs, strict=True):
        for what, own, other in _aspects(program, parameter, argument):
            if own != other:
                yield f"{kernel.name}: {what} of `{parameter.name}` is {own}, the compiler says {other}"


def _aspects(program: Program, parameter: Parameter, argument: Argument) -> Iterator[tuple[str, object, object]]:
    yield "the name", parameter.name, argument.name.removeprefix(POCLS_OWN)
    yield "the address space", _address(parameter), argument.address
    yield "the type", _written(parameter.type), _resolved(program, argument.type_name)
    if isinstance(parameter.type, ImageType):
        yield "the access", (parameter.access or "read_only").upper(), argument.access
    if isinstance(parameter.type, PointerType):
        kind = parameter.type
        flags = (("CONST", kind.is_const), ("RESTRICT", kind.is_restrict), ("VOLATILE", kind.is_volatile))
        yield "the set of qualifiers", {name for name, holds in flags if holds}, set(argument.qualifiers)


def _address(parameter: Parameter) -> str:
    if parameter.kind is ParameterKind.IMAGE:
        return "GLOBAL"
    space = parameter.type.space if isinstance(parameter.type, PointerType) else AddressSpace.PRIVATE
    return space.value.upper()


def _written(kind: Type) -> str:
    return f"{kind.pointee.name}*" if isinstance(kind, PointerType) else kind.name


_QUALIFIERS = re.compile(r"\b(?:struct|union|const|volatile|__(?:global|local|constant|private))\s+")


def _resolved(program: Program, type_name: str) -> str:
    """The compiler names types as they are written; a typedef's name is looked up."""
    plain = _QUALIFIERS.sub("", type_name)
    base = plain.rstrip("*").partition("[")[0].strip()
    rest = plain[len(base) :]
    if base.startswith("unsigned"):
        base = f"u{base.split()[-1]}"
    known = program.names.type_named(base) or program.names.tags.get(base)
    return type_name if known is None else _written(known) + rest
