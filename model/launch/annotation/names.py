"""Checks the names in a launch against the kernel it is for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from model.launch.annotation.found import Annotation, AnnotationProblem
from model.launch.expression import Expression, suggestion
from model.launch.fill_target import FillTarget, parse_target
from model.launch.launch import Number
from model.launch.names import defined_numbers, resolve
from model.launch.spec import LaunchSpec
from model.launch.tuning import DEVICE_NAMES, SIZE_NAMES, SIZES
from model.launch.vectors import count_problem, vector_named
from model.opencl.kernel import Kernel, Parameter, ParameterKind
from model.opencl.members import find_member, member_names
from model.opencl.types import ImageType, OpaqueType, PointerType, StructType, Type, VectorType, lane_names

_KEYS = ("global", "local", "name")


def check_names(
    annotation: Annotation, kernel: Kernel, undeclared: Collection[str] = ()
) -> tuple[AnnotationProblem, ...]:
    """Names that mean nothing to `kernel`, and values of the wrong shape for what they name.

    `undeclared` names of the program may be given as well.
    """
    spec = annotation.spec
    problems = [
        AnnotationProblem(message, annotation.key_range(key))
        for key, message in misused_names(spec, kernel, undeclared).items()
    ]
    given = (name for name, values in spec.values if len(values) == 1)
    tuned = [name for name in spec.tuning.names if name not in SIZES]
    usable = {*_scalar_names(kernel), *given, *defined_numbers(spec.options), *tuned}
    more = {*usable, *SIZE_NAMES, *DEVICE_NAMES}
    conditions = [(e, more) for condition in spec.tuning.conditions for e in condition.expressions]
    for expression, usable in [*((e, usable) for e in _expressions(spec)), *conditions]:
        for name, start, end in expression.name_spans():
            if name not in usable:
                close = suggestion(name, usable)
                message = f"`{name}` has no value here: write {name}=..., or use a scalar parameter.{close}"
                problems.append(AnnotationProblem(message, annotation.range_of(start, end)))
    return tuple(problems)


def misused_names(spec: LaunchSpec, kernel: Kernel, undeclared: Collection[str] = ()) -> dict[str, str]:
    """Return what is wrong with the names that are given values or fills, by key (`n`, `fill.A`).

    `undeclared` names of the program may be given as well.
    """
    used = {name for expression in _expressions(spec) for name in expression.names}
    used |= {name for condition in spec.tuning.conditions for name in condition.names}
    found = {
        name: _value_problem(name, len(values), kernel, is_used=name in used or name in undeclared)
        for name, values in spec.values
    }
    lengths = resolve(spec.values, defined_numbers(spec.options)).scalars if spec.fills else {}
    found |= {f"fill.{name}": _fill_problem(name, kernel, lengths) for name, _ in spec.fills}
    return {key: message for key, message in found.items() if message is not None}


def _value_problem(name: str, count: int, kernel: Kernel, *, is_used: bool) -> str | None:
    head, _, member = name.partition(".")
    parameter = kernel.parameter(head)
    if parameter is None:
        if is_used:
            return None
        close = suggestion(name, [*_KEYS, *(p.name for p in kernel.parameters)])
        return f"`{name}` is neither a parameter of `{kernel.name}` nor used by another value.{close}"
    if member:
        wrong = _member_problem(parameter, member)
        return wrong if wrong is not None or count == 1 else _several_problem(name, count, kernel)
    match parameter.kind:
        case ParameterKind.STRUCT:
            return f"`{name}` is a struct: give its members, as in {name}.{_members(parameter)[0]}=..."
        case ParameterKind.IMAGE:
            wanted = image_sizes(parameter)
            if count != wanted:
                sizes = ", ".join(("width", "height", "depth")[:wanted])
                return f"`{name}` is an {parameter.type.name} and takes {wanted} size(s): {name}=({sizes})"
        case _ if count != 1:
            return _several_problem(name, count, kernel)
    return None


def _several_problem(name: str, count: int, kernel: Kernel) -> str | None:
    kind = vector_named(kernel, name)
    if kind is None:
        return f"`{name}` takes one value; only images and vectors take several"
    return count_problem(name, kind, count)


def _member_problem(parameter: Parameter, member: str) -> str | None:
    if isinstance(parameter.type, VectorType):
        return _component_problem(parameter.name, parameter.type, member)
    if not isinstance(parameter.type, StructType):
        is_opaque = parameter.kind is ParameterKind.OTHER
        return None if is_opaque else f"`{parameter.name}` is not a struct and has no member `{member}`"
    inner: object = parameter.type
    for name in member.split("."):
        if isinstance(inner, VectorType):
            return _component_problem(f"{parameter.name}.{member.rpartition('.')[0]}", inner, name)
        if not isinstance(inner, StructType):
            return f"`{parameter.name}.{member}`: there is no member `{name}`"
        found = inner.member(name)
        if found is None:
            listed = ", ".join(n for n, _ in inner.members)
            close = suggestion(name, [n for n, _ in inner.members])
            return f"`{parameter.name}` has no member `{name}`; its members are {listed}.{close}"
        inner = found
    return None


def _component_problem(vector: str, kind: VectorType, component: str) -> str | None:
    known = [name for lane in range(kind.width) for name in lane_names(vector, lane)]
    if f"{vector}.{component}" in known:
        return None
    return f"`{vector}` is a {kind.name}: its components are {vector}.s0 to {vector}.s{kind.width - 1:x}"


def _fill_problem(name: str, kernel: Kernel, lengths: Mapping[str, Number]) -> str | None:
    target = parse_target(name)
    parameter = kernel.parameter(target.buffer)
    buffers = [p.name for p in kernel.of_kind(ParameterKind.BUFFER, ParameterKind.IMAGE)]
    if parameter is None or parameter.name not in buffers:
        listed = f"its buffers are {', '.join(buffers)}" if buffers else "it has none"
        return f"`{target.buffer}` is not a buffer of `{kernel.name}`; {listed}.{suggestion(target.buffer, buffers)}"
    if not isinstance(parameter.type, PointerType):
        is_whole = target.index is None and not target.members
        return None if is_whole else f"`{target.buffer}` is an image: its contents are given as a whole"
    length = lengths.get(target.buffer)
    if target.index is not None and length is not None and target.index >= length:
        return f"`{target.buffer}[{target.index}]` lies beyond the {length:g} elements of `{target.buffer}`"
    for depth in range(len(target.members)):
        if find_member(parameter.type.pointee, target.members[: depth + 1]) is None:
            return _missing_member(parameter.type.pointee, target, depth)
    return None


def _missing_member(pointee: Type, target: FillTarget, depth: int) -> str | None:
    """Return what is wrong with the member at that depth; None if its struct's members are unknown."""
    around = find_member(pointee, target.members[:depth])
    if around is None or isinstance(around.type, OpaqueType):
        return None
    whole, name = ".".join([target.buffer, *target.members[:depth]]), target.members[depth]
    known = member_names(around.type)
    if not known:
        return f"`{whole}` holds {around.type.name}, which has no members: write fill.{whole}=..."
    return f"`{whole}` has no member `{name}`; its members are {', '.join(known)}.{suggestion(name, known)}"


def image_sizes(parameter: Parameter) -> int:
    """Return how many sizes describe an image: one per dimension, and one for the layers of an array."""
    assert isinstance(parameter.type, ImageType)
    return min(3, parameter.type.dimensions + ("array" in parameter.type.name))


def _scalar_names(kernel: Kernel) -> list[str]:
    scalars = [p.name for p in kernel.of_kind(ParameterKind.SCALAR, ParameterKind.OTHER)]
    structs = kernel.of_kind(ParameterKind.STRUCT)
    return [*scalars, *(f"{p.name}.{member}" for p in structs for member in _members(p))]


def _members(parameter: Parameter) -> list[str]:
    assert isinstance(parameter.type, StructType)
    return [name for name, _ in parameter.type.members] or ["member"]


def _expressions(spec: LaunchSpec) -> Iterable[Expression]:
    yield from spec.global_size or ()
    yield from spec.local_size or ()
    for _, values in spec.values:
        yield from values
    for _, fill in spec.fills:
        yield from fill.arguments
    for tuned in spec.tuning.ranges:
        for choice in tuned.choices:
            yield from choice.sizes
