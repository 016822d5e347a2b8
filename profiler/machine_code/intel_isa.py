"""The machine code of Intel's GPUs, as `iga64` disassembles it, as instructions of our own.

One instruction works for up to 32 work-items of a hardware thread; where that takes two (`(16|M0)` and `(16|M16)`), the
second does for others what the first does, and is left out: what remains is what one work-item executes.

Source: Intel, "Open Source HD Graphics Programmer's Reference Manual", volumes "GPGPU" and "Instruction Set
Architecture"; intel-graphics-compiler, `visa/iga`, for the syntax and for how messages are described.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from model.work.counts import OpKind
from profiler.machine_code.instruction import Instruction
from profiler.machine_code.intel_messages import message

_LABEL = re.compile(r"^(L\d+):")
_LINE = re.compile(
    r"^\s*(?P<predicate>(?:\([^()|]*\)\s*)?)(?P<opcode>[a-z]\w*)(?P<suffix>\.(?:\(.*?\)(?=\s+\(\d)|[\w.]+))?"
    r"\s*(?:\((?P<width>\d+)\|M(?P<offset>\d+)\))?(?P<operands>.*)$"
)
_TYPE = re.compile(r":(u?[bwdq]|hf|bf|df|f)\b")
_TARGET = re.compile(r"\bL\d+\b")
_ELEMENTS = {"b": "i8", "w": "i16", "d": "i32", "q": "i64", "hf": "f16", "bf": "f16", "f": "f32", "df": "f64"}

# What an opcode does, on floats and on integers. Opcodes that are not here move values or wait.
_ARITHMETIC = {
    "mad": (OpKind.FMA, OpKind.INT_MUL), "madm": (OpKind.FMA, OpKind.INT_MUL), "mac": (OpKind.FMA, OpKind.INT_MUL),
    "dp4": (OpKind.FMA, OpKind.INT_MUL), "dp4a": (OpKind.FMA, OpKind.INT_MUL), "dpas": (OpKind.FMA, OpKind.INT_MUL),
    "dpasw": (OpKind.FMA, OpKind.INT_MUL), "mul": (OpKind.MUL, OpKind.INT_MUL), "mach": (OpKind.MUL, OpKind.INT_MUL),
    "macl": (OpKind.MUL, OpKind.INT_MUL), "add": (OpKind.ADD, OpKind.INTEGER), "add3": (OpKind.ADD, OpKind.INTEGER),
    "sel": (OpKind.SIMPLE, OpKind.INTEGER), "cmp": (OpKind.COMPARE, OpKind.INTEGER),
    "cmpn": (OpKind.COMPARE, OpKind.INTEGER), "csel": (OpKind.COMPARE, OpKind.INTEGER),
    "frc": (OpKind.SIMPLE, OpKind.SIMPLE), "lrp": (OpKind.FMA, OpKind.FMA), "pln": (OpKind.FMA, OpKind.FMA),
    "line": (OpKind.FMA, OpKind.FMA),
    **dict.fromkeys(("rndd", "rnde", "rndu", "rndz"), (OpKind.SIMPLE, OpKind.SIMPLE)),
    **dict.fromkeys(
        ("and", "or", "xor", "not", "shl", "shr", "asr", "rol", "ror", "bfn", "bfe", "bfi1", "bfi2", "bfrev", "cbit",
         "fbh", "fbl", "lzd", "addc", "subb", "avg"), (OpKind.INTEGER, OpKind.INTEGER)
    ),
}  # fmt: skip
_MATH = {"fdiv": OpKind.DIVIDE, "idiv": OpKind.INT_DIVIDE, "iqot": OpKind.INT_DIVIDE, "irem": OpKind.INT_DIVIDE}
# Where an instruction jumps when its condition holds: to its first label, or to its second (with one, to that one).
_TO_FIRST = ("if", "else", "while", "jmpi", "brd")
_TO_LAST = ("goto", "break", "cont", "halt", "brc")


@dataclass(frozen=True, slots=True)
class _Statement:
    opcode: str
    suffix: str
    is_conditional: bool
    width: int
    operands: str
    comment: str


def read_intel_isa(text: str) -> tuple[Instruction, ...]:
    """Return the instructions of one kernel; addresses are their positions, and labels have those behind them."""
    statements: list[_Statement] = []
    labels: dict[str, int] = {}
    for line in text.splitlines():
        label = _LABEL.match(line)
        if label:
            labels[label[1]] = len(statements)
            continue
        statement = _statement(line)
        if statement is not None:
            statements.append(statement)
    return tuple(_instruction(address, each, labels) for address, each in enumerate(statements))


def _statement(line: str) -> _Statement | None:
    """Return None for what is no instruction, for padding, and for other work-items' half of an instruction."""
    code, _, comment = line.partition("//")
    match = _LINE.match(code)
    if match is None or match["opcode"] in ("illegal", "nop"):
        return None
    width = int(match["width"] or 1)
    if int(match["offset"] or 0) > 0 and width > 1:
        return None
    predicate = match["predicate"].strip().strip("()").removeprefix("W").lstrip("&")
    suffix = (match["suffix"] or "").removeprefix(".")
    return _Statement(match["opcode"], suffix, bool(predicate), width, match["operands"], comment.strip())


def _instruction(address: int, statement: _Statement, labels: dict[str, int]) -> Instruction:
    opcode = statement.opcode
    if opcode in _TO_FIRST or opcode in _TO_LAST:
        return _jump(address, statement, labels)
    if opcode.startswith("send"):
        return message(address, statement.width, f"{statement.suffix} {statement.operands}", statement.comment)
    if opcode in ("call", "calla"):
        return Instruction(address, "call", function="?")
    if opcode == "ret":
        return Instruction(address, "move", falls_through=False)
    types = _TYPE.findall(statement.operands)
    element = _element(types[0]) if types else ""
    if opcode == "math":
        return Instruction(address, _MATH.get(statement.suffix, OpKind.NATIVE), element)
    if opcode in _ARITHMETIC:
        compared = next((_element(each) for each in types if each in ("f", "hf", "df", "bf")), element)
        element = compared if opcode in ("cmp", "cmpn", "csel") else element
        on_floats, on_integers = _ARITHMETIC[opcode]
        return Instruction(address, on_floats if element.startswith("f") else on_integers, element or "i32")
    if opcode == "mov" and _converts(types):
        return Instruction(address, OpKind.CONVERT, element)
    return Instruction(address, "move")


def _jump(address: int, statement: _Statement, labels: dict[str, int]) -> Instruction:
    """Return a jump; what follows it may run in any case, as the work-items of a thread diverge and reconverge."""
    named = _TARGET.findall(statement.operands)
    target = labels.get(named[0 if statement.opcode in _TO_FIRST else -1]) if named else None
    decides = statement.is_conditional or statement.opcode == "while"
    ends = statement.opcode == "jmpi" and not decides
    return Instruction(address, OpKind.BRANCH if decides else "move", target=target, falls_through=not ends)


def _converts(types: list[str]) -> bool:
    """Return whether a move changes how a number is written.

    Between floats and integers, or between widths of floats.
    """
    elements = {_element(each) for each in types[:2]}
    return len(elements) == 2 and any(each.startswith("f") for each in elements)


def _element(type_name: str) -> str:
    return _ELEMENTS.get(type_name, _ELEMENTS.get(type_name.removeprefix("u"), ""))
