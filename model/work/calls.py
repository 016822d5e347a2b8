"""Calls: OpenCL's built-in functions from their table; helpers are inlined by `inlining`."""

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
    IMAGE_QUERIES,
    IMAGE_READS,
    IMAGE_WRITES,
    PIPES,
    WORK_ITEM,
    Builtin,
    Gives,
)
from model.opencl.types import PointerType, ScalarType, VectorType
from model.work.builder import Builder, PendingOp
from model.work.counts import OpKind
from model.work.floats import float_result
from model.work.inlining import Inlining
from model.work.machine import is_known
from model.work.memory_calls import VECTOR_MEMORY
from model.work.operations import operation
from model.work.operators import components
from model.work.places import Location
from model.work.symbolic import (
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
from model.work.unknowns import UnknownKind
from model.work.values import (
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

_CONVERT = re.compile(r"(convert|as)_([a-z]+(?:_t)?\d*)(?:_sat)?(?:_rt[ezpn])?\Z")
_IDS = {
    "get_global_id": GLOBAL_ID, "get_local_id": LOCAL_ID, "get_group_id": GROUP_ID, "get_global_size": GLOBAL_SIZE,
    "get_local_size": LOCAL_SIZE, "get_enqueued_local_size": LOCAL_SIZE, "get_num_groups": NUM_GROUPS,
}  # fmt: skip


class Calls(Inlining):
    """`call(node)`."""

    def call(self, node: Node) -> Value:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None:
            return self.nothing()
        kind = self.type_in_parentheses(function)
        nodes = [a for a in arguments.named_children if a.type != "comment"]
        if kind is not None:
            values = [self.value(a) for a in nodes]
            self.at(node)
            return (
                self.vector_literal(kind, values) if not isinstance(kind, PointerType) else self.cast(kind, values[-1])
            )
        name = self.reader.text(function)
        if name in self.program.functions:
            values = [self.value(a) for a in nodes]
            helper = self.program.called(name, [value.type for value in values], self.calls)
            if helper is not None:
                return self.inline(helper, values, node)
            return self._builtin(name, values, node)
        return self._builtin(name, [self.value(a) for a in nodes], node)

    # --- built-in functions ------------------------------------------------------------------------------

    def _builtin(self, name: str, values: list[Value], node: Node) -> Value:
        if name in WORK_ITEM:
            return self._work_item(name, values)
        self.at(node)
        self.accessed = node.start_byte, node.end_byte
        if name in BARRIERS:
            if not self.dry:
                self.block.barriers.append(self.line)
                self.lifetimes.barriers.append(self.steps)
            if name.startswith("sub_group"):
                self.forget_shared()
            else:
                self.wait_for_group()
            return Other("", VOID)
        if name in ATOMICS:
            return self.atomic(name, values)
        if name in IMAGE_READS or name in IMAGE_WRITES:
            return self.image(name, values)
        if name in IMAGE_QUERIES:
            return self.image_query(name, values)
        if name in PIPES:
            return self.pipe(name, values)
        if name in ADDRESSES and values:
            return values[0] if name != "get_fence" else Scalar(self.unknown("`get_fence`"), UINT)
        if name == "atomic_init":
            target = values[0] if len(values) > 1 else None
            if isinstance(target, Pointer):
                self.store(Location(target.memory, target.offset, target.type.pointee), values[1])
            return Other("", VOID)
        conversion = _CONVERT.match(name)
        if conversion:
            return self._conversion(conversion, values)
        memory = VECTOR_MEMORY.match(name)
        if memory:
            return self.vector_memory(memory, values)
        if name.startswith("async_work_group"):
            return self.async_copy(name, values)
        if name == "printf":
            self.assume("line {line}", "the cost of `printf` on line {line} is not counted", 2.0)
            return Scalar(self.unknown("printf"), INT)
        builtin = BUILTINS.get(name)
        if builtin is not None:
            return self._arithmetic(builtin, values)
        return self._undeclared(name, values)

    def _undeclared(self, name: str, values: list[Value]) -> Value:
        """Return a function that nothing declares: named, and counted as an image access or as one operation."""
        self.unreadable(UnknownKind.FUNCTION, name)
        lowered = name.lower()
        if "image" in lowered or "pixel" in lowered:
            if "write" in lowered or "read" in lowered:
                self.assume(
                    name,
                    f"`{name}` is not declared: counted as one image {'write' if 'write' in lowered else 'read'}",
                    1.5,
                )
                return self.image("write_imagef" if "write" in lowered else "read_imagef", values)
            self.assume(name, f"`{name}` is not declared: counted as a conversion", 1.1)
        else:
            self.assume(name, f"`{name}` is not declared: counted as one operation", 1.5)
        kind = scalar_of(values[0].type) if values else INT
        result = self.unknown(f"`{name}`", *(part for v in values for part in components(v)))
        self.cost(OpKind.INTEGER, kind, result)
        return (
            Scalar(result, kind)
            if not values or not isinstance(values[0], Vector)
            else self.fresh_value(values[0].type, name)
        )

    def _work_item(self, name: str, values: list[Value]) -> Value:
        dimension = expression_of(values[0]).constant if values else 0
        if name in _IDS:
            if dimension is None or not 0 <= dimension < 3:
                return Scalar(ONE if "size" in name or "num" in name else ZERO, ULONG)
            return Scalar(Expression({(_IDS[name][dimension],): 1}), ULONG)
        if name == "get_work_dim":
            return Scalar(symbol("work_dim"), UINT)
        if name == "get_global_linear_id":
            g, s = ([Expression({(a,): 1}) for a in atoms] for atoms in (GLOBAL_ID, GLOBAL_SIZE))
            return Scalar((g[2] * s[1] + g[1]) * s[0] + g[0], ULONG)
        if name == "get_local_linear_id":
            i, s = ([Expression({(a,): 1}) for a in atoms] for atoms in (LOCAL_ID, LOCAL_SIZE))
            return Scalar((i[2] * s[1] + i[1]) * s[0] + i[0], ULONG)
        return Scalar(ZERO if name == "get_global_offset" else self.unknown(f"`{name}`"), UINT)

    def _arithmetic(self, builtin: Builtin, values: list[Value]) -> Value:
        numbers = [v for v in values if isinstance(v, Scalar | Vector)]
        if builtin.gives in _OF_ALL:
            return self._of_all(builtin, numbers)
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
        spread = [components(self.convert(v, kind)) for v in numbers]
        if builtin.name in ("normalize", "fast_normalize"):
            return self._normalized(kind, element, spread[0])
        results = [self._named_result(builtin, element, [s[i] for s in spread]) for i in range(width_of(kind))]
        for pointer in values:
            if isinstance(pointer, Pointer):  # fract, sincos, modf: the second result
                self.store(
                    Location(pointer.memory, pointer.offset, pointer.type.pointee),
                    self.fresh_value(pointer.type.pointee, builtin.name, rests=tuple(results)),
                )
        if builtin.gives is Gives.ELEMENT:
            return self._reduced(builtin, element, spread)
        if not self.dry and not self.at_hand(results):
            block = self.home(tuple(results), may_speculate=False)
            self.find(tuple(results), block)
            for word, times in builtin.costs:
                self.spend(block, word, element, builtin.name, times, tuple(results))
        return self._wrapped(builtin, kind, results)

    def _of_all(self, builtin: Builtin, numbers: Sequence[Scalar | Vector]) -> Value:
        """Return one result of all arguments together."""
        kind = _OF_ALL[builtin.gives]
        parts = tuple(part for value in numbers for part in components(value))
        if parts:
            results = tuple(opaque("call", builtin.name, number(n), *parts) for n in range(width_of(kind)))
        else:  # about the work-item itself
            results = tuple(self.unknown(f"`{builtin.name}`") for _ in range(width_of(kind)))
        if not self.dry and not self.at_hand(results):
            block = self.home(results, may_speculate=False)
            self.find(results, block)
            width = width_of(numbers[0].type) if numbers else 1
            for word, times in builtin.costs:
                self.spend(block, word, scalar_of(kind), builtin.name, times * width, results[:1])
        return Vector(results, kind) if isinstance(kind, VectorType) else Scalar(results[0], kind)

    def _wrapped(self, builtin: Builtin, kind: ScalarType | VectorType, results: list[Expression]) -> Value:
        if builtin.gives is Gives.INT:
            return (
                Vector(tuple(results), VectorType(INT, len(results))) if len(results) > 1 else Scalar(results[0], INT)
            )
        return Vector(tuple(results), kind) if isinstance(kind, VectorType) else Scalar(results[0], scalar_of(kind))

    def _reduced(self, builtin: Builtin, element: ScalarType, spread: Sequence[Sequence[Expression]]) -> Value:
        """`dot`, `length`, `distance`: the first product starts the sum, the others are fused with it."""
        left, right = spread[0], spread[-1]
        if builtin.name.endswith("distance"):
            left = right = [float_result("-", x, y) for x, y in zip(left, right, strict=True)]
        result = float_result("*", left[0], right[0])
        for x, y in zip(left[1:], right[1:], strict=True):
            result = opaque("float", "fma", x, y, result)
        if not builtin.name.startswith("dot"):
            result = opaque("call", "sqrt", result)
        if not self.dry and not self.at_hand((result,)):
            block = self.home((result,), may_speculate=False)
            self.find((result,), block)
            for word, times in builtin.costs:
                match word:
                    case "fma":
                        self.spend(block, "mul", element, builtin.name, 1, (result,))
                        if len(left) > 1:
                            self.spend(block, "fma", element, builtin.name, len(left) - 1, (result,))
                    case "sqrt":
                        self.spend(block, word, element, builtin.name, 1, (result,))
                    case _:
                        self.spend(block, word, element, builtin.name, times * len(left), (result,))
        return Scalar(result, element)

    def _normalized(self, kind: ScalarType | VectorType, element: ScalarType, parts: tuple[Expression, ...]) -> Value:
        """A vector times one over its length."""
        length = self._reduced(BUILTINS["length"], element, [parts])
        whole = Vector(parts, kind) if isinstance(kind, VectorType) else Scalar(parts[0], element)
        return self.binary("*", whole, length)

    def spend(
        self, block: Builder, word: str, element: ScalarType, name: str, times: int, results: tuple[Expression, ...]
    ) -> None:
        """Count what a built-in function costs for each of `results`."""
        kind = OpKind(word)
        if kind in (OpKind.COMPARE, OpKind.SIMPLE) and not is_float(element):
            kind = OpKind.INTEGER
        block.ops.append(PendingOp(self.line, kind, element_name(element), name, times, results))

    def _named_result(self, builtin: Builtin, kind: ScalarType, arguments: list[Expression]) -> Expression:
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

    def _conversion(self, match: re.Match[str], values: list[Value]) -> Value:
        kind = self.reader.names.type_named(match[2])
        if kind is None or not values:
            return self._undeclared(match[0], values)
        if match[1] == "convert":
            return self.cast(kind, values[0])
        same = scalar_of(values[0].type).size_bytes == scalar_of(kind).size_bytes and is_float(kind) == is_float(
            values[0].type
        )
        if same and isinstance(values[0], Scalar | Vector):
            return self.convert(values[0], kind)
        if isinstance(kind, VectorType):
            return Vector(tuple(opaque("bits", i, *components(values[0])) for i in range(kind.width)), kind)
        return Scalar(opaque("bits", 0, *components(values[0])), scalar_of(kind))


_OF_ALL: dict[Gives, ScalarType | VectorType] = {
    Gives.ONE_INT: INT, Gives.ONE_UINT: UINT, Gives.UINT4: VectorType(UINT, 4),
}  # fmt: skip
_INTEGER_WORDS = frozenset({"integer", "int_mul", "int_divide", "compare", "simple"})
