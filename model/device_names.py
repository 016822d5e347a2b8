"""One chip has many names: drivers put makers, trademark signs, clocks and memory sizes into them, or do not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_TRADEMARKS = re.compile(r"\((?:r|tm|c)\)|[®™]", re.IGNORECASE)
# PoCL says `cpu-haswell-Intel(R) ...` or `pthread-AMD ...`; ROCm appends `:sramecc+:xnack-`; Intel the nominal clock.
_AROUND = re.compile(
    r"^(?:pthread|basic|cpu(?:-minimal)?(?:-[a-z0-9_]+)?)-(?=\S*[ A-Z])|[:+](?:sram-?ecc|xnack).*$"
    r"|@.*$|\bwith radeon.*$|,? altivec supported|\b[\w]+-core\b|\b\d+(?:st|nd|rd|th) gen\b",
    re.IGNORECASE,
)
_MAX_Q = re.compile(r"\b(?:with )?max-q(?: design)?\b", re.IGNORECASE)
_MAKERS = frozenset(
    {"nvidia", "amd", "ati", "intel", "arm", "qualcomm", "apple", "advanced", "micro", "devices", "inc"}
    | {"corporation", "cpu", "gpu", "apu", "processor", "graphics"}
)
# What sets boards of one chip apart without changing its name: memory, plug, laptop, slice, stepping.
_VARIANT = re.compile(r"\d+gb|pcie|sxm\d*|hbm\d*e?|laptop|mobile|maxq|mig|\d+g|\d+g\.\d+gb|r\d+p\d+")


@dataclass(frozen=True, slots=True)
class SpokenName:
    """A device's name without decoration. Chips are alike where `chip` is equal; `variant` tells their boards apart."""

    chip: tuple[str, ...]
    variant: frozenset[str]


def spoken_name(name: str) -> SpokenName:
    """Read the name by which a driver, a datasheet or a person calls a device."""
    plain = _AROUND.sub(" ", _TRADEMARKS.sub(" ", name.strip()))
    words = re.findall(r"[a-z0-9.]+", _MAX_Q.sub(" maxq ", plain).lower())
    telling = [word for word in words if word not in _MAKERS]
    # "Apple M1" and "Intel Graphics" must keep something.
    chosen = telling or words
    chip = tuple(word for word in chosen if not _VARIANT.fullmatch(word))
    return SpokenName(chip or tuple(chosen), frozenset(word for word in chosen if _VARIANT.fullmatch(word)))


def named(wanted: str, names: Sequence[str]) -> list[int]:
    """Return the places in `names` of what is called `wanted`: the same words, else the chip, else the end of a name.

    So `GeForce GTX 1080` and `1080` are not the Ti, whose name holds them.
    """
    asked = spoken_name(wanted)
    if not wanted.strip():
        return []
    spoken = [spoken_name(name) for name in names]
    same_chip = [n for n, each in enumerate(spoken) if each.chip == asked.chip]
    same_board = [n for n in same_chip if spoken[n].variant == asked.variant]
    if same_board or same_chip:
        return same_board or [n for n in same_chip if spoken[n].variant >= asked.variant]
    length = len(asked.chip)
    ends = [n for n, each in enumerate(spoken) if each.chip[-length:] == asked.chip and each.variant >= asked.variant]
    return [n for n in ends if spoken[n].variant == asked.variant] or ends  # the card before its laptop variant


def platform_family(platform: str) -> str:
    """Whose compiler runs kernels there: figures of one runtime say little of another on the same chip."""
    name = platform.lower()
    families = {
        "portable computing": "pocl", "pocl": "pocl", "nvidia": "nvidia", "amd accelerated": "amd", "intel": "intel",
        "apple": "apple", "arm platform": "arm", "qualcomm": "qualcomm", "moore": "moore threads", "clover": "mesa",
        "rusticl": "mesa", "oclgrind": "oclgrind",
    }  # fmt: skip
    return next((family for word, family in families.items() if word in name), name)
