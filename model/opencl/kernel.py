"""What the source says of a kernel: its name, parameters, attributes, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from model.opencl.types import AddressSpace, ImageType, OpaqueType, PointerType, StructType, Type


@dataclass(frozen=True, slots=True, order=True)
class SourceRange:
    """A half-open range in the user's own text (before preprocessing).

    Lines count from 0, columns are BYTES of the line's UTF-8 text, as tree-sitter counts; the server
    converts to what the editor counts in.
    """

    start_line: int
    start_byte: int
    end_line: int
    end_byte: int


class ParameterKind(StrEnum):
    """How the host must supply an argument."""

    BUFFER = "buffer"  # global or constant pointer: a cl_mem, counted in elements of its pointee
    LOCAL = "local"  # local pointer: a number of bytes
    SCALAR = "scalar"  # scalar or vector by value
    STRUCT = "struct"  # struct or union by value
    IMAGE = "image"
    SAMPLER = "sampler"
    OTHER = "other"  # pipe, queue, unknown type


@dataclass(frozen=True, slots=True)
class Parameter:
    """One kernel parameter. `access` is `read_only`, `write_only`, `read_write` (images) or empty."""

    name: str
    type: Type
    range: SourceRange
    access: str = ""

    @property
    def pointee_bytes(self) -> int:
        """Bytes of one element behind a pointer; 4 where the type does not say."""
        pointee = getattr(self.type, "pointee", None)
        return max(1, pointee.size_bytes) if pointee is not None else 4

    @property
    def kind(self) -> ParameterKind:
        match self.type:
            case PointerType(space=AddressSpace.LOCAL):
                return ParameterKind.LOCAL
            case PointerType():
                return ParameterKind.BUFFER
            case StructType():
                return ParameterKind.STRUCT
            case ImageType():
                return ParameterKind.IMAGE
            case OpaqueType(name="sampler_t"):
                return ParameterKind.SAMPLER
            case OpaqueType():
                return ParameterKind.OTHER
            case _:
                return ParameterKind.SCALAR


@dataclass(frozen=True, slots=True)
class KernelAttributes:
    """`__attribute__((...))` of a kernel, as far as it bears on a launch.

    `undeclared` are names in its required work-group size that nothing declares.
    """

    reqd_work_group_size: tuple[int, int, int] | None = None
    work_group_size_hint: tuple[int, int, int] | None = None
    undeclared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel of one program under one set of build options.

    `fingerprint` is a hash of its meaning: the preprocessed tokens of the kernel and of all it uses
    (helpers, types, program-scope constants), so comments and spacing leave it unchanged.
    """

    name: str
    parameters: tuple[Parameter, ...]
    attributes: KernelAttributes
    name_range: SourceRange
    signature_range: SourceRange  # from the first token to the closing parenthesis
    range: SourceRange  # with the body
    fingerprint: str
    has_errors: bool = False  # tree-sitter had to skip something inside

    def parameter(self, name: str) -> Parameter | None:
        return next((p for p in self.parameters if p.name == name), None)

    def of_kind(self, *kinds: ParameterKind) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if p.kind in kinds)
