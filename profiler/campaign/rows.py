"""The rows of a campaign: from its store, which loses none, to the Parquet file that is committed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from model.device import Device
from model.opencl.options import BuildOptions
from profiler.campaign.kernels import CORPUS, OWN, part_of
from profiler.campaign.predicting import Predicted
from profiler.corpus.collection.store import CorpusStore, StoredRow
from profiler.corpus.dataset.arrow import read_table, write_table
from profiler.corpus.dataset.cells import launch_cells, row_cells
from profiler.corpus.dataset.columns import LAUNCHES, ROWS, Column, Kind, TableColumns
from profiler.corpus.dataset.export import written_by
from profiler.corpus.kernel import CorpusKernel, CorpusLaunch
from profiler.store.as_json import CONVERTER

# Columns mean what they mean in the corpus; `runtime_us`, `profile` and the like follow from the whole of a dataset.
_OF_LAUNCH = (
    "vary", "data", "checked", "global_size", "local_size", "scalar_names", "scalar_values", "buffer_names",
    "buffer_lengths", "image_names", "image_sizes", "local_names", "local_bytes", "fill_names", "fills",
)  # fmt: skip
_OF_ROW = (
    "median_us", "p10_us", "p90_us", "batch_spread_percent", "wall_us", "runs", "batches_us", "paces_us",
    "other_load_percent", "load_average", "measured_at",
)  # fmt: skip
COLUMNS = TableColumns(
    "rows",
    "one row a launch",
    ("part", "kernel_id", "launch_key", "repeat"),
    (
        Column("device", Kind.WORD, "id of the OpenCL device"),
        Column("driver", Kind.WORD, "its driver's version"),
        Column("part", Kind.WORD, f"`{OWN}`: of a folder of kernels; `{CORPUS}`: of the corpus' generator"),
        Column("kernel_id", Kind.TEXT, "of the normalised source, as in the corpus"),
        Column("family", Kind.WORD, "of the generator; of own kernels the file"),
        Column("reference", Kind.TEXT, "family and seed, or the file and the kernel in it"),
        Column("name", Kind.TEXT, "of the `__kernel` function"),
        Column("options", Kind.WORDS, "build options as the compiler takes them, without include folders"),
        Column("launch_key", Kind.TEXT, "of everything that changes what runs"),
        *(each for each in LAUNCHES.columns if each.name in _OF_LAUNCH),
        Column("repeat", Kind.SMALL, "1: measured again in another process, for the noise floor"),
        *(each for each in ROWS.columns if each.name in _OF_ROW),
        Column("before_us", Kind.NUMBER, "predicted for the device before it was calibrated", is_optional=True),
        Column("before_host_us", Kind.NUMBER, "the same, of what a host waits", is_optional=True),
        Column("after_us", Kind.NUMBER, "predicted for the calibrated device", is_optional=True),
        Column("after_host_us", Kind.NUMBER, "the same, of what a host waits", is_optional=True),
    ),
)


@dataclass(frozen=True, slots=True)
class CampaignRow:
    """One measured launch, and under which driver."""

    kernel: CorpusKernel
    launch: CorpusLaunch
    stored: StoredRow
    driver: str

    @property
    def key(self) -> tuple[str, str]:
        return self.kernel.id, self.launch.launch.key

    @property
    def part(self) -> str:
        return part_of(self.kernel)


def read_store(store: CorpusStore) -> list[CampaignRow]:
    """Return everything that was measured so far."""
    drivers = {stint.number: str(json.loads(stint.devices)[0]["driver"]) for stint in store.stints()}
    stored = list(store.rows())
    kernels = store.kernels(list(dict.fromkeys(row.key.kernel_id for row in stored)))
    launches = {(kernel.id, each.launch.key): each for kernel in kernels.values() for each in kernel.launches}
    return [
        CampaignRow(
            kernels[row.key.kernel_id], launches[row.key.kernel_id, row.key.launch_key], row, drivers[row.stint]
        )
        for row in stored
    ]


def write_rows(
    folder: Path,
    rows: Sequence[CampaignRow],
    predicted: Mapping[tuple[str, str], Predicted],
    profiles: Mapping[str, Device],
) -> Path:
    """Write `rows.parquet`, whole or not at all, with the `profiles` of the predictions. Raises DatasetError."""
    plain = {name: CONVERTER.unstructure(profile) for name, profile in profiles.items()}
    metadata = {**written_by(), "profiles": plain}
    write_table(folder, COLUMNS, [_cells(row, predicted.get(row.key)) for row in rows], metadata)
    return folder / COLUMNS.file_name


def count_written(folder: Path) -> int:
    """Return the number of rows in `rows.parquet`; 0 where there is none. Raises DatasetError for a damaged one."""
    return len(read_table(folder, COLUMNS)) if (folder / COLUMNS.file_name).exists() else 0


def _cells(row: CampaignRow, predicted: Predicted | None) -> dict[str, object]:
    kernel, stored = row.kernel, row.stored
    of_launch = launch_cells(kernel.id, 0, row.launch)
    of_row = row_cells(stored, stored.timing.median_us, row.driver, "")
    before, after = (predicted.before, predicted.after) if predicted is not None else (None, None)
    return {
        "device": stored.key.device,
        "driver": row.driver,
        "part": row.part,
        "kernel_id": kernel.id,
        "family": kernel.family,
        "reference": kernel.reference,
        "name": kernel.name,
        "options": BuildOptions(kernel.options.defines, (), kernel.options.flags).arguments(),
        "launch_key": stored.key.launch_key,
        **{name: of_launch[name] for name in _OF_LAUNCH},
        "repeat": stored.key.repeat,
        **{name: of_row[name] for name in _OF_ROW},
        "before_us": before.runtime_us if before else None,
        "before_host_us": before.host_us if before else None,
        "after_us": after.runtime_us if after else None,
        "after_host_us": after.host_us if after else None,
    }
