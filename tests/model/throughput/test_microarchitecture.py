"""Processors are told apart by what they can do: hypervisors report models of their own making."""

from __future__ import annotations

import pytest

from model.throughput.processors import microarchitecture_of

AVX512 = ["avx2", "avx512f", "avx512bw"]


@pytest.mark.parametrize(
    ("vendor", "family", "flags", "expected"),
    [
        ("GenuineIntel", 6, ["avx2"], "skylake"),
        ("GenuineIntel", 6, AVX512, "skylake"),
        ("GenuineIntel", 6, [*AVX512, "avx512_vbmi2"], "ice lake"),
        ("GenuineIntel", 6, [*AVX512, "avx512_vbmi2", "amx_tile", "avx512_fp16"], "sapphire rapids"),
        ("GenuineIntel", 6, ["sse4_2"], "generic"),
        ("AuthenticAMD", 0x17, ["avx2"], "generic"),
        ("AuthenticAMD", 0x17, ["avx2", "clwb", "rdpid"], "zen 2"),
        ("AuthenticAMD", 0x19, ["avx2"], "zen 3"),
        ("AuthenticAMD", 0x19, AVX512, "zen 4"),
        ("AuthenticAMD", 0x1A, AVX512, "zen 5"),
        ("AuthenticAMD", 0x10, [], "generic"),
        ("CentaurHauls", 6, AVX512, "generic"),
    ],
)
def test_each_generation_is_told_from_the_one_before(vendor: str, family: int, flags: list[str], expected: str) -> None:
    assert microarchitecture_of(vendor, family, flags) == expected
