"""Functions in an object file (ELF), with their relocations and the source's lines (DWARF)."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from elftools.common.exceptions import DWARFError, ELFError
from elftools.dwarf.lineprogram import LineProgram
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import Section as ElfSection
from elftools.elf.sections import Symbol, SymbolTableSection

from profiler.machine_code.instruction import Instruction
from profiler.machine_code.x86 import Section, disassemble

_MACHINE = "x64"
_EXECUTABLE = 0x4  # SHF_EXECINSTR
Place = tuple[str, int]


class UnreadableCode(Exception):
    """The bytes are no object file of a processor whose code is read here; says why, for `CompiledFacts.warnings`."""


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    size_bytes: int
    instructions: tuple[Instruction, ...]


def functions_of(data: bytes, wanted: Callable[[str], bool]) -> tuple[Function, ...]:
    """Return the functions in an object file whose names are `wanted`. Raises UnreadableCode."""
    try:
        file = ELFFile(io.BytesIO(data))
        machine = file.get_machine_arch()
        if machine != _MACHINE:
            raise UnreadableCode(f"machine code of {machine} is not read yet")
        return tuple(_functions(file, wanted))
    except (ELFError, DWARFError) as error:
        raise UnreadableCode(f"the compiler's object file cannot be read: {error or 'it is damaged'}") from error


def section_of(data: bytes, name: str) -> bytes:
    """Return the bytes of one section. Raises UnreadableCode."""
    try:
        section = ELFFile(io.BytesIO(data)).get_section_by_name(name)
    except ELFError as error:
        raise UnreadableCode(f"the program's binary cannot be read: {error or 'it is damaged'}") from error
    if section is None:
        raise UnreadableCode(f"the program's binary has no section {name}")
    return bytes(section.data())


def _functions(file: ELFFile, wanted: Callable[[str], bool]) -> Iterator[Function]:
    table = file.get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        return
    symbols = list(table.iter_symbols())
    sections = list(file.iter_sections())
    places = _places(file)
    for number, section in enumerate(sections):
        own = [s for s in symbols if s["st_shndx"] == number and s["st_info"]["type"] == "STT_FUNC"]
        if not section["sh_flags"] & _EXECUTABLE or not own:
            continue
        relocations = _relocations(sections, number, symbols)
        code = Section(section.data(), {s["st_value"]: s.name for s in own}, relocations, places)
        for symbol in own:
            if wanted(symbol.name):
                start, size = symbol["st_value"], symbol["st_size"]
                yield Function(symbol.name, size, disassemble(code, start, size))


def _relocations(sections: list[ElfSection], number: int, symbols: list[Symbol]) -> dict[int, str]:
    found: dict[int, str] = {}
    for section in sections:
        if isinstance(section, RelocationSection) and section["sh_info"] == number:
            for each in section.iter_relocations():
                found[each["r_offset"]] = symbols[each["r_info_sym"]].name
    return found


def _places(file: ELFFile) -> dict[int, Place | None]:
    """By the offset where it begins; None where the code is of no line. Compilers put all kernels in one section."""
    found: dict[int, Place | None] = {}
    if not file.has_dwarf_info():
        return found
    information = file.get_dwarf_info(relocate_dwarf_sections=True)
    for unit in information.iter_CUs():
        program = information.line_program_for_CU(unit)
        if program is None:
            continue
        for entry in program.get_entries():
            state = entry.state
            if state is not None:
                name = _file_name(program, state.file) if state.line and not state.end_sequence else ""
                found[state.address] = (name, state.line) if name else None
    return found


def _file_name(program: LineProgram, number: int) -> str:
    """File numbers count from 1 up to DWARF 4, from 0 after it."""
    entries = program.header.file_entry
    index = number - (1 if program.header.version < 5 else 0)
    return str(entries[index].name.decode("utf-8", "replace")) if 0 <= index < len(entries) else ""
