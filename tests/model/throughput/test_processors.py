"""What tables of processors say, beside each other and beside LLVM's machine code analyser where that is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import fields

import pytest

from model.compiled import InstructionCount
from model.throughput.cycles import pressure_of
from model.throughput.processors import (
    MICROARCHITECTURES,
    ByWidth,
    Microarchitecture,
    microarchitecture,
    microarchitecture_of,
)

TABLES = pytest.mark.parametrize("core", MICROARCHITECTURES.values(), ids=list(MICROARCHITECTURES))
FLAGS = ["avx2", "avx512f", "avx512_vbmi2", "avx512_fp16", "clwb", "rdpid"]
# As text for an assembler, with the register's letter and number to put in, and as an entry of a mix.
INSTRUCTIONS = {
    "vfmadd231ps %{w}mm15, %{w}mm14, %{w}mm{n}": ("fma", "f32"),
    "vaddps %{w}mm15, %{w}mm14, %{w}mm{n}": ("add", "f32"),
    "vdivps %{w}mm15, %{w}mm14, %{w}mm{n}": ("divide", "f32"),
    "vmovups {n}00(%rdi), %{w}mm{n}": ("load", "f32"),
    "vmovups %{w}mm{n}, {n}00(%rdi)": ("store", "f32"),
}
BITS = {"x": 128, "y": 256, "z": 512}


@TABLES
def test_wider_instructions_are_never_faster(core: Microarchitecture) -> None:
    for each in fields(core):
        found = getattr(core, each.name)
        if isinstance(found, ByWidth):
            slower = (found.narrow, found.middle, found.wide)
            assert list(slower) == sorted(slower, reverse=not each.name.endswith("_cycles")), each.name


@pytest.mark.parametrize("vendor", ["GenuineIntel", "AuthenticAMD", "CentaurHauls"])
@pytest.mark.parametrize("family", [6, 0x17, 0x19, 0x1A])
@pytest.mark.parametrize("known", range(len(FLAGS) + 1))
def test_whatever_is_detected_has_a_table(vendor: str, family: int, known: int) -> None:
    assert microarchitecture_of(vendor, family, FLAGS[:known]) in MICROARCHITECTURES


def test_a_processor_that_is_not_known_is_a_plain_one() -> None:
    assert microarchitecture(None) == microarchitecture("of tomorrow") == microarchitecture("generic")


@pytest.mark.skipif(shutil.which("llvm-mca") is None, reason="LLVM's machine code analyser is not installed")
@pytest.mark.parametrize(("name", "cpu"), [("skylake", "skylake-avx512"), ("ice lake", "icelake-server")])
@pytest.mark.parametrize("width", BITS)
@pytest.mark.parametrize("text", INSTRUCTIONS)
def test_an_instruction_takes_as_long_as_llvm_has_it(name: str, cpu: str, width: str, text: str) -> None:
    code = "\n".join(text.format(w=width, n=n) for n in range(10))
    done = subprocess.run(
        ["llvm-mca", f"-mcpu={cpu}", "-iterations=200"], input=code, capture_output=True, text=True, check=True
    )
    found = re.search(r"Total Cycles:\s+(\d+)", done.stdout)
    assert found is not None
    kind, element = INSTRUCTIONS[text]
    mix = [InstructionCount(kind, element, BITS[width] // 32, 1)]
    own = float(pressure_of(mix, 1, microarchitecture(name)).max())
    if (name, text[:9], width) == ("ice lake", "vmovups %", "x"):
        own *= 2  # two stores a cycle, as uops.info measured; LLVM has one
    assert own == pytest.approx(int(found[1]) / 2000, rel=0.05)
