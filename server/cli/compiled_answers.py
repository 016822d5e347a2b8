"""What `kernelcast compile` answers: tables for people, and JSON for scripts."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from model.compile_targets import TARGETS, Vendor
from model.compiled import OTHER_KINDS, CodeSource, CompiledFacts
from model.compiled_occupancy import Occupancy, offline_facts
from model.device import Device
from model.forecast import Forecast
from model.launch.driver_choice import effective_local_size
from model.launch.launch import Launch
from model.opencl.kernel import Kernel
from model.work.counts import OpKind
from server.cli.answers import Answer
from server.cli.requests import Request
from server.cli.terminal import hung, out
from server.text.compiled import (
    counted_by_the_analysis,
    in_short,
    instruction_words,
    loop_mix_words,
    loop_words,
    pipe_words,
)
from server.text.format import format_bytes, format_count, format_percent, format_things, shown_name

_SOURCES = {
    CodeSource.ASSEMBLY: "its machine code",
    CodeSource.PTX: "its PTX",
    CodeSource.AMD_ISA: "its assembly language",
    CodeSource.ZEBIN: "its binary's notes and code",
    CodeSource.MALIOC: "malioc's report",
    CodeSource.BINARY: "its binary's notes",
    CodeSource.LOG: "the driver's log",
    CodeSource.QUERIES: "the driver's answers alone",
}


def show(file: Path, device: Device, forecast: Forecast, facts: CompiledFacts) -> None:
    """Print one launch: a sentence, the figures, and the loops."""
    console = out()
    is_offline = facts.device_id in TARGETS
    name = facts.device_name if is_offline else f"{shown_name(device.name)} ({facts.device_id}, driver {facts.driver})"
    sizes = forecast.launch.describe() if forecast.launch else ""
    head = Text.assemble((facts.kernel, "bold"), f" ({sizes}) of {file} {'for' if is_offline else 'on'} {name}")
    console.print(head)
    console.print(hung((Text(f"{name:<18}", style="dim"), value) for name, value in _figures(forecast, facts)))
    if facts.mix:
        console.print()
        console.print(_instructions(forecast, facts))
    for number, loop in enumerate(facts.loops, start=1):
        indent = 2 * loop.depth
        words = loop_mix_words(loop, facts.profile[number]) if is_offline and facts.profile else loop_words(loop)
        console.print(Padding(Text(words), (0, 0, 0, indent), expand=False))
    for warning in facts.warnings:
        console.print(Padding(Text(warning, style="dim"), (0, 0, 0, 2), expand=False))
    console.print()


def _figures(forecast: Forecast, facts: CompiledFacts) -> list[tuple[str, str]]:
    known = offline_facts(facts, forecast.kernel, forecast.launch) if forecast.launch is not None else None
    occupancy = known.occupancy if known is not None else None
    said = [("Compiled", in_short(facts, occupancy))]
    vendor = TARGETS[facts.device_id].vendor if facts.device_id in TARGETS else None
    if vendor is Vendor.INTEL and known is not None:
        each = format_things(known.registers, "word")
        said.append(("Registers", f"{facts.registers} of a thread, {each} of 32 bits for each work-item"))
    elif vendor is Vendor.ARM and facts.registers is not None:
        said.append(("Registers", f"{facts.registers} work, {facts.scalar_registers or 0} uniform"))
    elif facts.scalar_registers is not None:
        accumulators = f", {facts.accumulator_registers} of them accumulators" if facts.accumulator_registers else ""
        said.append(("Registers", f"{facts.registers} vector{accumulators}, {facts.scalar_registers} scalar"))
    if occupancy is not None:
        said.append(("Occupancy", _occupancy(occupancy, forecast, _waves(vendor))))
    if facts.items_side_by_side is not None:
        items = facts.items_side_by_side
        said.append(("Work-items", f"{items} side by side" if items > 1 else "one by one, says the compiler"))
    if facts.max_work_group_size is not None:
        multiple = f", best a multiple of {facts.preferred_multiple}" if facts.preferred_multiple else ""
        said.append(("Work-group", f"at most {facts.max_work_group_size} work-items{multiple}"))
    if facts.required_local_size:
        said.append(("Required", "x".join(map(str, facts.required_local_size))))
    if facts.sub_group_size:
        said.append(("Sub-group", f"{facts.sub_group_size} work-items"))
    memory = [
        f"{what} {format_bytes(size)}"
        for what, size in (("private", facts.private_mem_bytes), ("local", facts.local_mem_bytes))
        if size is not None
    ]
    said.append(("Memory", ", ".join(memory)))
    if facts.spills:
        touched = f", {facts.spill_loads} loads, {facts.spill_stores} stores" if facts.spill_loads is not None else ""
        said.append(("Spills", f"{format_bytes(facts.spill_bytes or 0)}{touched}"))
    if facts.pipes:
        said.append(("Pipes", pipe_words(facts.pipes)))
    if facts.half_arithmetic_percent is not None:
        said.append(("16-bit", f"{format_percent(facts.half_arithmetic_percent)} of the arithmetic"))
    size = f", {format_bytes(facts.code_bytes)} of code" if facts.code_bytes else ""
    said.append(("Read from", _SOURCES[facts.source] + size))
    return [(name, value) for name, value in said if value]


def _occupancy(occupancy: Occupancy, forecast: Forecast, waves: str) -> str:
    groups, launch = format_things(occupancy.groups, "work-group"), forecast.launch
    if launch is not None and launch.local_size is None:
        groups += f" of {'x'.join(map(str, effective_local_size(launch, forecast.kernel)))}"
    return f"{occupancy.waves} of {occupancy.max_waves} {waves} in a core, {groups}; limited by {occupancy.limiter}"


def _waves(vendor: Vendor | None) -> str:
    """Return what the vendor calls them."""
    return "threads" if vendor is Vendor.INTEL else "warps" if vendor is Vendor.ARM else "waves"


def _instructions(forecast: Forecast, facts: CompiledFacts) -> Padding:
    """Return the table of instructions by kind, of the code and of the analysis. Code in loops is listed once."""
    counted = counted_by_the_analysis(forecast.prediction.work) if forecast.prediction else {}
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("Kind")
    table.add_column("Instructions in the code", overflow="fold")
    table.add_column("Analysis, a work-item", justify="right")
    for kind in (*OpKind, *OTHER_KINDS):
        found = tuple(each for each in facts.mix if each.kind == kind)
        if found or counted.get(kind, 0.0) >= _LEAST:
            table.add_row(kind, instruction_words(found) or "-", format_count(counted[kind]) if kind in counted else "")
    return Padding(table, (0, 0, 0, 2), expand=False)


_LEAST = 0.005


_SAID_ELSEWHERE = ("kernel", "device_id", "device_name", "driver", "kernel_lines", "version")


def compiled_answer(request: Request, forecast: Forecast, facts: CompiledFacts) -> Answer:
    """Return the answer; `analysis_per_work_item` has the kinds of `mix`, and lines count from 1."""
    told = asdict(facts)
    for key in _SAID_ELSEWHERE:
        told.pop(key)
    for part in (*told["loops"], *told["regions"]):
        part["line"] = part["line"] + 1 if part["line"] is not None else None
    launch = forecast.launch
    return {
        "id": request.id,
        "file": str(request.file),
        "kernel": forecast.kernel.name,
        "device": {"id": facts.device_id, "name": facts.device_name, "driver": facts.driver},
        "launch": {"name": launch.name, "global": list(launch.global_size)} if launch else None,
        "compiled": {**told, "vectorised": facts.is_vectorised, "spills": facts.spills},
        **_occupancy_json(forecast.kernel, launch, facts),
        "analysis_per_work_item": dict(counted_by_the_analysis(forecast.prediction.work))
        if forecast.prediction
        else None,
    }


def _occupancy_json(kernel: Kernel, launch: Launch | None, facts: CompiledFacts) -> Answer:
    """Return what a core (SM, CU, WGP, Xe-core ...) holds at once; nothing unless compiled for a target."""
    known = offline_facts(facts, kernel, launch) if launch else None
    if known is None or launch is None:
        return {}
    found = known.occupancy
    told = {
        "percent": found.percent,
        "limiter": str(found.limiter),
        "waves": found.waves,
        "max_waves": found.max_waves,
        "groups": found.groups,
        "local": list(effective_local_size(launch, kernel)),
    }
    return {"occupancy": told}
