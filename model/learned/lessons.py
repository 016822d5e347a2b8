"""What was measured on a device, each with the question that was asked of its launch: few-shot learning is from it."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from model.learned.question import Question
from model.prediction import Quantiles

FACTS_VERSION = 3  # one more whenever facts are added, left out or come to mean something else
MOST_LESSONS = 512


@dataclass(frozen=True, slots=True)
class Lesson:
    """One measurement. `question` is packed, as it is kept: unpacked only where it is learned from.

    `family` is the generator's, of kernels of the corpus; "" of a user's own. A disturbed one was timed while others
    used the processors: it teaches nothing of the device. A user's own is never marked: nothing times it again.
    """

    question: bytes
    measured_us: float
    family: str = ""
    is_disturbed: bool = False


@dataclass(frozen=True, slots=True)
class Lessons:
    """All lessons of one device under one driver, the most important first. `version` is the same for the same ones.

    `disturbed` ones are not among them.
    """

    lessons: tuple[Lesson, ...] = ()
    version: str = ""
    disturbed: int = 0

    @classmethod
    def of(cls, lessons: Iterable[Lesson]) -> Lessons:
        """Return the first undisturbed one of each model input, at most `MOST_LESSONS`; count the others."""
        newest: dict[bytes, Lesson] = {}
        disturbed: set[bytes] = set()
        for each in lessons:
            if each.is_disturbed:
                disturbed.add(each.question)
            else:
                newest.setdefault(each.question, each)
        found = tuple(newest.values())[:MOST_LESSONS]
        digest = hashlib.sha256()
        for each in found:
            digest.update(each.question + each.measured_us.hex().encode())
        return cls(found, digest.hexdigest()[:16] if found else "", len(disturbed - newest.keys()))


_FORMER_NAMES = {"law_facts": "analytic_facts", "by_the_laws": "analytic_alone"}  # in what is stored already


def packed(question: Question) -> bytes:
    """`unpacked` reads it back unchanged. One to three kilobytes, most of them the kernel's tokens."""
    return zlib.compress(json.dumps([FACTS_VERSION, asdict(question)]).encode())


def unpacked(question: bytes) -> Question | None:
    """None where another version packed it, or where it is damaged."""
    try:
        version, plain = json.loads(zlib.decompress(question))
        fields: dict[str, Any] = {
            _FORMER_NAMES.get(name, name): tuple(v) if isinstance(v, list) else v for name, v in plain.items()
        }
        if fields.get("analytic_alone") is not None:
            fields["analytic_alone"] = Quantiles(**fields["analytic_alone"])
        return Question(**fields) if version == FACTS_VERSION else None
    except (zlib.error, ValueError, TypeError, AttributeError):
        return None
