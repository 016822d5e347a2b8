"""AMD's assembly language, as LLVM writes it, as instructions of our own.

Source: AMD, "RDNA3 Instruction Set Architecture" and "MI300 Instruction Set Architecture", sections on instruction
formats; LLVM, "User Guide for AMDGPU Backend", for the metadata behind the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from model.work.counts import OpKind
from profiler.machine_code.instruction import Instruction

_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+(?:"(?:[^"\\]|\\.)*"\s+)?"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_LOCATION = re.compile(r"\.loc\s+(\d+)\s+(\d+)")
_LABEL = re.compile(r"([.\w$]+):$")
_TYPE = re.compile(r"_(?P<kind>bf|[fiub])(?P<bits>16|32|64)(?=_|$)")
_KERNEL = re.compile(r"^  - (?=\.)", re.MULTILINE)
_CODE_LENGTH = re.compile(r"; codeLenInByte = (\d+)")
_SPILL = re.compile(r"Folded (?:Spill|Reload)")
_BYTES_MOVED = re.compile(r"_(?:dwordx(?P<words>\d+)|b(?P<bits>32|64|96|128))(?:_|$)")

# The first that matches an opcode without its leading `v_`; what it is on floats, and what on integers.
_VECTOR: tuple[tuple[re.Pattern[str], OpKind, OpKind], ...] = tuple(
    (re.compile(pattern), on_floats, on_integers)
    for pattern, on_floats, on_integers in (
        (r"(?:fma|fmac|fmamk|fmaak|div_fmas|dot\d)", OpKind.FMA, OpKind.INT_MUL),
        (r"mad_(?:mix|f)|mac_f|mad[am]k_f", OpKind.FMA, OpKind.FMA),
        (r"mad|mul_|mul$", OpKind.MUL, OpKind.INT_MUL),
        (r"div_fixup", OpKind.DIVIDE, OpKind.DIVIDE),
        (r"div_scale|min|max|med3|floor|ceil|trunc|rndne|fract|ldexp|frexp", OpKind.SIMPLE, OpKind.INTEGER),
        (r"rcp|rsq|sqrt|sin|cos|exp_|log_", OpKind.NATIVE, OpKind.NATIVE),
        (r"cmpx?_", OpKind.COMPARE, OpKind.INTEGER),
        (r"cvt", OpKind.CONVERT, OpKind.CONVERT),
        (r"(?:add|sub|subrev)_", OpKind.ADD, OpKind.INTEGER),
    )
)
_MOVES = re.compile(r"(?:mov|accvgpr|readlane|readfirstlane|writelane|swap|nop|perm(?:lane|_b32)|interp)")
_SCALAR_MOVES = re.compile(
    r"(?:mov|cmov|nop|wait|delay_alu|clause|getpc|setreg|getreg|sleep|inst_prefetch|sethalt|code_end|version|round_mode"
    r"|denorm_mode|set_gpr|icache|dcache|trap|sendmsg|setprio|ttrace|set_vgpr)"
)


# `flat` reaches all of them. Buffer instructions of compiled OpenCL C reach the stack alone.
_SPACES = {"global": "global", "buffer": "private", "scratch": "private", "ds": "local", "image": "image"}


@dataclass(frozen=True, slots=True)
class AmdCode:
    """One kernel. Registers as the hardware allots them; spilled registers are of a work-item and of a wave."""

    instructions: tuple[Instruction, ...]
    vector_registers: int
    accumulator_registers: int
    scalar_registers: int
    spilled_vector_registers: int
    spilled_scalar_registers: int
    private_bytes: int
    local_bytes: int
    wave_size: int
    code_bytes: int | None


def read_amd_isa(text: str) -> dict[str, AmdCode]:
    """Return all kernels of a program by name."""
    metadata = text.partition(".amdgpu_metadata")[2]
    files = {int(number): name.replace("\\", "/").rsplit("/", 1)[-1] for number, name in _FILE.findall(text)}
    found = {}
    for block in _KERNEL.split(metadata.partition("amdhsa.kernels:")[2])[1:]:
        name = re.search(r"^    \.name:\s+'?([\w.$]+)'?", block, re.MULTILINE)
        if name is not None:
            body = _body(text, name[1])
            found[name[1]] = _code(body, block, files)
    return found


def undefined_functions(text: str) -> list[str]:
    """Return the functions that are called and stand nowhere in the program."""
    named = dict.fromkeys(re.findall(r"(?<![\w.$])([A-Za-z_][\w.$]*)@(?:gotpcrel32|rel32)@lo", text))
    return [name for name in named if not re.search(rf"^\s*(?:\.set |\.type\s+)?{re.escape(name)}\b[:,]", text, re.M)]


def _body(text: str, kernel: str) -> str:
    begin = re.search(rf"^{re.escape(kernel)}:", text, re.MULTILINE)
    if begin is None:
        return ""
    end = re.compile(r"^\.Lfunc_end\d+:", re.MULTILINE).search(text, begin.end())
    length = _CODE_LENGTH.search(text, begin.end())
    code = text[begin.end() : end.start() if end else len(text)]
    return code + (f"\n{length[0]}" if length else "")


def _code(body: str, metadata: str, files: dict[int, str]) -> AmdCode:
    def number(key: str) -> int:
        found = re.search(rf"^    \.{key}:\s+(\d+)", metadata, re.MULTILINE)
        return int(found[1]) if found else 0

    length = _CODE_LENGTH.search(body)
    return AmdCode(
        tuple(_instructions(body, files)),
        number("vgpr_count"),
        number("agpr_count"),
        number("sgpr_count"),
        number("vgpr_spill_count"),
        number("sgpr_spill_count"),
        number("private_segment_fixed_size"),
        number("group_segment_fixed_size"),
        number("wavefront_size") or 64,
        int(length[1]) if length else None,
    )


def _instructions(body: str, files: dict[int, str]) -> Iterator[Instruction]:
    """Addresses are positions of instructions; a label has that of the instruction behind it."""
    statements: list[tuple[str, str, tuple[str, int] | None]] = []
    labels: dict[str, int] = {}
    place: tuple[str, int] | None = None
    for line in body.splitlines():
        code, _, comment = (part.strip() for part in line.partition(";"))
        location, label = _LOCATION.match(code), _LABEL.match(code)
        if location:
            name, number = files.get(int(location[1]), ""), int(location[2])
            place = (name, number) if name and number else None
        elif label:
            labels[label[1]] = len(statements)
        elif code and not code.startswith("."):
            statements += [(part.strip(), comment, place) for part in code.split(" :: ")]
    for address, (statement, comment, where) in enumerate(statements):
        yield _instruction(address, statement, comment, labels, where)


def _instruction(
    address: int, statement: str, comment: str, labels: dict[str, int], place: tuple[str, int] | None
) -> Instruction:
    opcode, _, operands = statement.partition(" ")
    family, _, rest = opcode.partition("_")
    if family == "s":
        return _scalar(address, rest, operands, labels, place)
    if family == "v":
        return _vector(address, rest, place)
    if family in ("global", "flat", "buffer", "scratch", "ds", "image"):
        return _memory(address, family, rest, comment, place)
    return Instruction(address, "move", place=place)


def _scalar(
    address: int, name: str, operands: str, labels: dict[str, int], place: tuple[str, int] | None
) -> Instruction:
    if name.startswith("cbranch"):
        return Instruction(address, OpKind.BRANCH, target=labels.get(operands.strip()), place=place)
    if name == "branch":
        return Instruction(address, "move", target=labels.get(operands.strip()), falls_through=False, place=place)
    if name in ("endpgm", "setpc_b64"):
        return Instruction(address, "move", falls_through=False, place=place)
    if name.startswith(("swappc", "call")):
        return Instruction(address, "call", function="?", place=place)
    if name.startswith("barrier"):
        # RDNA4 splits a barrier in a signal and a wait.
        return Instruction(address, "move" if name.startswith("barrier_wait") else "barrier", place=place)
    if name.startswith(("load", "buffer_load")):
        return Instruction(address, "move", "i32", 1, "constant", loads=True, memory_lanes=_words(name), place=place)
    if _SCALAR_MOVES.match(name):
        return Instruction(address, "move", place=place)
    kind = OpKind.INT_MUL if name.startswith("mul") else OpKind.INTEGER
    return Instruction(address, kind, _element(name)[0] or "i32", place=place)


def _vector(address: int, name: str, place: tuple[str, int] | None) -> Instruction:
    name = name.removeprefix("dual_")
    lanes = 2 if name.startswith("pk_") else 1
    name = name.removeprefix("pk_")
    element, is_float = _element(name)
    if _MOVES.match(name):
        return Instruction(address, "move", place=place)
    for pattern, on_floats, on_integers in _VECTOR:
        if pattern.match(name):
            kind = on_floats if is_float else on_integers
            return Instruction(address, kind, element, lanes, place=place)
    if name.startswith(("mfma", "wmma", "smfmac")):
        return Instruction(address, OpKind.FMA, element or "f32", place=place)
    return Instruction(address, OpKind.INTEGER, element if element.startswith("i") else "i32", lanes, place=place)


def _memory(address: int, family: str, name: str, comment: str, place: tuple[str, int] | None) -> Instruction:
    is_spill = bool(_SPILL.search(comment))
    space = {"global": "global", "buffer": "private", "scratch": "private", "ds": "local", "image": "image"}.get(
        family, ""
    )
    if name.startswith(("wbl2", "inv", "wbinv", "gl0_inv", "gl1_inv", "get_resinfo", "bpermute", "permute", "swizzle")):
        return Instruction(address, "move", place=place)
    stores = name.startswith(("store", "write"))
    loads = name.startswith(("load", "read", "sample", "gather4"))
    if not stores and not loads:
        return Instruction(address, "atomic", _element(name)[0] or "i32", 1, space, True, True, place=place)
    slot = (0, address if not is_spill else 0, 4) if is_spill else None
    words = _words(name) if family != "image" else 4
    return Instruction(address, "move", "i32", 1, space, loads, stores, words, place=place, slot=slot)


def _words(name: str) -> int:
    """Return how many words of 32 bits an access moves; smaller ones count as one."""
    found = _BYTES_MOVED.search(name)
    if found is None:
        return 1
    words = int(found["words"]) if found["words"] else int(found["bits"]) // 32
    return words * (2 if "2" in name.split("_", maxsplit=1)[0] else 1)


def _element(name: str) -> tuple[str, bool]:
    """Return the element's type, by the last type named, and whether it is a float."""
    found = list(_TYPE.finditer(name))
    if not found:
        return "", False
    is_float = found[-1]["kind"] in ("f", "bf")
    return f"{'f' if is_float else 'i'}{found[-1]['bits']}", is_float
