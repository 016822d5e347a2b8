"""Facts come back from their tables by device, kernel and launch; tables of other versions are refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.learned.launch_facts import LAUNCH_FACT_NAMES
from model.learned.question import ANALYTIC_FACT_NAMES
from profiler.corpus.dataset.columns import DatasetError
from profiler.corpus.facts.counting import Counted
from profiler.corpus.facts.table import ANALYTIC, LAUNCHES, read_facts, write_facts

ROUNDING = 1e-3


def facts(seed: int, names: tuple[str, ...] = LAUNCH_FACT_NAMES) -> tuple[float, ...]:
    random = np.random.default_rng(seed)
    found = random.uniform(-20, 40, len(names))
    found[::7] = 0.0
    return tuple(found.tolist())


def analytic(seed: int) -> tuple[float, ...]:
    return facts(seed, ANALYTIC_FACT_NAMES)


COUNTED = (
    Counted("b", launches=(("open", facts(1), {"pocl": analytic(1)}), ("open", facts(2), {"intel": analytic(2)}))),
    Counted("a", launches=(("fixed", facts(3), {"pocl": analytic(3), "intel": analytic(4)}),)),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of three counted launches, of which two are one that drivers cut differently."""
    assert write_facts(tmp_path, COUNTED) == 3
    return tmp_path


def test_facts_come_back_where_they_were(folder: Path) -> None:
    found = read_facts(folder)
    expected = {
        ("pocl", "b", "open"): (1, 1), ("intel", "b", "open"): (2, 2), ("pocl", "a", "fixed"): (3, 3),
        ("intel", "a", "fixed"): (3, 4),
    }  # fmt: skip
    assert found.place.keys() == found.analytic.keys() == expected.keys()
    for key, (launch, times) in expected.items():
        assert found.launch[found.place[key]] == pytest.approx(facts(launch), rel=ROUNDING)
        assert found.analytic[key] == pytest.approx(analytic(times), rel=ROUNDING)


def test_the_same_facts_make_the_same_files_in_whatever_order_they_were_counted(folder: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    again.mkdir()
    write_facts(again, COUNTED[::-1])
    for name in (LAUNCHES, ANALYTIC):
        assert (again / name).read_bytes() == (folder / name).read_bytes()


@settings(max_examples=25)
@given(
    st.lists(
        st.floats(-(2**100), 2**100, width=32), min_size=len(ANALYTIC_FACT_NAMES), max_size=len(ANALYTIC_FACT_NAMES)
    )
)
def test_no_number_is_rounded_by_more_than_a_thousandth(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[float]
) -> None:
    folder = tmp_path_factory.mktemp("facts")
    write_facts(folder, [Counted("k", launches=(("l", facts(1), {"pocl": tuple(numbers)}),))])
    found = read_facts(folder).analytic["pocl", "k", "l"]
    assert found == pytest.approx(numbers, rel=ROUNDING, abs=1e-30)


@pytest.mark.parametrize("name", [LAUNCHES, ANALYTIC])
@pytest.mark.parametrize("change", ["version", "fact"])
def test_tables_of_another_version_are_refused_in_a_sentence(folder: Path, name: str, change: str) -> None:
    table = pq.read_table(folder / name)
    if change == "version":
        table = table.replace_schema_metadata({b"kernelcast": json.dumps({"facts_version": 0})})
    else:
        table = table.drop_columns([table.column_names[-1]])
    pq.write_table(table, folder / name)
    with pytest.raises(DatasetError, match=rf"{name} is of another version: `kernelcast dataset facts` writes it anew"):
        read_facts(folder)


@pytest.mark.parametrize("name", [LAUNCHES, ANALYTIC])
def test_missing_and_damaged_tables_are_named(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"no Parquet")
    with pytest.raises(DatasetError, match=rf"{name} is damaged, or no Parquet"):
        read_facts(folder)
    (folder / name).unlink()
    with pytest.raises(DatasetError, match=rf"{name} is missing: `kernelcast dataset facts` writes it"):
        read_facts(folder)
