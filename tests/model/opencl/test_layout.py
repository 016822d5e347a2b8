"""Where a compiler puts the members of structs and unions, and how much room types take: held against PoCL."""

from __future__ import annotations

import pickle
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from model.opencl.builtin_types import BUILTIN_TYPE_NAMES, builtin_type
from model.opencl.program import Program, read_program
from model.opencl.types import ScalarType, VectorType
from tests.model.opencl.compiler.asking import Question, answered

STRUCTS = 120
SEED = 3

_SCALARS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double", "bool", "size_t")


class Author:
    """Writes random struct and union types, each of which may hold those before it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.written: list[tuple[str, list[str]]] = []  # the tags, and the names of the members
        self.lines = [
            "#define WIDE 32",
            "typedef float4 colour_t;",
            "typedef int row_t[3];",
            "typedef float quad_t __attribute__((ext_vector_type(4)));",
            "typedef short far_t __attribute__((aligned(32)));",
            "typedef float4 near_t __attribute__((aligned(4)));",
            "enum kind { POINT, LINE = 7, AREA };",
            "enum wide { LITTLE, MUCH = 0x1ffffffff };",
        ]

    def one_of(self, *choices: Callable[[], str]) -> str:
        return self.random.choice(choices)()

    def struct(self) -> None:
        number = len(self.written)
        tag, names, lines = f"s{number}", list[str](), list[str]()
        is_union = self.random.random() < 0.2
        for each in range(self.random.randint(1, 6)):
            if self.random.random() < 0.12:
                inner = [f"m{each}_{i}" for i in range(self.random.randint(1, 3))]
                said = " ".join(self.member(name) for name in inner)
                keyword = self.random.choice(("struct", "union"))
                lines.append(f"{keyword} {{ {said} }} {self.attribute(0.1)};")
                names += inner
            else:
                names.append(f"m{each}")
                lines.append(self.member(f"m{each}"))
        before, behind = self.random.choice(((self.of_all(), ""), ("", self.of_all())))
        keyword = "union" if is_union else "struct"
        typedef = self.random.random() < 0.3
        head, tail = ("typedef ", f" t{number}") if typedef else ("", "")
        self.lines.append(f"{head}{keyword} {before} {tag} {{ {' '.join(lines)} }} {behind}{tail};")
        self.written.append((f"{keyword} {tag}", names))

    def member(self, name: str) -> str:
        kind = self.kind()
        array = self.random.choice(("", "", "", "[3]", "[2][5]", "[sizeof(float4)]", "[AREA]"))
        if "far_t" in kind or "near_t" in kind:  # of which there are no arrays
            array = ""
        first, last = self.random.choice(((self.attribute(), ""), ("", self.attribute())))
        return f"{first} {kind} {name}{array} {last};"

    def kind(self) -> str:
        scalar = partial(self.random.choice, _SCALARS)
        return self.one_of(
            scalar,
            lambda: (
                f"{self.random.choice([s for s in _SCALARS if s not in ('bool', 'size_t')])}"
                f"{self.random.choice((2, 3, 4, 8, 16))}"
            ),
            lambda: f"{self.random.choice(('__global', '__local', ''))} {scalar()} *",
            lambda: self.random.choice(("colour_t", "row_t", "quad_t", "far_t", "near_t", "enum kind", "enum wide")),
            lambda: self.random.choice(("unsigned char", "long int", "unsigned long", "signed", "unsigned")),
            lambda: self.random.choice(self.written)[0] if self.written else "int",
        )

    def attribute(self, share: float = 0.25) -> str:
        if self.random.random() > share:
            return ""
        said = ("aligned(8)", "aligned(64)", "aligned(WIDE)", "aligned", "packed", "packed, aligned(2)",
                "__aligned__(sizeof(int) * 4)", "aligned(1)")  # fmt: skip
        return f"__attribute__(({self.random.choice(said)}))"

    def of_all(self) -> str:
        said = ("packed", "__packed__", "aligned(32)", "packed, aligned(4)", "aligned(2)", "aligned")
        return f"__attribute__(({self.random.choice(said)}))" if self.random.random() < 0.3 else ""

    def questions(self) -> Iterator[str]:
        for tag, names in self.written:
            yield f"sizeof({tag})"
            yield f"__alignof__({tag})"
            yield from (f"__builtin_offsetof({tag}, {name})" for name in names)


@pytest.mark.device
def test_random_structs_are_laid_out_as_the_compiler_does() -> None:
    author = Author(SEED)
    for _ in range(STRUCTS):
        author.struct()
    text = "\n".join(author.lines)
    (said,) = answered(Question(text, tuple(author.questions())))
    program = read_program(text)
    differing = [
        f"{author.lines[-STRUCTS + number]}\n  {found} instead of {wanted}"
        for number, (tag, names) in enumerate(author.written)
        if (found := _layout(program, tag, names)) != (wanted := [v for k, v in said.items() if _asks_of(k, tag)])
    ]
    assert differing == [], "\n".join(differing)


def _asks_of(question: str, tag: str) -> bool:
    return question.endswith(f"({tag})") or f"({tag}," in question


def _layout(program: Program, tag: str, names: list[str]) -> list[int]:
    struct = program.names.tags[tag.split()[1]]
    offsets = dict(zip((name for name, _ in struct.members), struct.offsets(), strict=True))
    return [struct.size_bytes, struct.align_bytes, *(offsets[name] for name in names)]


@pytest.mark.device
def test_built_in_types_take_as_much_room_as_the_compiler_gives_them() -> None:
    spelled = ["long int", "unsigned", "short int", "signed char", "uchar3 *"]
    taken = [name for name in sorted(BUILTIN_TYPE_NAMES) if isinstance(builtin_type(name), ScalarType | VectorType)]
    # Some programs bring the names of fixed width with them, and PoCL's CPUs have no half.
    names = [name for name in [*taken, *spelled] if not re.fullmatch(r"u?int\d+_t|(atomic_)?half\d*", name)]
    (said,) = answered(Question("", tuple(f"sizeof({name})" for name in names)))
    lines = (f"__constant int size_{number} = sizeof({name});" for number, name in enumerate(names))
    constants = read_program("\n".join(lines)).names.constants
    assert {name: constants.get(f"size_{n}") for n, name in enumerate(names)} == {
        name: said[f"sizeof({name})"] for name in names
    }


def test_a_member_of_an_unnamed_union_is_spoken_of_as_one_of_the_struct_around_it() -> None:
    struct = read_program("struct s { int a; union { long b; float2 c; char d; }; int e; };").names.tags["s"]
    names = [name for name, _ in struct.members]
    assert dict(zip(names, struct.offsets(), strict=True)) == {"a": 0, "b": 8, "c": 8, "d": 8, "e": 16}
    assert struct.size_bytes == 24


def test_attributes_of_a_member_are_not_those_of_the_struct_or_of_what_follows() -> None:
    names = read_program(
        "struct a { char c; int i __attribute__((packed)); }; "
        "struct b { char c; int i; }; struct __attribute__((packed)) c { char c; int i; };"
    ).names
    assert [names.tags[tag].size_bytes for tag in "abc"] == [5, 8, 5]


def test_an_alignment_may_be_an_expression_with_macros_and_enumerators() -> None:
    text = "#define N 4\nenum { M = 8 }; struct s { int i; char c __attribute__((aligned(N * M))); };"
    assert read_program(text).names.tags["s"].offsets() == (0, 32)


def test_structs_of_structs_of_structs_are_measured_once_each() -> None:
    lines = ["struct s0 { char a; int b; };", *(f"struct s{n} {{ struct s{n - 1} a, b; }};" for n in range(1, 50))]
    assert read_program("\n".join(lines)).names.tags["s49"].size_bytes == 8 << 49


def test_a_type_is_the_same_after_a_journey_to_another_process() -> None:
    text = "struct s { int a; union { long b; }; char c __attribute__((aligned(64))); };"
    struct = read_program(text).names.tags["s"]
    code = (
        "import pickle, sys; from model.opencl.program import read_program; "
        "sent = pickle.load(sys.stdin.buffer); text = sys.argv[1]; "
        "sys.exit({sent: 0}.get(read_program(text).names.tags['s'], 1))"
    )
    done = subprocess.run([sys.executable, "-c", code, text], input=pickle.dumps(struct), check=False)
    assert done.returncode == 0
