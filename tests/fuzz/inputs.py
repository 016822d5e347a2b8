"""Inputs by number: the same seed and number give the same input, whichever others were made before."""

from __future__ import annotations

import json
import random
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.fuzz.edits import versions
from tests.fuzz.mutations import MUTATIONS
from tests.fuzz.sources import MAX_INPUT_BYTES, Sources

DEVICES = ("generic-cpu", "generic-gpu", "nvidia-h200")
KINDS = ("text", "edits")
EDITS_EVERY = 10  # every so many inputs, one is a sequence of edits
MAX_EDITED_BYTES = 12 * 1024


@dataclass(frozen=True)
class Input:
    """`versions` are given to one engine one after another; a plain text is a sequence of one."""

    kind: str
    versions: tuple[str, ...]
    device: str = DEVICES[0]
    defines: tuple[tuple[str, str], ...] = ()

    @property
    def size_bytes(self) -> int:
        return max(len(v.encode("utf-8", "surrogatepass")) for v in self.versions)

    def save(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(asdict(self), indent=1), encoding="ascii")  # surrogates stay escaped


def load(file: Path) -> Input:
    kept = json.loads(file.read_text(encoding="ascii"))
    defines = tuple((name, value) for name, value in kept["defines"])
    return Input(kept["kind"], tuple(kept["versions"]), kept["device"], defines)


def make(sources: Sources, seed: int, number: int, kinds: tuple[str, ...] = KINDS) -> Input:
    """Input `number` of `seed`."""
    chance = random.Random(f"{seed}:{number}")
    is_edited = kinds == ("edits",) or ("edits" in kinds and number % EDITS_EVERY == 0)
    most_bytes = MAX_EDITED_BYTES if is_edited else MAX_INPUT_BYTES
    text, other = sources.draw(chance, most_bytes), sources.draw(chance, 16 * 1024)
    if is_edited:
        texts = versions(chance, text, other)
    else:
        for _ in range(chance.choice((1, 1, 1, 2, 2, 4, 8))):
            text = chance.choice(MUTATIONS)(chance, text, other)
        texts = [text]
    encoding, errors = chance.choice(
        (("utf-8", "replace"), ("utf-8", "replace"), ("utf-8", "surrogateescape"), ("latin-1", "strict"))
    )
    defines = chance.choice(((), (), (), (("N", "16"),), (("n", "("), ("float", "double")), (("i", "i i"),)))
    return Input(
        "edits" if is_edited else "text",
        tuple(_fitting(t.decode(encoding, errors)) for t in texts),
        chance.choice(DEVICES),
        defines,
    )


def _fitting(text: str) -> str:
    data = text.encode("utf-8", "surrogatepass")
    return text if len(data) <= MAX_INPUT_BYTES else data[:MAX_INPUT_BYTES].decode("utf-8", "ignore")
