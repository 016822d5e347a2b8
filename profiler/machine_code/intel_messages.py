"""Messages of Intel's GPUs (`send`): loads, stores, atomics and barriers, told by `iga64`'s comments.

Xe-HPG and later write `load.ugm.d32x4.a64`; what came before `untyped surface read with xyzw`. Source:
intel-graphics-compiler, `visa/iga/IGALibrary/Models`, message decoders.
"""

from __future__ import annotations

import re

from profiler.machine_code.instruction import Instruction

_REGISTER_WORDS = 8  # of 32 bits, in one register as comments count them
_LSC = re.compile(
    r"(?P<action>load|store|atomic)\w*\.(?P<port>ugml?|slm|tgm|urb)"
    r"(?:\.d(?P<bits>\d+)(?:u\d+)?(?:x(?P<vector>\d+))?(?P<transposed>t?))?"
)
_LENGTHS = re.compile(r"wr:\d+h?\+(?P<written>\d+), rd:(?P<read>\d+)")
_DESCRIPTOR = re.compile(r"0x([0-9A-Fa-f]+)(?:\s|$)")
_OLD = re.compile(r"\b(?P<action>read|write|atomic)\b")
_SLM_TABLE, _STACK_TABLE = 0xFE, 0xFF  # entries of the binding table: local memory, and memory of the thread's own
_ARGUMENTS_TABLE = 0xFD  # where the kernel's arguments lie
_ELEMENTS = {8: "i8", 16: "i16", 32: "i32", 64: "i64"}
_SPILL_SLOT = (0, 0, 4)


def message(address: int, width: int, operands: str, comment: str) -> Instruction:
    """Return what a message does; `comment` is how `iga64` describes it, `width` its number of work-items."""
    if "end of thread" in comment or "EOT" in operands:
        return Instruction(address, "move", falls_through=False)
    if "signal barrier" in comment:
        return Instruction(address, "barrier")
    lsc = _LSC.search(comment)
    if lsc is not None:
        return _load_store_cache(address, lsc, comment)
    if "sampl" in comment or "smpl" in operands:
        return Instruction(address, "move", "i32", space="image", loads=True, memory_lanes=4)
    if "fence" in comment:
        return Instruction(address, "move")
    old = _OLD.search(comment)
    if old is None:
        return Instruction(address, "move")
    return _data_port(address, width, operands, comment, old["action"])


def _load_store_cache(address: int, found: re.Match[str], comment: str) -> Instruction:
    is_whole = bool(found["transposed"])  # one block for the thread, not an element for each work-item
    on_stack = ".ss[" in comment or ".bss[" in comment
    space = {"slm": "local", "tgm": "image", "urb": ""}.get(found["port"], "global")
    if on_stack:
        space = "private"
    elif is_whole and "bti[255]" in comment:
        space = "constant"  # arguments, which the kernel begins with
    element = _ELEMENTS.get(int(found["bits"] or 32), "i32")
    if found["action"] == "atomic":
        return Instruction(address, "atomic", element, space=space, loads=True, stores=True)
    lanes = 1 if is_whole else int(found["vector"] or 1)
    return _access(address, found["action"] == "store", element, space, lanes, is_spill=is_whole and on_stack)


def _data_port(address: int, width: int, operands: str, comment: str, action: str) -> Instruction:
    """Read a message of the data port of Gen9 to Xe-LP, whose last number says which table entry it goes to."""
    numbers = _DESCRIPTOR.findall(operands)
    entry = int(numbers[-1], 16) & 0xFF if numbers else 0
    is_block = "block" in comment
    if "scratch" in comment:
        space = "private"
    elif "typed" in comment and "untyped" not in comment:
        space = "image"
    elif is_block and entry == _ARGUMENTS_TABLE:
        space = "constant"
    elif "a64" in comment:
        space = "global"
    else:
        space = {_SLM_TABLE: "local", _STACK_TABLE: "private"}.get(entry, "global")
    if action == "atomic":
        return Instruction(address, "atomic", "i32", space=space, loads=True, stores=True)
    lengths = _LENGTHS.search(comment)
    registers = int(lengths["written" if action == "write" else "read"]) if lengths else 0
    lanes = 1 if is_block or width < _REGISTER_WORDS else max(1, registers * _REGISTER_WORDS // width)
    return _access(address, action == "write", "i32", space, lanes, is_spill="scratch" in comment)


def _access(address: int, stores: bool, element: str, space: str, lanes: int, *, is_spill: bool) -> Instruction:
    return Instruction(
        address, "move", element, space=space, loads=not stores, stores=stores, memory_lanes=lanes,
        slot=_SPILL_SLOT if is_spill else None,
    )  # fmt: skip
