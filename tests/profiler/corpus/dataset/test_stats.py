"""What is said of a dataset is true of it, and a promise that it breaks is named."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiler.corpus.dataset.arrow import METADATA_KEY, read_table, write_table
from profiler.corpus.dataset.columns import KERNELS, LAUNCHES, ROWS, SPLITS, TABLES, DatasetError, TableColumns
from profiler.corpus.dataset.correlation import spearman, within
from profiler.corpus.dataset.frame import frame_of
from profiler.corpus.dataset.printed import columns_markdown, statistics_markdown
from profiler.corpus.dataset.quality_gates import promises
from profiler.corpus.dataset.reading import read_dataset
from profiler.corpus.dataset.splits import split
from profiler.corpus.dataset.statistics import Statistics, statistics_of
from profiler.corpus.dataset.stats import review
from server.cli import main

CARD = Path(__file__).parents[4] / "profiler" / "corpus" / "README.md"


@pytest.fixture(scope="module")
def statistics(dataset: Path) -> Statistics:
    return statistics_of(frame_of(read_dataset(dataset)))


@pytest.fixture
def other(dataset: Path, tmp_path: Path) -> Path:
    """A copy that may be spoilt."""
    return Path(shutil.copytree(dataset, tmp_path / "other data"))


def changed(folder: Path, table: TableColumns, column: str, value: object, where: int = 0) -> None:
    rows = read_table(folder, table).to_pylist()
    rows[where][column] = value
    write_table(folder, table, rows, {})


def test_everything_is_counted(statistics: Statistics) -> None:
    assert (statistics.kernels, statistics.launches, statistics.real_kernels) == (111, 333, 27)
    assert sum(each.kernels for each in statistics.origins) == sum(each.kernels for each in statistics.groups) == 111
    assert {each.name for each in statistics.origins} > {"generator", "silx"}
    assert len(statistics.families) == 21
    for counts in (statistics.origins, statistics.groups, statistics.devices):
        assert sum(each.rows for each in counts) == statistics.rows == sum(sum(each.decades) for each in counts)


def test_patterns_are_kernels_that_are_not_almost_like_others(statistics: Statistics, other: Path) -> None:
    assert statistics.patterns == 111
    rows = read_table(other, KERNELS).to_pylist()
    same = next(row["signature"] for row in rows if row["family"] == "sorting_1")
    write_table(other, KERNELS, [{**r, "signature": same} if r["group"] == "sorting" else r for r in rows], {})
    found = statistics_of(frame_of(read_dataset(other)))
    assert found.patterns == 111 - 7 * 3
    assert next(each.patterns for each in found.groups if each.name == "sorting") == 7


def test_nothing_can_be_counted_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for table in TABLES:
        write_table(tmp_path, table, [], {})
    split(tmp_path)
    assert main(["dataset", "stats", str(tmp_path), "--pictures", str(tmp_path)]) == 1
    assert "0 rows of 0 distinct kernels" in capsys.readouterr().out


def test_noise_is_that_of_the_repeated_rows(statistics: Statistics) -> None:
    for device in statistics.devices:
        assert device.repeated == 16 * 3
        assert device.noise_median_percent is not None
        assert device.noise_p90_percent is not None
        assert 1 < device.noise_median_percent < 4 < device.noise_p90_percent < 5.3  # drawn from -5 to 5 %
        assert device.disturbed_percent == pytest.approx(100 * 3 / 381)


def test_each_kernel_was_varied(statistics: Statistics) -> None:
    assert (statistics.varied_data_percent, statistics.varied_global_percent) == (100, 100)


def test_kernels_that_were_not_varied_do_not_count(other: Path) -> None:
    rows = read_table(other, LAUNCHES).to_pylist()
    write_table(other, LAUNCHES, [{**row, "data": 5} for row in rows], {})
    found = statistics_of(frame_of(read_dataset(other)))
    assert found.varied_data_percent == 0
    assert found.varied_global_percent == 100


def test_sizes_that_are_tied_are_seen(other: Path) -> None:
    rows = read_table(other, LAUNCHES).to_pylist()
    tied = [{**row, "buffer_lengths": [row["global_size"][0] * 2, 5], "data": 0} for row in rows]
    write_table(other, LAUNCHES, tied, {})
    found = {each.name: each for each in statistics_of(frame_of(read_dataset(other))).independence}
    assert {value for _, value in found["buffer length"].by_family} == {1.0}
    assert {value for _, value in found["scalar"].by_family} != {1.0}
    named = [each for each in promises(statistics_of(frame_of(read_dataset(other))), other) if not each.is_kept]
    assert "rank correlation of global size and buffer length, median family" in [each.name for each in named]


def test_a_large_and_even_dataset_keeps_its_promises(statistics: Statistics, dataset: Path) -> None:
    many = replace(statistics, kernels=12_000, rows=120_000, real_kernels=2_500, real_rows=25_000, independence=())
    many = replace(many, devices=statistics.devices + statistics.devices[:1])
    many = replace(many, families=statistics.families * 4, origins=statistics.origins * 3)
    assert [each for each in promises(many, dataset) if not each.is_kept] == []
    few = {each.name for each in promises(statistics, dataset) if not each.is_kept}
    assert few >= {"distinct kernels", "rows", "devices", "rows of real kernels"}


def test_splits_that_share_a_family_or_lack_a_kernel_are_named(statistics: Statistics, other: Path) -> None:
    splits = [row["split"] for row in read_table(other, SPLITS).to_pylist()]
    changed(other, SPLITS, "split", "validation", splits.index("train"))
    assert "families in two splits" in [each.name for each in promises(statistics, other) if not each.is_kept]
    write_table(other, SPLITS, read_table(other, SPLITS).to_pylist()[1:], {})
    assert "kernels in no split" in [each.name for each in promises(statistics, other) if not each.is_kept]
    (other / SPLITS.file_name).unlink()
    assert "splits" in [each.name for each in promises(statistics, other) if not each.is_kept]


@pytest.mark.parametrize(
    ("table", "column", "says"),
    [
        (ROWS, "launch_key", r"rows.parquet speaks of the launch .*other"),
        (LAUNCHES, "kernel_id", r"launches.parquet speaks of the kernel other"),
    ],
)
def test_tables_that_do_not_fit_together_are_refused(other: Path, table: TableColumns, column: str, says: str) -> None:
    changed(other, table, column, "other")
    with pytest.raises(DatasetError, match=says):
        review(other)


def test_a_row_that_stands_twice_is_refused(other: Path) -> None:
    rows = read_table(other, ROWS).to_pylist()
    write_table(other, ROWS, [*rows, rows[5]], {})
    with pytest.raises(DatasetError, match="a row stands twice"):
        review(other)


def test_a_newer_dataset_says_so(other: Path) -> None:
    content = read_table(other, ROWS).replace_schema_metadata({METADATA_KEY: b'{"schema_version": 99}'})
    pa.parquet.write_table(content, other / ROWS.file_name)
    with pytest.raises(DatasetError, match="version 99 of the columns"):
        review(other)


def test_the_command_answers_draws_and_fails_for_broken_promises(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    card = tmp_path / "card.md"
    card.write_text(
        "kept\n<!-- figures -->of yesterday<!-- end of figures -->\n<!-- columns -->\n<!-- end of columns -->\nkept\n"
    )
    call = ["dataset", "stats", str(dataset), "--pictures", str(tmp_path / "pictures"), "--card", str(card)]
    assert main(call) == 1
    assert "BROKEN" in capsys.readouterr().out
    drawn = [file.read_bytes() for file in (tmp_path / "pictures").glob("*.png")]
    assert len(drawn) == 7
    assert all(content.startswith(b"\x89PNG") for content in drawn)
    text = card.read_text()
    assert text.startswith("kept\n")
    assert text.endswith("kept\n")
    assert "of yesterday" not in text
    review(dataset, card=card)
    assert card.read_text() == text  # renewed, not added to


def test_a_card_without_marks_is_refused(dataset: Path, tmp_path: Path) -> None:
    card = tmp_path / "card.md"
    card.write_text("<!-- figures --><!-- end of figures -->")
    with pytest.raises(DatasetError, match=r"needs the lines <!-- columns -->"):
        review(dataset, card=card)


def test_the_card_names_every_column() -> None:
    text = CARD.read_text("utf-8")
    assert columns_markdown() in text
    for table in (*TABLES, SPLITS):
        assert f"`{table.file_name}`" in text


def test_the_card_has_a_place_for_figures(statistics: Statistics, dataset: Path) -> None:
    text = CARD.read_text("utf-8")
    assert text.count("<!-- figures -->") == text.count("<!-- end of figures -->") == 1
    assert "### Devices" in statistics_markdown(statistics, promises(statistics, dataset))


@given(st.lists(st.integers(-5, 5), min_size=10, max_size=40), st.integers(1, 7))
def test_ranks_decide_and_nothing_else(values: list[int], power: int) -> None:
    left = np.array(values, float)
    if len(set(values)) > 1:
        assert spearman(left, np.exp(left) * power) == pytest.approx(1)
        assert spearman(left, -left) == pytest.approx(-1)
    else:
        assert spearman(left, np.arange(len(left))) is None


def test_correlations_are_within_groups_alone() -> None:
    groups = np.repeat([3, 8], 12)
    left = np.concatenate([np.arange(12), 1000 + np.arange(12)]).astype(float)
    right = np.concatenate([np.arange(12), -np.arange(12)]).astype(float)
    assert within(groups, left, right) == {3: pytest.approx(1), 8: pytest.approx(-1)}
    right[:5] = np.nan
    assert within(groups, left, right).keys() == {8}
