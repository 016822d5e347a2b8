"""Programs that are not ours: built from where a package puts them, and kept as numbers alone."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from model.known_devices import find_builtin_by_name
from profiler.corpus.dataset.columns import DatasetError
from profiler.corpus.origins.sources import Unreachable
from profiler.corpus.public import analyse_foreign, facts
from profiler.corpus.public.hashcat import ITERATED_FAMILY, ITERATED_MODES, MODES, hashcat, kernels_folder, mode_of
from profiler.corpus.public.kept_facts import (
    FILE,
    FOREIGN_FAMILIES,
    KEPT_NAMES,
    is_complete,
    launch_key,
    read_kept_facts,
    write_kept_facts,
)
from profiler.corpus.public.row import PublicRow, settings
from profiler.corpus.public.table import read_rows


def _row(device: str = "GeForce GTX 1080", mode: int = 0, family: str = "hash") -> PublicRow:
    said = {"mode": mode, "items": 2_621_440, "loops": 1024, "group": 512, "vector": 8}
    return PublicRow(family, device, settings(said), (), 106_930.0, None, "its5Q/hashcat-benchmarks (CC0)")


def _numbers(start: float) -> tuple[float, ...]:
    return tuple(start + at for at in range(len(KEPT_NAMES)))


def test_kept_facts_come_back_nearly_as_they_were(tmp_path: Path) -> None:
    known, unknown = launch_key(_row()), launch_key(_row("a GPU that nobody knows"))
    kept = {known: _numbers(1.0), unknown: (*_numbers(2.0)[:-1], math.nan)}
    write_kept_facts(kept, tmp_path / "facts.parquet")
    again = read_kept_facts(tmp_path / "facts.parquet")
    assert again[known] == pytest.approx(kept[known], rel=1e-3)
    assert is_complete(again[known])
    assert not is_complete(again[unknown])


def test_no_facts_are_none_and_damaged_ones_are_refused(tmp_path: Path) -> None:
    assert read_kept_facts(tmp_path / "facts.parquet") == {}
    (tmp_path / "facts.parquet").write_text("no Parquet")
    with pytest.raises(DatasetError):
        read_kept_facts(tmp_path / "facts.parquet")


def test_rows_are_analysed_once_and_again_when_their_device_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    analysed = []

    def numbers_of(row: PublicRow) -> tuple[float, ...]:
        analysed.append(row)
        is_known = find_builtin_by_name(row.device) is not None
        return _numbers(1.0) if is_known else (*_numbers(1.0)[:-1], math.nan)

    monkeypatch.setattr(analyse_foreign, "_facts", numbers_of)
    rows = [_row(), _row("GeForce GTX 1234"), PublicRow("stream", "GeForce GTX 1080", (), (), 1.0, None, "")]
    path = tmp_path / "facts.parquet"
    assert analyse_foreign.update(rows, minutes=0, path=path) == 2
    assert analyse_foreign.update(rows, path=path) == 0
    assert analyse_foreign.update(rows, path=path) == 0
    assert len(analysed) == 2
    monkeypatch.setattr(analyse_foreign, "find_builtin_by_name", lambda _: find_builtin_by_name("GeForce GTX 1080"))
    assert analyse_foreign.update(rows, path=path, minutes=0) == 1


def test_measured_takes_kept_facts_and_leaves_out_rows_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "read_kept_facts", lambda: {launch_key(_row()): _numbers(0.0)})
    found = facts.measured([_row(), _row(mode=1000)], processes=1)
    assert found.family.tolist() == ["hash"]
    assert found.source.tolist() == ["its5Q/hashcat-benchmarks (CC0)"]
    assert found.fact(facts.FACT_NAMES[3])[0] == 3.0
    assert np.isfinite(found.facts[0, len(KEPT_NAMES) :]).any(), "the device's facts, from its profile"


def test_what_ships_has_facts_of_rows_that_ship() -> None:
    shipped = {launch_key(row) for row in read_rows() if row.family in FOREIGN_FAMILIES}
    kept = read_kept_facts()
    assert FILE.stat().st_size < 3_000_000
    assert kept
    assert set(kept) <= shipped


@pytest.mark.parametrize(("family", "modes"), [("hash", MODES), (ITERATED_FAMILY, ITERATED_MODES)])
def test_every_mode_has_its_kernel_in_the_package(family: str, modes: tuple[int, ...]) -> None:
    try:
        kernels_folder()
    except Unreachable as error:
        pytest.skip(str(error))
    for mode in modes:
        row = _row(mode=mode, family=family)
        program = hashcat(row)
        assert mode_of(row) == mode
        assert program.kernel in program.source
        assert program.launch.local_size == (512,)
