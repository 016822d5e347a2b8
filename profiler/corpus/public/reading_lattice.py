"""FluidX3D's table of single-GPU benchmarks, in its README -> rows: million cells a second on hundreds of GPUs.

Only the figures and what the README says of the work (method, bytes and operations a cell, size of the cube) are used;
its source code, which may not be trained on, is not. Integrated GPUs and cards are read, CPUs are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from profiler.corpus.public.lattice import SIDE, STORAGES
from profiler.corpus.public.row import PublicRow, settings

LATTICE_SOURCE = "ProjectPhysX/FluidX3D README (figures)"
_MAKERS = {"🔴": "AMD", "🔵": "Intel", "🟢": "NVIDIA", "⚪": "Apple", "🟣": "ARM", "🟡": "Glenfly"}
_LEAST_MEMORY_GB = 2.0  # the cube takes 1.6 GB with 32-bit floats
_CPU = re.compile(
    r"\b(?:EPYC|Xeon|Core|Ryzen|Threadripper|Neoverse|Athlon|FX-\d+|Celeron|Pentium|Opteron|Cortex|CPU|\d+x)\b"
)
# Of the peak bandwidth, with 32-bit floats, which take next to no arithmetic. Below, memory was swapped or a driver
# stumbled: the same GPUs reach three times as much with 16-bit floats.
_LEAST_PERCENT = 15
# What the table calls otherwise than drivers and datasheets do; "" for a name that several chips share, or for a board
# whose memory is another than that of the board with the plain name.
_NAMES = {
    "AMD Radeon Graphics": "",
    "Apple M1 GPU 8CU 16GB": "Apple M1",
    "Apple M1 Pro GPU 16CU 16GB": "Apple M1 Pro",
    "Apple M1 Ultra GPU 64CU 128GB": "Apple M1 Ultra",
    "Apple M2 Max GPU 38CU 32GB": "Apple M2 Max",
    "Apple M2 Pro GPU 19CU 16GB": "Apple M2 Pro",
    "Apple M2 Ultra GPU 76CU 192GB": "Apple M2 Ultra",
    "Apple M5 GPU 10CU 32GB": "Apple M5",
    "Intel Arc A750 LE": "Intel Arc A750 Graphics",
    "Intel Arc A770 LE": "Intel Arc A770 Graphics",
    "Intel Arc B580 LE": "Intel Arc B580 Graphics",
    "Intel Arc Graphics": "",
    "Intel Graphics": "",
    "NVIDIA GeForce RTX 3050 6GB": "",
    "NVIDIA GeForce RTX 3060M": "NVIDIA GeForce RTX 3060 Laptop GPU",
    "NVIDIA GeForce RTX 3080 12GB": "",
    "NVIDIA PG506-243/PG506-242": "",
    "NVIDIA Tesla P100 12GB": "",
}
_APART = re.compile(r"\([^)]*\)")  # "(1 GCD)", "(Samsung S9+)": what of a card, and in what


def lattice_rows(readme: str) -> Iterator[PublicRow]:
    """Rows of the text of the README; a device that stands there twice is taken once."""
    seen: set[str] = set()
    for name, memory_gb, rates in _lines(readme):
        device = _NAMES.get(name, name)
        if device in ("", *seen) or _CPU.search(name) or memory_gb < _LEAST_MEMORY_GB:
            continue
        seen.add(device)
        for storage, million_per_s in zip(STORAGES, rates, strict=True):
            if million_per_s:
                said = settings({"storage": storage, "side": SIDE})
                yield PublicRow("lattice", device, said, (), SIDE**3 / million_per_s, None, LATTICE_SOURCE)


def _lines(readme: str) -> Iterator[tuple[str, float, list[float]]]:
    """Name, memory [GB], and million cells a second by storage; 0 where not measured, or far too slow."""
    begin = readme.find("Single-GPU/CPU Benchmark Table")
    end = readme.find("</details>", begin)
    for line in readme[max(begin, 0) : end].splitlines():
        cells = [cell.replace("&nbsp;", " ").strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 7 and cells[0][:1] in _MAKERS:
            name = " ".join(_APART.sub(" ", cells[0][1:]).replace(" / ", "/").split())
            rates = [_number(cell) for cell in cells[4:]]
            if _percent(cells[4]) < _LEAST_PERCENT:
                rates[0] = 0.0
            yield f"{_MAKERS[cells[0][:1]]} {name}", _number(cells[2]), rates


def _number(cell: str) -> float:
    found = re.match(r"[\d.]+", cell)
    return float(found[0]) if found else 0.0


def _percent(cell: str) -> float:
    """Of "193 (11%)" the 11: the share of the peak bandwidth that was reached."""
    found = re.search(r"\(\s*([\d.]+)\s*%\)", cell)
    return float(found[1]) if found else 0.0
