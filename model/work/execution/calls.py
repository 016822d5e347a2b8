"""Calls: OpenCL's built-in functions from their table; helper functions are inlined by `inlining`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from model.opencl.builtin_types import INT, UINT, ULONG, VOID, builtin_type
from model.opencl.builtins import (
    ADDRESSES,
    ATOMICS,
    BARRIERS,
    BUILTINS,
    FENCES,
    IMAGE_QUERIES,
    IMAGE_READS,
    IMAGE_WRITES,
    PIPES,
    PRINTF,
    WORK_ITEM,
    Builtin,
    Gives,
)
from model.opencl.types import PointerType, ScalarType, VectorType
from model.work.counts import OpKind
from model.work.execution.builder import Builder, PendingOp
from model.work.execution.costs import all_available, count_operations, home_block, is_known, make_available
from model.work.execution.dispatch import value_of
from model.work.execution.findings import assume, note_unreadable, nothing, unknown_number
from model.work.execution.inlining import inline
from model.work.execution.literals import cast_to, type_in_parentheses, vector_literal
from model.work.execution.lvalues import Location
from model.work.execution.memory_calls import (
    VECTOR_MEMORY,
    async_copy,
    atomic_call,
    image_call,
    image_query,
    pipe_call,
    vector_memory,
)
from model.work.execution.narrow_ids import component_ids, lost_ids
from model.work.execution.operators import binary, components, convert
from model.work.execution.state import ExecutionState
from model.work.execution.stores import forget_shared, store, wait_for_group
from model.work.execution.unknowns import UnknownKind
from model.work.execution.values import (
    Other,
    Pointer,
    Scalar,
    Value,
    Vector,
    common_type,
    element_name,
    expression_of,
    is_float,
    scalar_of,
    width_of,
)
from model.work.execution.variables import fresh_value
from model.work.expressions.floats import float_result
from model.work.expressions.operations import operation
from model.work.expressions.symbolic import (
    GLOBAL_ID,
    GLOBAL_SIZE,
    GROUP_ID,
    LOCAL_ID,
    LOCAL_SIZE,
    NUM_GROUPS,
    ONE,
    ZERO,
    Expression,
    number,
    opaque,
    symbol,
)

_CONVERT = re.compile(r"(convert|as)_([a-z]+(?:_t)?\d*)(?:_sat)?(?:_rt[ezpn])?\Z")
_IDS = {
    "get_global_id": GLOBAL_ID, "get_local_id": LOCAL_ID, "get_group_id": GROUP_ID, "get_global_size": GLOBAL_SIZE,
    "get_local_size": LOCAL_SIZE, "get_enqueued_local_size": LOCAL_SIZE, "get_num_groups": NUM_GROUPS,
}  # fmt: skip
_OF_ALL: dict[Gives, ScalarType | VectorType] = {
    Gives.ONE_INT: INT, Gives.ONE_UINT: UINT, Gives.UINT4: VectorType(UINT, 4),
}  # fmt: skip
_IN_24_BITS = frozenset({"mad24", "mul24"})  # made of shifts, through which compilers do not follow ids
_INTEGER_WORDS = frozenset({"integer", "int_mul", "int_divide", "compare", "simple"})


def call(state: ExecutionState, node: Node) -> Value:
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None:
        return nothing(state)
    kind = type_in_parentheses(state, function)
    nodes = [a for a in arguments.named_children if a.type != "comment"]
    if kind is not None:
        values = [value_of(state, a) for a in nodes]
        state.at(node)
        return (
            vector_literal(state, kind, values)
            if not isinstance(kind, PointerType)
            else cast_to(state, kind, values[-1])
        )
    name = state.reader.text(function)
    if name in state.program.functions:
        values = [value_of(state, a) for a in nodes]
        helper = state.program.called(name, [value.type for value in values], state.calls.functions)
        if helper is not None:
            return inline(state, helper, values, node)
        return _builtin(state, name, values, node)
    return _builtin(state, name, [value_of(state, a) for a in nodes], node)


def _builtin(state: ExecutionState, name: str, values: list[Value], node: Node) -> Value:
    if name in WORK_ITEM:
        return _work_item(state, name, values)
    state.at(node)
    state.accessed = node.start_byte, node.end_byte
    if name in BARRIERS:
        if not state.counting_disabled:
            state.block.barriers.append(state.line)
            state.lifetimes.barriers.append(state.steps)
        if name.startswith("sub_group"):
            forget_shared(state)
        else:
            wait_for_group(state)
        return Other("", VOID)
    if name in ATOMICS:
        return atomic_call(state, name, values)
    if name in IMAGE_READS or name in IMAGE_WRITES:
        return image_call(state, name, values)
    if name in IMAGE_QUERIES:
        return image_query(state, name, values)
    if name in PIPES:
        return pipe_call(state, name, values)
    if name in ADDRESSES and values:
        return values[0] if name != "get_fence" else Scalar(unknown_number(state, "`get_fence`"), UINT)
    if name == "atomic_init":
        target = values[0] if len(values) > 1 else None
        if isinstance(target, Pointer):
            store(state, Location(target.memory, target.offset, target.type.pointee), values[1])
        return Other("", VOID)
    conversion = _CONVERT.match(name)
    if conversion:
        return _conversion(state, conversion, values)
    memory = VECTOR_MEMORY.match(name)
    if memory:
        return vector_memory(state, memory, values)
    if name.startswith("async_work_group"):
        return async_copy(state, name, values)
    if name in FENCES:
        count_operations(state, OpKind.SIMPLE, INT, function=name)
        return Other("", VOID)
    if name == PRINTF:
        count_operations(state, OpKind.SIMPLE, INT, function=PRINTF)
        assume(state, "line {line}", "`printf` on line {line}: how long a call takes depends on what it prints", 5.0)
        return Scalar(unknown_number(state, "printf"), INT)
    builtin = BUILTINS.get(name)
    if builtin is not None:
        return _arithmetic(state, builtin, values)
    return _undeclared(state, name, values)


def _undeclared(state: ExecutionState, name: str, values: list[Value]) -> Value:
    """Return a function that nothing declares: named, and counted as an image access or as one operation."""
    note_unreadable(state, UnknownKind.FUNCTION, name)
    lowered = name.lower()
    if "image" in lowered or "pixel" in lowered:
        if "write" in lowered or "read" in lowered:
            assume(
                state,
                name,
                f"`{name}` is not declared: counted as one image {'write' if 'write' in lowered else 'read'}",
                1.5,
            )
            return image_call(state, "write_imagef" if "write" in lowered else "read_imagef", values)
        assume(state, name, f"`{name}` is not declared: counted as a conversion", 1.1)
    else:
        assume(state, name, f"`{name}` is not declared: counted as one operation", 1.5)
    kind = scalar_of(values[0].type) if values else INT
    result = unknown_number(state, f"`{name}`", *(part for v in values for part in components(v)))
    count_operations(state, OpKind.INTEGER, kind, result)
    return (
        Scalar(result, kind)
        if not values or not isinstance(values[0], Vector)
        else fresh_value(state, values[0].type, name)
    )


def _work_item(state: ExecutionState, name: str, values: list[Value]) -> Value:
    dimension = expression_of(values[0]).constant if values else 0
    if name in _IDS:
        if dimension is None or not 0 <= dimension < 3:
            return Scalar(ONE if "size" in name or "num" in name else ZERO, ULONG)
        state.findings.asks_for_global_ids |= name == "get_global_id"
        return Scalar(Expression({(_IDS[name][dimension],): 1}), ULONG)
    if name == "get_work_dim":
        return Scalar(symbol("work_dim"), UINT)
    if name == "get_global_linear_id":
        g, s = ([Expression({(a,): 1}) for a in atoms] for atoms in (GLOBAL_ID, GLOBAL_SIZE))
        return Scalar((g[2] * s[1] + g[1]) * s[0] + g[0], ULONG)
    if name == "get_local_linear_id":
        i, s = ([Expression({(a,): 1}) for a in atoms] for atoms in (LOCAL_ID, LOCAL_SIZE))
        return Scalar((i[2] * s[1] + i[1]) * s[0] + i[0], ULONG)
    return Scalar(ZERO if name == "get_global_offset" else unknown_number(state, f"`{name}`"), UINT)


def _arithmetic(state: ExecutionState, builtin: Builtin, values: list[Value]) -> Value:
    numbers = [v for v in values if isinstance(v, Scalar | Vector)]
    if builtin.gives in _OF_ALL:
        return _of_all(state, builtin, numbers)
    if builtin.gives is Gives.VOID or not numbers:
        return Other("", VOID)
    kind: ScalarType | VectorType = numbers[0].type
    for other in numbers[1:]:
        kind = common_type(kind, other.type)
    if (
        isinstance(kind, ScalarType)
        and builtin.costs
        and builtin.costs[0][0] not in _INTEGER_WORDS
        and not is_float(kind)
    ):
        kind = scalar_of(builtin_type("float") or kind)
    element = scalar_of(kind)
    spread = [components(convert(state, v, kind)) for v in numbers]
    if builtin.name in ("normalize", "fast_normalize"):
        return _normalized(state, kind, element, spread[0])
    results = [_named_result(state, builtin, element, [s[i] for s in spread]) for i in range(width_of(kind))]
    for pointer in values:
        if isinstance(pointer, Pointer):  # fract, sincos, modf: the second result
            store(
                state,
                Location(pointer.memory, pointer.offset, pointer.type.pointee),
                fresh_value(state, pointer.type.pointee, builtin.name, rests=tuple(results)),
            )
    if builtin.gives is Gives.ELEMENT:
        return _reduced(state, builtin, element, spread)
    if not state.counting_disabled and not all_available(state, results):
        block = home_block(state, tuple(results), may_speculate=False)
        make_available(state, tuple(results), block)
        for word, times in builtin.costs:
            spend(state, block, word, element, builtin.name, times, tuple(results))
    return _wrapped(state, builtin, kind, results)


def _of_all(state: ExecutionState, builtin: Builtin, numbers: Sequence[Scalar | Vector]) -> Value:
    """Return one result of all arguments together."""
    kind = _OF_ALL[builtin.gives]
    parts = tuple(part for value in numbers for part in components(value))
    if parts:
        results = tuple(opaque("call", builtin.name, number(n), *parts) for n in range(width_of(kind)))
    else:  # about the work-item itself
        results = tuple(unknown_number(state, f"`{builtin.name}`") for _ in range(width_of(kind)))
    if not state.counting_disabled and not all_available(state, results):
        block = home_block(state, results, may_speculate=False)
        make_available(state, results, block)
        width = width_of(numbers[0].type) if numbers else 1
        for word, times in builtin.costs:
            spend(state, block, word, scalar_of(kind), builtin.name, times * width, results[:1])
    return Vector(results, kind) if isinstance(kind, VectorType) else Scalar(results[0], kind)


def _wrapped(
    state: ExecutionState, builtin: Builtin, kind: ScalarType | VectorType, results: list[Expression]
) -> Value:
    if builtin.gives is Gives.INT:
        return Vector(tuple(results), VectorType(INT, len(results))) if len(results) > 1 else Scalar(results[0], INT)
    if isinstance(kind, VectorType):
        return Vector(tuple(results), kind)
    ids = component_ids(results[0], scalar_of(kind)) if builtin.name in _IN_24_BITS else None
    return Scalar(results[0], scalar_of(kind), lost_ids(ids))


def _reduced(
    state: ExecutionState, builtin: Builtin, element: ScalarType, spread: Sequence[Sequence[Expression]]
) -> Value:
    """`dot`, `length`, `distance`: the first product starts the sum, the others are fused with it."""
    left, right = spread[0], spread[-1]
    if builtin.name.endswith("distance"):
        left = right = [float_result("-", x, y) for x, y in zip(left, right, strict=True)]
    result = float_result("*", left[0], right[0])
    for x, y in zip(left[1:], right[1:], strict=True):
        result = opaque("float", "fma", x, y, result)
    if not builtin.name.startswith("dot"):
        result = opaque("call", "sqrt", result)
    if not state.counting_disabled and not all_available(state, (result,)):
        block = home_block(state, (result,), may_speculate=False)
        make_available(state, (result,), block)
        for word, times in builtin.costs:
            match word:
                case "fma":
                    spend(state, block, "mul", element, builtin.name, 1, (result,))
                    if len(left) > 1:
                        spend(state, block, "fma", element, builtin.name, len(left) - 1, (result,))
                case "sqrt":
                    spend(state, block, word, element, builtin.name, 1, (result,))
                case _:
                    spend(state, block, word, element, builtin.name, times * len(left), (result,))
    return Scalar(result, element)


def _normalized(
    state: ExecutionState, kind: ScalarType | VectorType, element: ScalarType, parts: tuple[Expression, ...]
) -> Value:
    """Return a vector times one over its length."""
    length = _reduced(state, BUILTINS["length"], element, [parts])
    whole = Vector(parts, kind) if isinstance(kind, VectorType) else Scalar(parts[0], element)
    return binary(state, "*", whole, length)


def spend(
    state: ExecutionState,
    block: Builder,
    word: str,
    element: ScalarType,
    name: str,
    times: int,
    results: tuple[Expression, ...],
) -> None:
    """Count what a built-in function costs for each of `results`."""
    kind = OpKind(word)
    if kind in (OpKind.COMPARE, OpKind.SIMPLE) and not is_float(element):
        kind = OpKind.INTEGER
    block.ops.append(PendingOp(state.line, kind, element_name(element), name, times, results))


def _named_result(state: ExecutionState, builtin: Builtin, kind: ScalarType, arguments: list[Expression]) -> Expression:
    if not is_float(kind):
        match builtin.name, arguments:
            case (("min" | "max"), [a, b]):
                return operation(builtin.name, a, b)
            case "clamp", [a, low, high]:
                return operation("min", operation("max", a, low), high)
            case (("mul24" | "mul_hi"), [a, b]) if builtin.name == "mul24":
                return a * b
            case "mad24", [a, b, c]:
                return a * b + c
            case "abs", [a]:
                return operation("abs", a)
    if arguments and all(is_known(a) for a in arguments):
        return opaque("literal", f"{builtin.name}({', '.join(map(repr, arguments))})"[:80])
    return opaque("call", builtin.name, *arguments)


def _exactly(state: ExecutionState, value: Value, source: Value, name: str) -> Value:
    """Return `source` as the integer that it was converted to, at the price of saturating and of rounding, if asked."""
    if not isinstance(value, Scalar | Vector) or is_float(value.type):
        return value
    kind, is_cut = scalar_of(value.type), is_float(source.type)
    steps = ["rounded"] if is_cut and name.endswith(("_rte", "_rtp", "_rtn")) else []
    if "_sat" in name:
        steps.append("saturate_char" if kind.size_bytes == 1 else "saturate")
    parts = components(value)
    for step in steps:
        parts = tuple(part if is_known(part) else opaque("call", step, part) for part in parts)
        made = [part for part in dict.fromkeys(parts) if not is_known(part)]
        if made and is_cut:
            count_operations(state, OpKind.SIMPLE, kind, *made, function=step)
        elif made:
            count_operations(state, OpKind.INTEGER, kind, *made, times=2)  # a minimum and a maximum
    return Vector(parts, value.type) if isinstance(value, Vector) else Scalar(parts[0], kind, value.ids)


def _conversion(state: ExecutionState, match: re.Match[str], values: list[Value]) -> Value:
    kind = state.reader.names.type_named(match[2])
    if kind is None or not values:
        return _undeclared(state, match[0], values)
    if match[1] == "convert":
        made = cast_to(state, kind, values[0])
        return _exactly(state, made, values[0], match[0])
    same = scalar_of(values[0].type).size_bytes == scalar_of(kind).size_bytes and is_float(kind) == is_float(
        values[0].type
    )
    if same and isinstance(values[0], Scalar | Vector):
        return convert(state, values[0], kind)
    if isinstance(kind, VectorType):
        return Vector(tuple(opaque("bits", i, *components(values[0])) for i in range(kind.width)), kind)
    return Scalar(opaque("bits", 0, *components(values[0])), scalar_of(kind))
