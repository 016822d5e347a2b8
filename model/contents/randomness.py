"""Random numbers that depend on a seed and an index alone, so that any of them is known without those before it."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
_Word = np.uint32 | np.uint64
_WIDEST_PRODUCT = 1 << 32  # ranges up to here are drawn from 32 bits


@dataclass(frozen=True, slots=True)
class Seed:
    """Two words of 32 bits."""

    first: int
    second: int

    @classmethod
    def of(cls, *names: str) -> Seed:
        """Return the same for the same names, in any process and on any machine."""
        digest = blake2b("\0".join(names).encode(), digest_size=8).digest()
        return cls(int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:], "little"))

    def other(self, purpose: int) -> Seed:
        """Return a seed for another stream of numbers."""
        return Seed((self.first + 0x9E3779B9 * purpose) % 2**32, (self.second ^ (0x85EBCA6B * purpose)) % 2**32)


def random_bits(indices: Array, seed: Seed) -> npt.NDArray[np.uint32]:
    """32 random bits for each index, of which the lowest 32 bits count.

    A multiply-xorshift finalizer after MurmurHash3's fmix32, with the constants of C. Wellons, "Prospecting for hash
    functions" (2018), and the second half of the seed mixed in between the rounds.
    """
    bits = indices.astype(np.uint32)
    bits *= np.uint32(0x9E3779B9)
    bits += np.uint32(seed.first)
    scratch = bits >> np.uint32(16)
    bits ^= scratch
    bits *= np.uint32(0x7FEB352D)
    bits ^= np.uint32(seed.second)
    np.right_shift(bits, np.uint32(15), out=scratch)
    bits ^= scratch
    bits *= np.uint32(0x846CA68B)
    np.right_shift(bits, np.uint32(16), out=scratch)
    bits ^= scratch
    return bits


def random_shares(indices: Array, seed: Seed) -> npt.NDArray[np.float64]:
    """Return a number in [0, 1) for each index, a multiple of 2^-32."""
    return np.multiply(random_bits(indices, seed), 2.0**-32, dtype=np.float64)


def random_below(indices: Array, width: int, seed: Seed) -> npt.NDArray[np.uint64]:
    """Return a whole number in [0, width) for each index; `width` is at most 2^64."""
    bits = random_bits(indices, seed).astype(np.uint64)
    if width <= _WIDEST_PRODUCT:
        bits *= np.uint64(width)
        bits >>= np.uint64(32)
        return bits
    more = random_bits(indices, seed.other(1)).astype(np.uint64)
    upper, lower = np.uint64(width >> 32), np.uint64(width % 2**32)
    # The upper 64 bits of (bits, more) times `width`, but for a carry of at most 2 from the lower ones.
    below = bits * upper
    below += bits * lower >> np.uint64(32)
    below += more * upper >> np.uint64(32)
    return below


def permuted(indices: Array, length: int, seed: Seed) -> npt.NDArray[np.int64]:
    """Return the place of each index in a random permutation of 0 .. length-1.

    Odd multiplications and xorshifts permute the numbers of so many bits as `length` needs; whatever lands beyond it is
    permuted again until it does not ("cycle walking": Black and Rogaway, CT-RSA 2002).
    """
    width = max(1, (length - 1).bit_length())
    kind = np.uint32 if width <= 31 else np.uint64
    rounds = [seed.other(number) for number in range(2, 5)]
    steps = [(kind((r.first | 1) % 2**width), kind(r.second % 2**width)) for r in rounds]
    mask, shift = kind(2**width - 1), kind((width + 1) // 2)
    found = _permuted_once(indices.astype(kind), steps, mask, shift)
    beyond = np.flatnonzero(found >= length)
    while len(beyond):
        again = _permuted_once(found[beyond], steps, mask, shift)
        found[beyond] = again
        beyond = beyond[again >= length]
    return found.astype(np.int64)


def _permuted_once(numbers: Array, steps: list[tuple[_Word, _Word]], mask: _Word, shift: _Word) -> Array:
    for factor, offset in steps:
        numbers *= factor
        numbers += offset
        numbers &= mask
        numbers ^= numbers >> shift
    return numbers
