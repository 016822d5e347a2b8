"""Datasets of a few kernels of the committed one."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest


@pytest.fixture(scope="session")
def cut_out(repository: Path) -> Callable[..., Path]:
    """The dataset of these kernels, in a new folder; `facts` are tables to have besides."""

    def cut(folder: Path, kernels: Sequence[str], facts: tuple[str, ...] = ()) -> Path:
        whole, chosen = repository / "profiler/corpus/data", pa.array(kernels)
        folder.mkdir()
        for name in ("kernels", "launches", "rows", "compiled", "splits", *facts):
            table = pq.read_table(whole / f"{name}.parquet")
            own = table["id" if name == "kernels" else "kernel_id"].cast(pa.string())
            pq.write_table(table.filter(pc.is_in(own, chosen)), folder / f"{name}.parquet")
        shutil.copy(whole / "devices.json", folder)
        shutil.copy(whole / "paces.json", folder)
        return folder

    return cut
