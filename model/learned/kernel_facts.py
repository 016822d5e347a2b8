"""What is the same for all launches of a kernel: its parameters, loops, registers, and how it is built."""

from __future__ import annotations

from functools import lru_cache

from model.opencl.kernel import ParameterKind
from model.opencl.options import BuildOptions
from model.opencl.types import PointerType
from model.work.regions.region import Block, Branch, Loop
from model.work.work import Work

_FLAGS = {
    "fast": ("-cl-fast-relaxed-math", "-cl-unsafe-math-optimizations"),
    "mad": ("-cl-mad-enable", "-cl-fast-relaxed-math", "-cl-unsafe-math-optimizations"),
    "native_divide": ("-cl-fast-relaxed-math", "-cl-finite-math-only"),
    "unoptimised": ("-cl-opt-disable",),
    "denormals_zero": ("-cl-denorms-are-zero",),
}
KERNEL_FACTS = (
    "buffers", "images", "scalars", "restricted", "constants", "registers", "over_barriers", "loops", "depth",
    "branches", "id_branches", "barrier_sites", "op_sites", "stores", "accumulators", "chain_steps", "unknowns",
    "required_local_size", *(f"flag.{name}" for name in _FLAGS),
)  # fmt: skip


def kernel_facts(work: Work, options: BuildOptions) -> dict[str, float]:
    """By the names of KERNEL_FACTS."""
    return _facts(work, options.flags)


@lru_cache(maxsize=512)
def _facts(work: Work, flags: tuple[str, ...]) -> dict[str, float]:
    kernel = work.kernel
    buffers = kernel.of_kind(ParameterKind.BUFFER)
    pointers = [p.type for p in buffers if isinstance(p.type, PointerType)]
    loops, branches, depth = _shape(work.root)
    blocks = list(_blocks(work.root))
    over = work.pressure.over_barriers
    return {
        "buffers": float(len(buffers)),
        "images": float(len(kernel.of_kind(ParameterKind.IMAGE))),
        "scalars": float(len(kernel.of_kind(ParameterKind.SCALAR, ParameterKind.STRUCT))),
        "restricted": _share([p.is_restrict for p in pointers]),
        "constants": _share([p.is_const for p in pointers]),
        "registers": float(min(work.pressure.registers, 4096)),
        "over_barriers": -1.0 if over is None else float(min(over, 4096)),
        "loops": float(len(loops)),
        "depth": float(depth),
        "branches": float(len(branches)),
        "id_branches": float(sum(b.share is None for b in branches)),
        "barrier_sites": float(sum(len(b.barriers) for b in blocks)),
        "op_sites": float(min(sum(len(b.ops) for b in blocks), 100_000)),
        "stores": float(sum(a.is_store for b in blocks for a in b.accesses)),
        "accumulators": float(max((loop.accumulators for loop in loops), default=0)),
        "chain_steps": float(max((loop.chain for loop in loops), default=0)),
        "unknowns": float(len(work.unknowns)),
        "required_local_size": float(kernel.attributes.reqd_work_group_size is not None),
        **{f"flag.{name}": float(any(f in flags for f in those)) for name, those in _FLAGS.items()},
    }


def _share(flags: list[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0


def _blocks(root: Block) -> list[Block]:
    found, stack = [], [root]
    while stack:
        block = stack.pop()
        found.append(block)
        for inner in block.inner:
            stack += (inner.body,) if isinstance(inner, Loop) else (inner.then, inner.otherwise)
    return found


def _shape(root: Block) -> tuple[list[Loop], list[Branch], int]:
    """Return all loops and branches, and how deep loops stand in each other."""
    loops: list[Loop] = []
    branches: list[Branch] = []
    deepest = 0
    stack = [(root, 0)]
    while stack:
        block, depth = stack.pop()
        deepest = max(deepest, depth)
        for inner in block.inner:
            if isinstance(inner, Loop):
                loops.append(inner)
                stack.append((inner.body, depth + 1))
            else:
                branches.append(inner)
                stack += ((inner.then, depth), (inner.otherwise, depth))
    return loops, branches, deepest
