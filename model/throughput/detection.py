"""Which microarchitecture a processor is of, by its vendor, its family and what it can do.

Hypervisors report models of their own making (a Sapphire Rapids as a Rocket Lake), but hardly ever the wrong
instruction sets: these decide. Sources: Intel, "Architecture Instruction Set Extensions Programming Reference",
table 1-1; AMD, "CPUID specification" and "Revision Guides" for families 17h, 19h and 1Ah.
"""

from __future__ import annotations

from collections.abc import Collection

GENERIC = "generic"
_ZEN = 0x17  # and Zen 2
_ZEN3 = 0x19  # and Zen 4
_ZEN5 = 0x1A


def microarchitecture_of(vendor: str, family: int, flags: Collection[str]) -> str:
    """Return the name in `MICROARCHITECTURES` whose tables fit best; `flags` as in Linux' /proc/cpuinfo."""
    has = set(flags)
    if vendor == "AuthenticAMD":
        if family < _ZEN:
            return GENERIC
        if family == _ZEN:
            return "zen 2" if "rdpid" in has or "clwb" in has else GENERIC  # the first Zen halves its vectors
        if family == _ZEN5:
            return "zen 5"
        return "zen 4" if "avx512f" in has else "zen 3" if family == _ZEN3 else GENERIC
    if vendor != "GenuineIntel":
        return GENERIC
    if has & {"amx_tile", "avx512_fp16"}:
        return "sapphire rapids"
    if has & {"avx512_vbmi2", "avx512_bitalg"}:
        return "ice lake"
    return "skylake" if has & {"avx512f", "avx2"} else GENERIC
