"""Kernels, launches, rows and compiled code as cells of the dataset's tables, and launches back from them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from model.compiled import CodeSource, CompiledCall, CompiledFacts, CompiledLoop, InstructionCount
from model.launch.fill import parse_fill
from model.launch.launch import Launch, Number
from model.opencl.options import BuildOptions
from profiler.corpus.collection.store import StoredRow
from profiler.corpus.dataset.profiles import profile_cells, profile_from_cells, region_cells, regions_from_cells
from profiler.corpus.kernel import CorpusKernel, CorpusLaunch

Cells = dict[str, object]


def kernel_cells(kernel: CorpusKernel, version: str, tokens: int, signature: bytes) -> Cells:
    return {
        "id": kernel.id,
        "origin": kernel.origin,
        "family": kernel.family,
        "group": kernel.group,
        "reference": kernel.reference,
        "version": version,
        "name": kernel.name,
        # Include folders are those of the machine that measured.
        "options": BuildOptions(kernel.options.defines, (), kernel.options.flags).arguments(),
        "in_place": list(kernel.in_place),
        "choices": [f"{name}={value}" for name, value in kernel.choices],
        "source_sha256": hashlib.sha256(kernel.source.encode()).hexdigest(),
        "tokens": tokens,
        "signature": signature,
    }


def launch_cells(kernel_id: str, place: int, of: CorpusLaunch) -> Cells:
    launch = of.launch
    return {
        "kernel_id": kernel_id,
        "key": launch.key,
        "place": place,
        "vary": of.vary.value,
        "data": of.data,
        "checked": of.checked,
        "global_size": list(launch.global_size),
        "local_size": list(launch.local_size) if launch.local_size is not None else None,
        "scalar_names": [name for name, _ in launch.scalars],
        "scalar_values": [repr(value) for _, value in launch.scalars],
        "buffer_names": [name for name, _ in launch.buffers],
        "buffer_lengths": [length for _, length in launch.buffers],
        "image_names": [name for name, _ in launch.images],
        "image_sizes": [size for _, sizes in launch.images for size in sizes],
        "local_names": [name for name, _ in launch.local_bytes],
        "local_bytes": [size for _, size in launch.local_bytes],
        "fill_names": [name for name, _ in launch.fills],
        "fills": [fill.written for _, fill in launch.fills],
    }


def launch_from_cells(cells: Mapping[str, Any], options: BuildOptions = BuildOptions()) -> Launch:
    """Return what ran, from a row of `launches`; with the kernel's options its key is the row's again."""
    widths = iter(cells["image_sizes"])
    return Launch(
        global_size=tuple(cells["global_size"]),
        local_size=tuple(cells["local_size"]) if cells["local_size"] is not None else None,
        scalars=tuple(zip(cells["scalar_names"], map(_number, cells["scalar_values"]), strict=True)),
        buffers=tuple(zip(cells["buffer_names"], cells["buffer_lengths"], strict=True)),
        images=tuple((name, (next(widths), next(widths), next(widths))) for name in cells["image_names"]),
        local_bytes=tuple(zip(cells["local_names"], cells["local_bytes"], strict=True)),
        fills=tuple((n, parse_fill(f).evaluate({})) for n, f in zip(cells["fill_names"], cells["fills"], strict=True)),
        options=options,
    )


def row_cells(row: StoredRow, runtime_us: float, driver: str, profile: str) -> Cells:
    timing = row.timing
    moment = datetime.fromisoformat(timing.measured_at)
    return {
        "device": row.key.device,
        "kernel_id": row.key.kernel_id,
        "launch_key": row.key.launch_key,
        "repeat": row.key.repeat,
        "runtime_us": runtime_us,
        "median_us": timing.median_us,
        "p10_us": timing.p10_us,
        "p90_us": timing.p90_us,
        "wall_us": timing.wall_us,
        "runs": timing.runs,
        "batches_us": list(timing.batches_us),
        "paces_us": list(timing.paces_us),
        "batch_spread_percent": timing.batch_spread_percent,
        "other_load_percent": timing.other_load_percent,
        "stolen_percent": timing.stolen_percent,
        "is_disturbed": timing.is_disturbed,
        "load_average": timing.load_average,
        "measured_at": (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).replace(microsecond=0),
        "attempts": min(row.attempts, 255),
        "driver": driver,
        "profile": profile,
    }


def compiled_cells(device_id: str, kernel_id: str, places: Sequence[int], facts: CompiledFacts) -> Cells:
    same = {name: getattr(facts, name) for name in _AS_THEY_ARE}
    return {
        "device_id": device_id,
        "kernel_id": kernel_id,
        "places": list(places),
        "local_size": list(facts.local_size) if facts.local_size is not None else None,
        "source": facts.source.value,
        **same,
        "mix_kinds": [f"{each.kind}/{each.element}/{each.space}/{each.lanes}" for each in facts.mix],
        "mix_counts": [each.count for each in facts.mix],
        "calls": [f"{each.function}/{each.lanes}" for each in facts.calls],
        "call_counts": [each.count for each in facts.calls],
        "loops": [number for each in facts.loops for number in (each.depth, each.instructions, each.lanes)],
        "loop_shares": [each.vector_share for each in facts.loops],
        **profile_cells(facts.profile, facts.code_local_size),
        **region_cells(facts.regions),
        "microarchitecture": facts.microarchitecture,
        "version": facts.version,
    }


def facts_from_cells(cells: Mapping[str, Any], kernel: str = "") -> CompiledFacts:
    """Return what a compiler made of a kernel, from a row of `compiled`; without what the dataset leaves out."""
    depths = iter(cells["loops"])
    kinds = (each.split("/") for each in cells["mix_kinds"])
    calls = (each.rpartition("/") for each in cells["calls"])
    return CompiledFacts(
        kernel, "", "", tuple(cells["local_size"]) if cells["local_size"] is not None else None,
        cells["device_id"], "", "", "", CodeSource(cells["source"]),
        **{name: cells[name] for name in _AS_THEY_ARE},
        mix=tuple(
            InstructionCount(kind, element, int(lanes), count, space)
            for (kind, element, space, lanes), count in zip(kinds, cells["mix_counts"], strict=True)
        ),
        calls=tuple(
            CompiledCall(function, int(lanes), count)
            for (function, _, lanes), count in zip(calls, cells["call_counts"], strict=True)
        ),
        loops=tuple(
            CompiledLoop(None, next(depths), next(depths), next(depths), share) for share in cells["loop_shares"]
        ),
        profile=profile_from_cells(cells),
        regions=regions_from_cells(cells),
        microarchitecture=cells["microarchitecture"],
        code_local_size=tuple(cells["code_local_size"]) if cells["code_local_size"] is not None else None,
        version=cells["version"],
    )  # fmt: skip


_AS_THEY_ARE = (
    "max_work_group_size",
    "preferred_multiple",
    "private_mem_bytes",
    "local_mem_bytes",
    "sub_group_size",
    "registers",
    "vector_registers",
    "spill_bytes",
    "spill_loads",
    "spill_stores",
    "vector_width_bits",
    "items_side_by_side",
    "float_vector_share",
    "integer_vector_share",
    "memory_vector_share",
    "code_bytes",
)


def _number(text: str) -> Number:
    return float(text) if set(text) & set(".enai") else int(text)
