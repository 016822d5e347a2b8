"""What is open in the editor: kernels of this project, and files as long as people's are."""

from __future__ import annotations

import re
from itertools import cycle, islice
from pathlib import Path

from tests.bench.generate import generate_file

_BODY = re.compile(r"^\{\n", re.MULTILINE)
_OWN = Path(__file__).resolve().parent.parent / "kernels"


def files(number: int) -> dict[str, str]:
    """Texts by name; every other one is long. No two kernels are alike: what is known of one that stands in several
    files is kept once, until somebody types into them."""
    own = [file.read_text("utf-8") for file in sorted(_OWN.glob("*.cl"))]
    short = islice(cycle(own), number)
    return {
        f"file_{place:03}.cl": _distinct(text, place) if place % 2 else generate_file(160, 4, place)
        for place, text in enumerate(short)
    }


def _distinct(text: str, place: int) -> str:
    first_line = f"    const int file = {place};\n"
    return f"// file {place}\n" + _BODY.sub(lambda found: found[0] + first_line, text)
