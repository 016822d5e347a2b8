"""What is open in the editor: kernels of this project, and files as long as people's are."""

from __future__ import annotations

from itertools import cycle, islice
from pathlib import Path

from tests.bench.generate import generate_file

_OWN = Path(__file__).resolve().parent.parent / "kernels"


def files(number: int) -> dict[str, str]:
    """Texts by name, no two alike; every other one is long."""
    own = [file.read_text("utf-8") for file in sorted(_OWN.glob("*.cl"))]
    short = islice(cycle(own), number)
    return {
        f"file_{place:03}.cl": f"// file {place}\n{text}" if place % 2 else generate_file(160, 4, place)
        for place, text in enumerate(short)
    }
