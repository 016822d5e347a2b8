"""The sources' CSV files -> rows, and a choice among these that is small enough to keep."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from profiler.corpus.public import convolution, dedispersion, gemm, pnpoly
from profiler.corpus.public.row import PublicRow, Settings, settings

TUNED_SOURCE = "AutoTuningAssociation/benchmark_hub (MIT)"
VECTOR_SOURCE = "sitar-lab/NeuSight (MIT)"
# Macros that change what is run; the others are the same in all rows, or only say how to read the image (`read_only`
# asks for a cache that compilers choose by themselves where pointers are `restrict`).
_MACROS: Mapping[str, tuple[str, ...]] = {
    "gemm": gemm.MACROS,
    "convolution": (*convolution.MACROS, "read_only"),
    "dedispersion": dedispersion.MACROS,
    "pnpoly": pnpoly.MACROS,
}
# Campaigns from before there was a choice: the filter's tile always went through local memory.
_WHERE_NOT_SAID = {"use_shmem": "1"}
# Measured twice: once more under other clocks, and the same file under another name.
_OLDER_CAMPAIGNS = ("KernelTuner data/convolution_milo/a4000.json", "A6000_original.json")
_VARIANTS = {"softmax_warp_forward": "registers", "cunn_SoftMaxForwardSmem": "local", "cunn_SoftMaxForward<": "groups"}


def tuned_rows(path: Path) -> Iterator[PublicRow]:
    """Kernel Tuner's configurations that ran; those that did not build or launch are left out."""
    for row in _csv(path):
        if row["flag"] or any(name in row["source_file"] for name in _OLDER_CAMPAIGNS):
            continue
        defines = json.loads(row["defines"])
        median, spread = float(row["time_ms_median"]), row["time_ms_std"]
        yield PublicRow(
            row["kernel"],
            row["device"],
            tuned_settings(row["kernel"], defines),
            (),
            1000 * median,
            100 * float(spread) / median if spread else None,
            TUNED_SOURCE,
        )


def tuned_settings(kernel: str, defines: Mapping[str, object]) -> Settings:
    """Return the macros that change what is run. Raises KeyError for a kernel that is none of ours."""
    return settings({macro: defines.get(macro, _WHERE_NOT_SAID.get(macro, 0)) for macro in _MACROS[kernel]})


def vector_rows(path: Path) -> Iterator[PublicRow]:
    """NeuSight's elementwise operations, softmax and layer normalisation."""
    for row in _csv(path):
        operation = row["OPName"]
        shape = {"rows": int(row["B"]), "columns": int(row["H"])}
        lanes, lines = int(row["Block x"]), int(row["Block y"])
        chosen: dict[str, object] = {"lanes": lanes, "lines": lines}
        family = "elementwise"
        said: dict[str, object] = dict(shape)
        if operation == "softmax":
            family = "softmax"
            chosen["variant"] = next(v for name, v in _VARIANTS.items() if name in row["short_kernel"])
        elif operation == "ln":
            family = "layer_norm"
        else:
            said["operation"], chosen = operation, {"group": lanes}
        yield PublicRow(
            family, row["Device"], settings(said), settings(chosen), 1000 * float(row["Latency"]), None, VECTOR_SOURCE
        )


def chosen(rows: Iterable[PublicRow], most: int = 500) -> list[PublicRow]:
    """About `most` rows of each family and device, the same launches on all devices as far as they have them.

    Drawn by a hash, so that the choice does not depend on the order; what one device's choice holds is kept for all.
    """
    of_device: dict[tuple[str, str], dict[Settings, PublicRow]] = defaultdict(dict)
    for row in rows:
        of_device[row.family, row.device].setdefault(row.settings, row)
    keys = {
        (family, key)
        for (family, _), found in of_device.items()
        for key in sorted(found, key=_order)[: most if len(found) > most else len(found)]
    }
    kept = (row for found in of_device.values() for row in found.values() if row.key in keys)
    return sorted(kept, key=lambda row: (row.family, row.device, row.settings))


def _order(key: Settings) -> bytes:
    return hashlib.sha256(repr(key).encode()).digest()


def _csv(path: Path) -> Iterator[dict[str, str]]:
    opened: Callable[[Path], bytes] = Path.read_bytes
    content = opened(path)
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    yield from csv.DictReader(io.StringIO(text, newline=""))
