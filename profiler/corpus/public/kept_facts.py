"""Facts of public rows whose programs are not ours: numbers, kept beside the rows because the sources cannot be.

One line a row that was analysed: its launch facts, and where its device had a profile then, the analytical model's
times, the placement on compute units and the bound [us]. What the device itself is comes from its profile when read.
`analyse_foreign` makes them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from model.learned.gpu_facts import GPU_FACT_NAMES
from model.learned.launch_facts import LAUNCH_FACT_NAMES
from model.learned.question import ANALYTIC_FACT_NAMES
from profiler.corpus.dataset.columns import DatasetError
from profiler.corpus.facts.table import SCHEMA_VERSION, rounded
from profiler.corpus.public.hashcat import FAMILY, ITERATED_FAMILY
from profiler.corpus.public.row import PublicRow, Settings, settings_of, settings_text

FILE = Path(__file__).parent / "foreign_facts.parquet"
FOREIGN_FAMILIES = (FAMILY, ITERATED_FAMILY)
KEPT_NAMES = (
    *(f"launch.{name}" for name in LAUNCH_FACT_NAMES),
    *(f"analytic.{name}" for name in ANALYTIC_FACT_NAMES),
    *(f"gpu.{name}" for name in GPU_FACT_NAMES),
    "least_us",
)
LaunchKey = tuple[str, str, Settings]  # device, family and settings
KeptFacts = Mapping[LaunchKey, tuple[float, ...]]  # in the order of KEPT_NAMES; NaN for what needs an unknown device
_METADATA = b"kernelcast"
_COLUMNS = tuple(f"{at}.{name}" for at, name in enumerate(KEPT_NAMES))  # some names occur twice


def launch_key(row: PublicRow) -> LaunchKey:
    return row.device, row.family, row.settings


def is_complete(facts: tuple[float, ...]) -> bool:
    """Return whether they were made with the device's profile at hand."""
    return not math.isnan(facts[-1])


def write_kept_facts(kept: KeptFacts, path: Path = FILE) -> None:
    """Overwrite the file, in the order of the keys."""
    keys = sorted(kept)
    word = pa.dictionary(pa.int32(), pa.string())
    numbers = rounded(np.array([kept[key] for key in keys], np.float32).reshape(len(keys), len(KEPT_NAMES)))
    table = pa.table(
        {
            "device": pa.array([key[0] for key in keys], pa.string()).cast(word),
            "family": pa.array([key[1] for key in keys], pa.string()).cast(word),
            "settings": pa.array([settings_text(key[2]) for key in keys], pa.string()),
            **{name: numbers[:, at] for at, name in enumerate(_COLUMNS)},
        }
    )
    table = table.replace_schema_metadata({_METADATA: json.dumps({"facts_version": SCHEMA_VERSION})})
    pq.write_table(
        table, path, compression="zstd", compression_level=19, row_group_size=1 << 20, write_statistics=False,
        use_dictionary=["device", "family"], use_byte_stream_split=list(_COLUMNS),
    )  # fmt: skip


def read_kept_facts(path: Path = FILE) -> KeptFacts:
    """Empty where there is no file. Raises DatasetError for a damaged one, or one with other facts."""
    if not path.exists():
        return {}
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{path} cannot be read ({str(error).splitlines()[0]:.200})") from None
    noted = json.loads((table.schema.metadata or {}).get(_METADATA, b"{}"))
    if noted.get("facts_version") != SCHEMA_VERSION or not set(_COLUMNS) <= set(table.column_names):
        raise DatasetError(f"{path} holds other facts: remove it and let profiler.corpus.public.analyse_foreign run")
    numbers = np.stack([table[name].to_numpy() for name in _COLUMNS], axis=1).astype(np.float64)
    keys = zip(*(table[name].to_pylist() for name in ("device", "family", "settings")), strict=True)
    return {
        (device, family, settings_of(text)): tuple(line)
        for (device, family, text), line in zip(keys, numbers.tolist(), strict=True)
    }
