"""The rows as a Parquet file that ships with the repository, and the program of each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from profiler.corpus.dataset.columns import DatasetError
from profiler.corpus.public.convolution import convolution
from profiler.corpus.public.dedispersion import dedispersion
from profiler.corpus.public.elementwise import elementwise
from profiler.corpus.public.gemm import gemm
from profiler.corpus.public.hashcat import FAMILY, ITERATED_FAMILY, hashcat
from profiler.corpus.public.lattice import lattice
from profiler.corpus.public.pnpoly import pnpoly
from profiler.corpus.public.row import PublicLaunch, PublicRow, settings_of, settings_text
from profiler.corpus.public.rows_of_floats import layer_norm, softmax
from profiler.corpus.public.small_products import small_products
from profiler.corpus.public.stream import stream
from profiler.installing import install_command

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    needs = f"public rows are Parquet, which needs the package pyarrow: {install_command('corpus')}"
    raise DatasetError(needs) from None

FILE = Path(__file__).parent / "gpu_rows.parquet"
_META = b"kernelcast"
_PROGRAMS: Mapping[str, Callable[[PublicRow], PublicLaunch]] = {
    "gemm": gemm,
    "convolution": convolution,
    "dedispersion": dedispersion,
    "pnpoly": pnpoly,
    "elementwise": elementwise,
    "softmax": softmax,
    "layer_norm": layer_norm,
    "stream": stream,
    "lattice": lattice,
    "small_products": small_products,
    FAMILY: hashcat,
    ITERATED_FAMILY: hashcat,
}
FAMILIES = tuple(_PROGRAMS)


def program_of(row: PublicRow) -> PublicLaunch:
    """Return what the row measured, written by us, but for the `hash` families: theirs is read where a package puts it.

    Raises KeyError for settings that are not those of its family, and Unreachable where the package cannot be had.
    """
    return _PROGRAMS[row.family](row)


def write_rows(rows: Sequence[PublicRow], path: Path = FILE) -> None:
    word = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema(
        [
            pa.field("family", word),
            pa.field("device", word),
            pa.field("settings", word),
            pa.field("choices", word),
            pa.field("runtime_us", pa.float32()),
            pa.field("noise_percent", pa.float32()),
            pa.field("source", word),
        ],
        metadata={_META: json.dumps({"sources": sorted({row.source for row in rows})}).encode()},
    )
    cells = [
        {
            "family": row.family,
            "device": row.device,
            "settings": settings_text(row.settings),
            "choices": settings_text(row.choices),
            "runtime_us": row.runtime_us,
            "noise_percent": row.noise_percent,
            "source": row.source,
        }
        for row in rows
    ]
    pq.write_table(
        pa.Table.from_pylist(cells, schema),
        path,
        compression="zstd",
        compression_level=19,
        use_dictionary=["family", "device", "settings", "choices", "source"],
        use_byte_stream_split=["runtime_us", "noise_percent"],
    )


def read_rows(path: Path = FILE) -> list[PublicRow]:
    """Read the rows. Raises DatasetError where there is no such file, or something else."""
    try:
        cells = pq.read_table(path).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{path} cannot be read ({str(error).splitlines()[0]:.200})") from None
    return [
        PublicRow(
            cell["family"],
            cell["device"],
            settings_of(cell["settings"]),
            settings_of(cell["choices"]),
            cell["runtime_us"],
            cell["noise_percent"],
            cell["source"],
        )
        for cell in cells
    ]
