"""Texts for documents: kernels of our own, of packages and of the corpus' generator; whole, spoilt, and any bytes."""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass

from profiler.corpus.family import FAMILIES
from profiler.corpus.generate import corpus_kernel
from tests.fuzz.mutations import MUTATIONS
from tests.fuzz.sources import Sources

MOST_BYTES = 12 * 1024
_CODECS = (("utf-8", "replace"), ("utf-8", "surrogateescape"), ("latin-1", "strict"), ("utf-16-le", "surrogatepass"))


@dataclass(frozen=True)
class Texts:
    sources: Sources

    def some(self, chance: random.Random) -> str:
        return self.spoilt(chance) if chance.random() < 0.4 else self.whole(chance)

    def whole(self, chance: random.Random) -> str:
        """As it is, or with other line ends and a byte order mark."""
        if chance.random() < 0.3:
            text = _generated(chance.choice(sorted(FAMILIES)), chance.randrange(50))
        else:
            text = self.sources.draw(chance, MOST_BYTES).decode("utf-8", "replace")
        if chance.random() < 0.3:
            text = text.replace("\r\n", "\n").replace("\n", chance.choice(("\r\n", "\r", "\n\r")))
        return "\ufeff" + text if chance.random() < 0.1 else text

    def spoilt(self, chance: random.Random) -> str:
        """Mistyped, or bytes taken for text in any way."""
        data, other = self.sources.draw(chance, MOST_BYTES), self.sources.draw(chance, MOST_BYTES)
        for _ in range(chance.choice((1, 1, 2, 4))):
            data = chance.choice(MUTATIONS)(chance, data, other)[:MOST_BYTES]
        if chance.random() < 0.15:
            data = chance.randbytes(chance.randrange(2000))
        codec, errors = chance.choice(_CODECS[:3] if chance.random() < 0.9 else _CODECS)
        return data[: len(data) // 2 * 2].decode(codec, errors)


@functools.lru_cache(maxsize=256)
def _generated(family: str, seed: int) -> str:
    return corpus_kernel(FAMILIES[family], seed).source
