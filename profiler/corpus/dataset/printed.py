"""Statistics for a terminal, and as Markdown for the dataset's card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from profiler.corpus.dataset.columns import SPLITS, TABLES, TableColumns
from profiler.corpus.dataset.quality_gates import Promise
from profiler.corpus.dataset.statistics import DECADES, Count, DeviceFigures, Statistics, median_amount
from profiler.corpus.kernel import GENERATOR

Section = tuple[str, tuple[str, ...], Sequence[tuple[str, ...]]]  # title, heads, rows
_DECADE_NAMES = ("below 1 us", "1 us", "10 us", "100 us", "1 ms", "10 ms", "from 100 ms")


def sections(statistics: Statistics, promises: Sequence[Promise]) -> Iterator[Section]:
    """Yield the tables that both show."""
    kept = [(each.name, each.wanted, each.found, "kept" if each.is_kept else "BROKEN") for each in promises]
    yield "Promises", ("promise", "wanted", "found", ""), kept
    devices = [_device(each) for each in statistics.devices]
    noise = ("noise, median", "noise, p90", "without the pace, median", "p90")
    heads = ("device", "driver", "kernels", "rows", "disturbed", "measured twice", *noise)
    yield "Devices", heads, devices
    decades = [(each.id, *map(_whole, each.decades)) for each in statistics.devices]
    yield "Rows by run time, from the figure to the next", ("device", *_DECADE_NAMES), decades
    correlated = [(each.name, *_amounts(each.by_family), *_amounts(each.by_origin)) for each in statistics.independence]
    of = ("of", "median amount, families", "below 0.5", "median amount, origins of real kernels", "below 0.5")
    yield "Rank correlation with the global size", of, correlated
    yield _counts("Groups", "group", statistics.groups)
    real = [origin for origin in statistics.origins if origin.name != GENERATOR]
    yield _counts("Origins of real kernels", "origin", real)
    yield _counts("Families of the generator", "family", statistics.families)


def print_statistics(statistics: Statistics, promises: Sequence[Promise], console: Console) -> None:
    console.print(headline(statistics))
    for title, heads, rows in sections(statistics, promises):
        table = Table(*heads, box=SIMPLE_HEAD, title=title, title_justify="left")
        for row in rows:
            table.add_row(*row, style="red" if "BROKEN" in row else None)
        console.print(table)


def headline(s: Statistics) -> str:
    return (
        f"{s.rows:,} rows of {s.kernels:,} distinct kernels with {s.launches:,} launches on {len(s.devices)} devices; "
        f"{s.real_kernels:,} of the kernels are real, with {s.real_rows:,} rows. "
        f"{s.patterns:,} kernels are patterns of their own: no near-duplicates of others in their family. "
        f"The data size varies at a fixed global size for {s.varied_data_percent:.0f} % of the kernels, "
        f"the global size at a fixed data size for {s.varied_global_percent:.0f} %."
    )


def statistics_markdown(statistics: Statistics, promises: Sequence[Promise]) -> str:
    parts = [headline(statistics)]
    for title, heads, rows in sections(statistics, promises):
        parts.append(f"### {title}\n\n{markdown_table(heads, rows)}")
    return "\n\n".join(parts)


def columns_markdown() -> str:
    """Return the schema as it is documented."""
    return "\n\n".join(_columns(table) for table in (*TABLES, SPLITS))


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def _columns(table: TableColumns) -> str:
    rows = [
        (f"`{each.name}`", each.kind.value + (", or nothing" if each.is_optional else ""), each.meaning)
        for each in table.columns
    ]
    return f"### `{table.file_name}`: {table.meaning}\n\n{markdown_table(('column', 'holds', 'meaning'), rows)}"


def _device(each: DeviceFigures) -> tuple[str, ...]:
    return (
        each.id,
        each.driver,
        _whole(each.kernels),
        _whole(each.rows),
        f"{each.disturbed_percent:.1f} %",
        _whole(each.repeated),
        _percent(each.noise_median_percent),
        _percent(each.noise_p90_percent),
        _percent(each.raw_noise_median_percent),
        _percent(each.raw_noise_p90_percent),
    )


def _counts(title: str, head: str, counts: Sequence[Count]) -> Section:
    assert len(DECADES) == len(_DECADE_NAMES)
    rows = [
        (each.name, *map(_whole, (each.kernels, each.patterns, each.rows)), *map(_whole, each.decades))
        for each in counts
    ]
    return title, (head, "kernels", "patterns", "rows", *_DECADE_NAMES), rows


def _whole(number: int) -> str:
    return f"{number:,}"


def _percent(value: float | None) -> str:
    return "not known" if value is None else f"{value:.1f} %"


def _amounts(correlations: Sequence[tuple[str, float]]) -> tuple[str, str]:
    amount = median_amount(correlations)
    near = sum(abs(value) < 0.5 for _, value in correlations)
    return "not known" if amount is None else f"{amount:.2f}", f"{near} of {len(correlations)}"
