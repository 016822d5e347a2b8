"""MinHash signatures of kernels, by which near-duplicates are found without any source.

Two signatures agree in as large a share of their values, but for chance, as the sets of token sequences of the two
kernels have in common (their Jaccard similarity). Source: Broder, "On the resemblance and containment of documents",
1997; 16 bits of each value after Li and König, "b-Bit Minwise Hashing", WWW 2010.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

VALUES = 128
SHINGLE = 5  # tokens in a row
# Of the values, what near-duplicates agree in. Below 0.8 by more than the standard error of an estimate (0.035).
NEAR_SHARE = 0.75
_NEAR_VALUES = int(NEAR_SHARE * VALUES)
_SIFTED = 48  # values that are compared first: those of near-duplicates differ in 32 of all at most
_BLOCK = 512  # shingles
_CACHED = 1 << 19  # pairs that are compared at once
Words = npt.NDArray[np.uint64]
Signatures = npt.NDArray[np.uint16]  # [kernels, VALUES]

_CONSTANTS = np.frombuffer(hashlib.shake_128(b"kernelcast minhash 1").digest(16 * VALUES + 8), "<u8")
_FACTORS, _ADDENDS, _BASE = _CONSTANTS[:VALUES] | 1, _CONSTANTS[VALUES : 2 * VALUES], _CONSTANTS[-1] | 1


def signature(tokens: Sequence[str]) -> bytes:
    """256 bytes, the same on every machine."""
    hashes = _shingles(np.array([_hash(token) for token in tokens], np.uint64))
    least = np.full(VALUES, np.iinfo(np.uint64).max, np.uint64)
    for begin in range(0, len(hashes), _BLOCK):
        part = hashes[begin : begin + _BLOCK, None] * _FACTORS + _ADDENDS
        np.minimum(least, _mixed(part).min(axis=0), out=least)
    return (least & np.uint64(0xFFFF)).astype("<u2").tobytes()


def as_matrix(signatures: Sequence[bytes]) -> Signatures:
    return np.frombuffer(b"".join(signatures), "<u2").reshape(len(signatures), VALUES)


def near_pairs(left: Signatures, right: Signatures) -> Iterator[tuple[int, int]]:
    """Yield all (row of `left`, row of `right`) that are near-duplicates, by their estimated similarity."""
    # Half of each value decides what is looked at again: that is twice as fast, and loses nothing.
    halves, columns = left.astype(np.uint8), np.ascontiguousarray(right[:, :_SIFTED].astype(np.uint8).T)
    rows_at_once = max(1, _CACHED // max(1, len(right)))
    for begin in range(0, len(left), rows_at_once):
        block = left[begin : begin + rows_at_once]
        agreeing = np.zeros((len(block), len(right)), np.uint8)
        for value in range(_SIFTED):
            agreeing += halves[begin : begin + rows_at_once, value, None] == columns[value]
        rows, others = np.nonzero(agreeing >= _SIFTED - (VALUES - _NEAR_VALUES))
        near = (block[rows] == right[others]).sum(axis=1) >= _NEAR_VALUES
        for row, other in zip(rows[near].tolist(), others[near].tolist(), strict=True):
            yield begin + row, other


def first_of_their_kind(signatures: Signatures) -> npt.NDArray[np.bool_]:
    """Return which kernels are near-duplicates of none before them that is such a one itself."""
    earlier: dict[int, list[int]] = {}
    for row, other in near_pairs(signatures, signatures):
        if other < row:
            earlier.setdefault(row, []).append(other)
    first = np.ones(len(signatures), bool)
    for row in sorted(earlier):
        first[row] = not any(first[other] for other in earlier[row])
    return first


def _shingles(tokens: Words) -> Words:
    """Return a hash of every `SHINGLE` tokens in a row; a shorter kernel is one shingle."""
    if not len(tokens):
        return np.zeros(1, np.uint64)
    length = min(SHINGLE, len(tokens))
    hashes = np.zeros(len(tokens) - length + 1, np.uint64)
    for offset in range(length):
        hashes = _mixed(hashes * _BASE + tokens[offset : offset + len(hashes)])
    return np.unique(hashes)


def _mixed(values: Words) -> Words:
    """Every bit of the result depends on every bit of `values`. Source: Steele et al., SplitMix64, OOPSLA 2014."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


@lru_cache(1 << 16)
def _hash(token: str) -> int:
    return int.from_bytes(hashlib.blake2b(token.encode(), digest_size=8).digest(), "little")
