"""A struct of two structs of two structs ... is small in the source, and has more members than there is time for."""

from __future__ import annotations

import pickle

from model.opencl.kernel import ParameterKind
from model.opencl.program import read_program
from model.opencl.types import PointerType, StructType
from model.work.analyse import analyse
from model.work.execution.unknowns import Unknown, UnknownKind

DEPTH = 60


def nested(depth: int = DEPTH, innermost: str = "float") -> str:
    levels = (f"typedef struct {{ s{k - 1} a, b; }} s{k};" for k in range(1, depth + 1))
    return "\n".join([f"typedef struct {{ {innermost} v; }} s0;", *levels])


def buffer_of(text: str, depth: int = DEPTH) -> StructType:
    program = read_program(f"{text}\nkernel void k(global s{depth} *x) {{ x[0].{'a.' * depth}v = 1; }}")
    (parameter,) = program.kernels[0].of_kind(ParameterKind.BUFFER)
    assert isinstance(parameter.type, PointerType)
    assert isinstance(parameter.type.pointee, StructType)
    return parameter.type.pointee


def test_it_has_a_size_and_compares_equal_to_itself_read_again() -> None:
    once, again, other = buffer_of(nested()), buffer_of(nested()), buffer_of(nested(innermost="int"))
    assert once.size_bytes == 4 * 2**DEPTH
    assert once is not again
    assert once == again
    assert hash(once) == hash(again)
    assert once != other
    assert pickle.loads(pickle.dumps(once)) == once
    assert len(repr(once)) < 1000


def test_copying_it_is_named_as_not_followed() -> None:
    program = read_program(f"{nested()}\nkernel void k(global s{DEPTH} *x, s{DEPTH} y) {{\nx[1] = x[0];\nx[2] = y; }}")
    line = DEPTH + 2
    assert analyse(program, program.kernels[0]).unknowns == (Unknown(line, UnknownKind.STRUCT, ""),)


def test_a_small_one_is_followed() -> None:
    program = read_program(f"{nested(3)}\nkernel void k(global s3 *x) {{ x[1] = x[0]; }}")
    work = analyse(program, program.kernels[0])
    assert work.unknowns == ()
    assert len(list(work.accesses())) == 2 * 2**3
