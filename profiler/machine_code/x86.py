"""x86-64 machine code as instructions of our own. Source: Intel's Software Developer's Manual, volume 2."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

from capstone import CS_ARCH_X86, CS_GRP_CALL, CS_GRP_JUMP, CS_GRP_RET, CS_MODE_64, Cs, CsInsn
from capstone.x86 import X86_OP_IMM, X86_OP_MEM, X86_OP_REG, X86_REG_RIP, X86_REG_RSP, X86Op

from model.work.counts import OpKind
from profiler.machine_code.instruction import Instruction
from profiler.machine_code.registers import constant_of, touched

_FLOAT_BITS = {"ps": 32, "ss": 32, "pd": 64, "sd": 64, "ph": 16, "sh": 16}
_FLOAT = re.compile(r"v?(?P<op>[a-z0-9]*?)(?P<suffix>[ps][sdh])$")
_FLOAT_KINDS = (
    (re.compile(r"fn?m(?:add|sub|addsub|subadd)\d{3}$"), OpKind.FMA),
    (re.compile(r"(?:add|sub|addsub|hadd|hsub)$"), OpKind.ADD),
    (re.compile(r"(?:mul|dp)$"), OpKind.MUL),
    (re.compile(r"div$"), OpKind.DIVIDE),
    (re.compile(r"sqrt$"), OpKind.SQRT),
    (re.compile(r"r(?:cp|sqrt)(?:14|28)?$"), OpKind.NATIVE),
    (re.compile(r"(?:u?comi|cmp\w*)$"), OpKind.COMPARE),
    (re.compile(r"(?:min|max|round|rndscale|reduce|range|getexp|getmant|scalef|fixupimm)$"), OpKind.SIMPLE),
    (re.compile(r"(?:and|andn|or|xor)$"), OpKind.SIMPLE),  # fabs, copysign
)  # fmt: skip
_INT_BITS = {"b": 8, "w": 16, "d": 32, "q": 64}
_PACKED = re.compile(r"v?p(?P<op>[a-z0-9]+)$")
_PACKED_MUL = re.compile(r"(?:mul|madd)")
_PACKED_INTEGER = re.compile(
    r"(?:add|sub|and|andn|or|xor|sll|srl|sra|rol|ror|shld|shrd|cmp|test|min|max|abs|sign|avg|sad|lzcnt|popcnt|ternlog)"
)
_PACKED_CONVERT = re.compile(r"(?:mov[sz]x|movu?s?[qdw][bwd]$|ack)")
_GATHER = re.compile(r"vp?gather[dq](?P<element>ps|pd|d|q)$")
_SCATTER = re.compile(r"vp?scatter[dq](?P<element>ps|pd|d|q)$")
_SHUFFLE = re.compile(
    r"v?(?:p?(?:perm|shuf|unpck|blend|align|insr?|extr|broadcast|compress|expand|movmsk)|mov(?:[lh]|d$|q$|s[lh]dup|ddup)|insert|extract"
    r"|broadcast|compress|expand|k(?:mov|ortest|shift|unpck|and|or|xor|not|test)|pmov[bwdq]2m|pmovm2|vzero)"
)
_INTEGER = frozenset(
    {"add", "adc", "adcx", "adox", "sub", "sbb", "inc", "dec", "neg", "not", "and", "andn", "or", "xor", "shl",
     "sal", "shr", "sar", "shld", "shrd", "shlx", "shrx", "sarx", "rol", "ror", "rorx", "lea", "cmp", "test", "bt",
     "bts", "btr", "btc", "bsf", "bsr", "tzcnt", "lzcnt", "popcnt", "blsr", "blsi", "blsmsk", "bextr", "bzhi", "pdep",
     "pext", "bswap"}
)  # fmt: skip
_CONVERT = frozenset({"movsx", "movsxd", "movzx", "cbw", "cwde", "cdqe", "cwd", "cdq", "cqo"})
_NO_MEMORY = frozenset({"lea", "nop"})
_READS_FIRST = frozenset(
    {"cmp", "test", "bt", "ucomiss", "ucomisd", "vucomiss", "vucomisd", "comiss", "comisd", "vcomiss", "vcomisd"}
)
_REGISTER = re.compile(r"([xyz])mm(\d+)$")
_REGISTER_BITS = {"x": 128, "y": 256, "z": 512}


@dataclass(frozen=True, slots=True)
class Section:
    """Code, with what a linker would put in: symbols of calls and addresses by the offset where they go."""

    code: bytes
    symbols: Mapping[int, str]  # of functions, by their offset
    relocations: Mapping[int, str]
    places: Mapping[int, tuple[str, int] | None]  # by the offset where a line's code begins


def disassemble(section: Section, start: int, size: int) -> tuple[Instruction, ...]:
    """Return the instructions of one function. Bytes that are none are skipped."""
    reader = Cs(CS_ARCH_X86, CS_MODE_64)
    reader.detail = True
    reader.skipdata = True
    return tuple(_instructions(reader.disasm(section.code[start : start + size], start), section, start + size))


def _instructions(read: Iterable[CsInsn], section: Section, end: int) -> Iterator[Instruction]:
    held: dict[int, str] = {}  # symbols whose address a register was given
    frame = {X86_REG_RSP}  # and copies of it, which compilers keep where the stack is aligned anew
    place: tuple[str, int] | None = None
    for each in read:
        place = section.places.get(each.address, place)
        if each.id == 0:  # skipped bytes
            continue
        symbol = _relocated(each, section)
        if symbol and each.mnemonic == "movabs":
            held[each.operands[0].reg] = symbol
        if each.mnemonic == "mov" and [o.reg for o in each.operands if o.type == X86_OP_REG][1:] == [X86_REG_RSP]:
            frame.add(each.operands[0].reg)
        yield _read(each, place, _called(each, section, symbol, held), end, frame)


def _relocated(each: CsInsn, section: Section) -> str:
    found = (section.relocations.get(each.address + offset) for offset in range(1, each.size))
    return next((symbol for symbol in found if symbol), "")


def _called(each: CsInsn, section: Section, symbol: str, held: Mapping[int, str]) -> str:
    if not each.group(CS_GRP_CALL):
        return ""
    if symbol:
        return symbol
    operand = each.operands[0]
    if operand.type == X86_OP_REG:
        return held.get(operand.reg, "")
    # Intel's runtime reads and writes images through a table of functions.
    return section.symbols.get(operand.imm, "") if operand.type == X86_OP_IMM else "(through a pointer)"


def _read(each: CsInsn, place: tuple[str, int] | None, called: str, end: int, frame: Container[int]) -> Instruction:
    name = each.mnemonic.rsplit(" ", 1)[-1]  # `lock add`, `rep stosq`
    if each.group(CS_GRP_CALL):
        return Instruction(
            each.address, "call", function=called or "?", place=place, reads=("mm0",), writes=("mm0", "rax")
        )
    if each.group(CS_GRP_RET) or name in ("ud2", "hlt"):
        return Instruction(each.address, "move", falls_through=False, place=place)
    if each.group(CS_GRP_JUMP):
        operand = each.operands[0]
        inside = operand.type == X86_OP_IMM and operand.imm < end
        kind = "move" if name == "jmp" else OpKind.BRANCH
        return Instruction(
            each.address, kind, target=operand.imm if inside else None, falls_through=name != "jmp", place=place
        )
    return _computing(each, name, place, frame)


def _computing(each: CsInsn, name: str, place: tuple[str, int] | None, frame: Container[int]) -> Instruction:
    registers = [each.reg_name(o.reg) for o in each.operands if o.type == X86_OP_REG]
    vectors = tuple(f"mm{m[2]}" for r in registers if (m := _REGISTER.match(r)))
    bits = max((_REGISTER_BITS[m[1]] for r in registers if (m := _REGISTER.match(r))), default=0)
    kind, element, lanes = _meaning(name, each, bits)
    is_zeroing = len(registers) > 1 and len(set(registers)) == 1 and name.removeprefix("v").startswith(("xor", "pxor"))
    if is_zeroing:
        kind = "move"
    loads = stores = False
    space, slot = "", None
    memory = next((o for o in each.operands if o.type == X86_OP_MEM), None)
    if memory is not None and name not in _NO_MEMORY and not name.startswith("prefetch"):
        is_first = each.operands[0].type == X86_OP_MEM
        stores = is_first and name not in _READS_FIRST
        loads = not is_first or name in _READS_FIRST or kind in (OpKind.INTEGER, "atomic")
        space, slot = _where(memory, frame)
    if each.mnemonic.startswith("lock") or (name.startswith(("xchg", "cmpxchg", "xadd")) and memory is not None):
        kind = "atomic"
    reads, writes = touched(each, memory if loads or stores else None, loads=loads, stores=stores)
    return Instruction(
        each.address, kind, element, lanes, space, loads, stores, _memory_lanes(name, lanes, bits),
        place=place, vector_registers=vectors, slot=slot, motion=_motion(name, memory) if kind == "move" else "",
        reads=() if is_zeroing else reads, writes=writes, constant=constant_of(each, name, is_zeroing=is_zeroing),
    )  # fmt: skip


def _where(memory: X86Op, frame: Container[int]) -> tuple[str, tuple[int, int, int] | None]:
    """Compilers keep spilled values at fixed offsets from the stack's pointer, and a work-item's arrays at others."""
    if memory.mem.base == X86_REG_RIP:
        return "constant", None
    if memory.mem.base in frame:
        return "private", None if memory.mem.index else (memory.mem.base, memory.mem.disp, memory.size)
    return "", None


def _motion(name: str, memory: X86Op | None) -> str:
    if _GATHER.match(name):
        return "gather"
    if _SCATTER.match(name):
        return "scatter"
    if memory is not None and "broadcast" in name:
        return ""
    return "shuffle" if _SHUFFLE.match(name) else ""


def _memory_lanes(name: str, lanes: int, bits: int) -> int:
    if "broadcast" in name:  # one load for all lanes
        return max(1, bits // 32)
    return lanes


def _meaning(name: str, each: CsInsn, bits: int) -> tuple[str, str, int]:
    """Kind, element and elements side by side."""
    if found := _GATHER.match(name) or _SCATTER.match(name):
        element, width = _element_of(found["element"])
        return "move", element, max(1, bits // width)
    if name in _INTEGER or name.startswith(("cmov", "set")):
        return OpKind.INTEGER, f"i{each.operands[0].size * 8}" if each.operands else "i32", 1
    if name in ("imul", "mul", "mulx"):
        return OpKind.INT_MUL, f"i{each.operands[0].size * 8}", 1
    if name in ("idiv", "div"):
        return OpKind.INT_DIVIDE, f"i{each.operands[0].size * 8}", 1
    if name in _CONVERT:
        return OpKind.CONVERT, "i64", 1
    if name.removeprefix("v").startswith("cvt"):
        return OpKind.CONVERT, "f32", max(1, bits // 32) if re.search(r"[pd][sdqh]|ph", name[3:]) else 1
    return _vector_meaning(name, bits)


def _vector_meaning(name: str, bits: int) -> tuple[str, str, int]:
    if (found := _FLOAT.match(name)) and bits:
        width, is_packed = _FLOAT_BITS[found["suffix"]], found["suffix"][0] == "p"
        kind: str = next((kind for pattern, kind in _FLOAT_KINDS if pattern.match(found["op"])), "move")
        return kind, f"f{width}", bits // width if is_packed else 1
    if (found := _PACKED.match(name)) and bits:
        width = _INT_BITS.get(name[-1], 32)
        lanes = bits // width
        if _PACKED_MUL.match(found["op"]):
            return OpKind.INT_MUL, f"i{width}", lanes
        if _PACKED_CONVERT.match(found["op"]):
            return OpKind.CONVERT, f"i{width}", lanes
        if _PACKED_INTEGER.match(found["op"]):
            return OpKind.INTEGER, f"i{width}", lanes
        return "move", f"i{width}", lanes
    if name.startswith(("movdq", "vmovdq", "vlddqu", "vmovnt", "movnt")):
        return "move", "i32", max(1, bits // 32)
    if name.removeprefix("v").startswith(("movd", "movq")):
        return "move", "i64", 1
    return "move", "i32", max(1, bits // 32)


def _element_of(suffix: str) -> tuple[str, int]:
    return (
        (f"f{_FLOAT_BITS[suffix]}", _FLOAT_BITS[suffix])
        if suffix in _FLOAT_BITS
        else (f"i{_INT_BITS[suffix]}", _INT_BITS[suffix])
    )
