"""The facts of all launches of the dataset as Parquet, beside it: numbers alone, rounded to a thousandth and less."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from model.learned.launch_facts import LAUNCH_FACT_NAMES
from model.learned.question import ANALYTIC_FACT_NAMES
from profiler.corpus.dataset.columns import DatasetError
from profiler.corpus.facts.counting import Counted

LAUNCHES, ANALYTIC = "launch_facts.parquet", "analytic_facts.parquet"
SCHEMA_VERSION = 1  # one more whenever facts come to mean something else
_METADATA = b"kernelcast"
_KEPT_BITS = 11  # of the 23 after the point: 0.05 %, far below any noise
_LAUNCH, _ANALYTIC = (
    tuple(f"{at}.{name}" for at, name in enumerate(names)) for names in (LAUNCH_FACT_NAMES, ANALYTIC_FACT_NAMES)
)
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """Launch facts [launches, facts], where each stands by (device, kernel, launch key), and times by such."""

    launch: Floats
    place: dict[tuple[str, str, str], int]
    analytic: dict[tuple[str, str, str], Floats]


def write_facts(folder: Path, counted: Iterable[Counted], *, adds: bool = False) -> int:
    """Write the facts of launches, to what stands there where it `adds`; return how many launches were given.

    Raises DatasetError where facts of another version stand there.
    """
    counted = list(counted)
    if adds and not counted:
        return 0
    named: list[tuple[str, str, list[str]]] = []
    facts: list[tuple[float, ...]] = []
    by_device: list[tuple[str, str, str]] = []
    analytic: list[tuple[float, ...]] = []
    for kernel in sorted(counted, key=lambda each: each.id):
        for key, launch, devices in kernel.launches:
            named.append((kernel.id, key, sorted(devices)))
            facts.append(launch)
            for device in sorted(devices):
                by_device.append((device, kernel.id, key))
                analytic.append(devices[device])
    kernels, keys, devices_of = zip(*named, strict=True)
    words = pa.list_(pa.dictionary(pa.int32(), pa.string()))
    first = {"kernel_id": pa.array(kernels), "key": pa.array(keys), "devices": pa.array(devices_of, words)}
    _write(folder / LAUNCHES, first, _LAUNCH, np.array(facts, np.float32), adds)
    devices_, kernels, keys = zip(*by_device, strict=True)
    first = {
        "device": pa.array(devices_).dictionary_encode(), "kernel_id": pa.array(kernels), "key": pa.array(keys)
    }  # fmt: skip
    _write(folder / ANALYTIC, first, _ANALYTIC, np.array(analytic, np.float32), adds)
    return len(named)


def read_facts(folder: Path) -> Facts:
    """Read the facts. Raises DatasetError where there are none, or those of another version."""
    launches, launch = _read(folder / LAUNCHES, _LAUNCH)
    table, analytic = _read(folder / ANALYTIC, _ANALYTIC)
    place = {
        (device, kernel, key): at
        for at, (kernel, key, devices) in enumerate(
            zip(*(launches[name].to_pylist() for name in ("kernel_id", "key", "devices")), strict=True)
        )
        for device in devices
    }
    keys = zip(*(table[name].to_pylist() for name in ("device", "kernel_id", "key")), strict=True)
    return Facts(launch, place, dict(zip(keys, analytic, strict=True)))


def _write(path: Path, first: dict[str, pa.Array], names: tuple[str, ...], numbers: Floats, adds: bool) -> None:
    packed = rounded(numbers)
    table = pa.table({**first, **{name: packed[:, at] for at, name in enumerate(names)}})
    if adds:
        earlier, _ = _read(path, names)
        table = pa.concat_tables([earlier.select(table.column_names).cast(table.schema), table]).unify_dictionaries()
    table = table.replace_schema_metadata({_METADATA: json.dumps({"facts_version": SCHEMA_VERSION})})
    pq.write_table(
        table, path, compression="zstd", compression_level=19, row_group_size=1 << 20, write_statistics=False,
        use_dictionary=list(first), use_byte_stream_split=list(names),
    )  # fmt: skip


def _read(path: Path, names: tuple[str, ...]) -> tuple[pa.Table, Floats]:
    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise DatasetError(f"{path} is missing: `kernelcast dataset facts` writes it") from None
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{path} is damaged, or no Parquet ({str(error).splitlines()[0]:.200})") from None
    noted = json.loads((table.schema.metadata or {}).get(_METADATA, b"{}"))
    if noted.get("facts_version") != SCHEMA_VERSION or not set(names) <= set(table.column_names):
        raise DatasetError(f"{path} is of another version: `kernelcast dataset facts` writes it anew")
    return table, np.stack([table[name].to_numpy() for name in names], axis=1).astype(np.float32)


def rounded(numbers: Floats) -> Floats:
    """To fewer binary digits, so that it packs; halves go up."""
    shift = 23 - _KEPT_BITS
    bits = numbers.view(np.uint32).astype(np.uint64) + (1 << (shift - 1))
    found: Floats = ((bits >> shift) << shift).astype(np.uint32).view(np.float32)
    return found
