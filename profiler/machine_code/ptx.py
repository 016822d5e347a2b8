"""NVIDIA's intermediate code as instructions of our own. Source: "PTX ISA", version 8.5, sections 4, 5 and 9."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from model.work.counts import OpKind
from profiler.machine_code.instruction import Instruction

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_LOCATION = re.compile(r"\.loc\s+(\d+)\s+(\d+)")
_LABEL = re.compile(r"([\w$%]+)\s*:(?!:)")
_ARRAY = re.compile(r"\.(?P<space>local|shared)\b(?:\s*\.align\s+\d+)?\s*\.\w(?P<bits>\d+)\s+[\w$]+\[(?P<length>\d+)\]")
_GUARD = re.compile(r"@!?%\w+\s+")
_TYPE = re.compile(r"(?:[fusb](?P<bits>8|16|32|64|128)(?P<pair>x2)?|bf16(?P<bpair>x2)?|pred)$")
_CALLED = re.compile(r"(?:\([^)]*\)\s*,\s*)?(?P<name>[A-Za-z_$][\w$]*)")
_SPACES = {"global": "global", "shared": "local", "local": "private", "const": "constant", "param": "constant"}
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}

# By the part before the first dot: what it is on floats, and what on integers.
_ARITHMETIC: dict[str, tuple[OpKind, OpKind]] = {
    "add": (OpKind.ADD, OpKind.INTEGER), "sub": (OpKind.ADD, OpKind.INTEGER), "mul": (OpKind.MUL, OpKind.INT_MUL),
    "fma": (OpKind.FMA, OpKind.INT_MUL), "mad": (OpKind.FMA, OpKind.INT_MUL), "div": (OpKind.DIVIDE, OpKind.INT_DIVIDE),
    "rem": (OpKind.DIVIDE, OpKind.INT_DIVIDE), "rcp": (OpKind.DIVIDE, OpKind.INT_DIVIDE),
    "sqrt": (OpKind.SQRT, OpKind.INTEGER), "setp": (OpKind.COMPARE, OpKind.INTEGER),
    "set": (OpKind.COMPARE, OpKind.INTEGER), "testp": (OpKind.COMPARE, OpKind.INTEGER),
    **dict.fromkeys(("min", "max", "abs", "neg", "copysign"), (OpKind.SIMPLE, OpKind.INTEGER)),
    **dict.fromkeys(("rsqrt", "sin", "cos", "lg2", "ex2", "tanh"), (OpKind.NATIVE, OpKind.INTEGER)),
    **dict.fromkeys(("mul24", "mad24", "madc", "dp2a", "dp4a"), (OpKind.INT_MUL, OpKind.INT_MUL)),
}  # fmt: skip
_INTEGER = frozenset(
    {"addc", "subc", "and", "or", "xor", "not", "cnot", "shl", "shr", "shf", "lop3", "bfe", "bfi", "prmt", "popc",
     "clz", "brev", "bfind", "sad", "fns", "szext", "bmsk", "selp", "slct"}
)  # fmt: skip
_APPROXIMATE = frozenset({"rcp", "sqrt", "div"})  # as `native_recip` and its like: one instruction
_ENDS = frozenset({"ret", "exit", "trap"})


@dataclass(frozen=True, slots=True)
class PtxCode:
    """One kernel. Private bytes are arrays of each work-item (`.local`), local ones are of a group (`.shared`)."""

    instructions: tuple[Instruction, ...]
    private_bytes: int
    local_bytes: int


def read_ptx(text: str, kernel: str) -> PtxCode | None:
    """None if the text has no kernel of that name."""
    plain = _COMMENT.sub(" ", text)
    entry = re.search(rf"\.entry\s+{re.escape(kernel)}\b", plain)
    body = _body(plain, entry.end()) if entry else None
    if body is None:
        return None
    files = {int(number): name.replace("\\", "/").rsplit("/", 1)[-1] for number, name in _FILE.findall(plain)}
    sizes = {"local": 0, "shared": 0}
    for found in _ARRAY.finditer(body):
        sizes[found["space"]] += int(found["bits"]) // 8 * int(found["length"])
    return PtxCode(tuple(_instructions(body, files)), sizes["local"], sizes["shared"])


def _body(text: str, after: int) -> str | None:
    begin = text.find("{", after)
    depth = 0
    for at in range(begin, len(text)) if begin >= 0 else ():
        depth += (text[at] == "{") - (text[at] == "}")
        if depth == 0:
            return text[begin + 1 : at]
    return None


def _instructions(body: str, files: dict[int, str]) -> Iterator[Instruction]:
    """Addresses are positions of statements; a label has that of the statement behind it."""
    statements: list[tuple[str, tuple[str, int] | None]] = []
    labels: dict[str, int] = {}
    place: tuple[str, int] | None = None
    for piece in _pieces(body):
        location = _LOCATION.match(piece)
        label = _LABEL.match(piece)
        if location:
            name, line = files.get(int(location[1]), ""), int(location[2])
            place = (name, line) if name and line else None
        elif label and label.end() == len(piece):
            labels[label[1]] = len(statements)
        elif not piece.startswith("."):
            statements.append((piece, place))
    for address, (statement, where) in enumerate(statements):
        yield _instruction(address, statement, labels, where)


def _pieces(body: str) -> Iterator[str]:
    """Statements, labels and `.loc` lines. Blocks stand only around calls and tell nothing."""
    for line in re.split(r"[;\n]|(?<=[\w$]:)(?=\s)", _joined(body)):
        piece = line.strip().strip("{}").strip() if line.strip() in ("{", "}") else line.strip()
        if piece:
            yield piece


def _joined(body: str) -> str:
    """Return each statement on one line: those of calls are written on several."""
    lines: list[str] = []
    is_open = False
    for line in (raw.strip() for raw in body.splitlines()):
        if is_open:
            lines[-1] += " " + line
        else:
            lines.append(line)
        alone = line in ("", "{", "}") or line.startswith(".loc") or line.endswith(":")
        is_open = (is_open or not alone) and not line.endswith(";")
    return "\n".join(lines)


def _instruction(address: int, statement: str, labels: dict[str, int], place: tuple[str, int] | None) -> Instruction:
    guard = _GUARD.match(statement)
    rest = statement[guard.end() :] if guard else statement
    opcode, _, operands = rest.partition(" ")
    parts = opcode.split(".")
    name, modifiers = parts[0], parts[1:]
    element, lanes = _element(modifiers)
    if name in ("bra", "brx"):
        return Instruction(
            address, OpKind.BRANCH if guard else "move", target=labels.get(operands.strip()),
            falls_through=guard is not None, place=place,
        )  # fmt: skip
    if name in _ENDS:
        return Instruction(address, "move", falls_through=guard is not None, place=place)
    if name == "call":
        called = _CALLED.match(operands.strip())
        return Instruction(address, "call", function=called["name"] if called else "?", place=place)
    if name in ("ld", "ldu", "st", "tex", "tld4", "suld", "sust"):
        is_image = name in ("tex", "tld4", "suld", "sust")
        space = "image" if is_image else next((_SPACES[m] for m in modifiers if m in _SPACES), "")
        width = lanes * next((_VECTORS[m] for m in modifiers if m in _VECTORS), 1)
        stores = name in ("st", "sust")
        return Instruction(address, "move", element, 1, space, not stores, stores, width, place=place)
    if name in ("atom", "red"):
        space = next((_SPACES[m] for m in modifiers if m in _SPACES), "")
        return Instruction(address, "atomic", element, 1, space, loads=True, stores=True, place=place)
    if name == "bar" or (name == "barrier" and "cluster" not in modifiers):
        return Instruction(address, "barrier", place=place)
    return Instruction(address, _kind(name, modifiers, element), element, lanes, place=place)


def _kind(name: str, modifiers: list[str], element: str) -> str:
    is_float = element.startswith("f")
    if is_float and name in _APPROXIMATE and "approx" in modifiers:
        return OpKind.NATIVE
    if name in _ARITHMETIC:
        return _ARITHMETIC[name][0 if is_float else 1]
    if name in _INTEGER:
        return OpKind.INTEGER
    return OpKind.CONVERT if name == "cvt" else "move"


def _element(modifiers: list[str]) -> tuple[str, int]:
    """Return the element type and lanes: of the last type, that of the sources, which decides what it does."""
    found = [m for m in (_TYPE.match(part) for part in modifiers) if m]
    if not found:
        return "", 1
    last = found[-1]
    if last[0] == "pred":
        return "i1", 1
    bits = last["bits"] or "16"
    lanes = 2 if last["pair"] or last["bpair"] else 1
    return f"{'f' if last[0][0] == 'f' or last[0].startswith('bf') else 'i'}{bits}", lanes
