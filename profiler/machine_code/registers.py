"""What an x86 instruction reads and writes: registers by their whole names, memory by how its address is written."""

from __future__ import annotations

import re

from capstone import CsInsn
from capstone.x86 import X86_OP_IMM, X86_OP_MEM, X86_OP_REG, X86_REG_RIP, X86Op

_VECTOR = re.compile(r"[xyz]mm(\d+)$")
_NUMBERED = re.compile(r"(r\d+)[dwb]?$")
_NAMED = {
    part: whole
    for whole, parts in {
        "rax": "eax ax al ah", "rbx": "ebx bx bl bh", "rcx": "ecx cx cl ch", "rdx": "edx dx dl dh",
        "rsi": "esi si sil", "rdi": "edi di dil", "rbp": "ebp bp bpl", "rsp": "esp sp spl",
    }.items()
    for part in parts.split()
}  # fmt: skip
_CONSTANT = {"mov": ("set", 1), "movabs": ("set", 1), "add": ("add", 1), "sub": ("add", -1), "cmp": ("compare", 1)}
_whole: dict[str, str] = {}


def touched(
    each: CsInsn, memory: X86Op | None, *, loads: bool, stores: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(read, written); `memory` is the operand that it loads or stores through."""
    read, written = ([whole_register(each.reg_name(r)) for r in registers] for registers in each.regs_access())
    if memory is not None and memory.mem.base != X86_REG_RIP:
        address = _address(each, memory)
        read += [address] * loads
        written += [address] * stores
    return tuple(read), tuple(written)


def whole_register(name: str) -> str:
    """`eax` is a part of `rax`, `xmm3` one of `mm3`."""
    found = _whole.get(name)
    if found is None:
        match = _VECTOR.match(name)
        numbered = _NUMBERED.match(name)
        found = f"mm{match[1]}" if match else numbered[1] if numbered else _NAMED.get(name, name)
        _whole[name] = found
    return found


def constant_of(each: CsInsn, name: str, *, is_zeroing: bool) -> tuple[str, str, int] | None:
    """Return how an instruction sets, moves on or compares a loop's counter with a constant.

    These make the length of the loop known.
    """
    operands = each.operands
    if not operands or operands[0].type != X86_OP_REG:
        return None
    register = whole_register(each.reg_name(operands[0].reg))
    if is_zeroing:
        return "set", register, 0
    if name in ("inc", "dec"):
        return "add", register, 1 if name == "inc" else -1
    second = operands[1] if len(operands) == 2 else None
    if second is None:
        return None
    if second.type == X86_OP_IMM and name in _CONSTANT:
        kind, sign = _CONSTANT[name]
        return kind, register, sign * second.imm
    if name == "test" and second.type == X86_OP_REG and second.reg == operands[0].reg:
        return "compare", register, 0
    if name == "lea" and second.type == X86_OP_MEM and not second.mem.index and second.mem.base == operands[0].reg:
        return "add", register, second.mem.disp
    return None


def _address(each: CsInsn, memory: X86Op) -> str:
    """In whole registers, so that who follows them sees where it changes."""
    place = memory.mem
    base = whole_register(each.reg_name(place.base)) if place.base else ""
    index = whole_register(each.reg_name(place.index)) if place.index else ""
    return f"[{base}+{index}*{place.scale}+{place.disp}]"
