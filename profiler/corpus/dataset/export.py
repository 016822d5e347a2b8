"""From the store of a collection to the dataset's files. It may be done while the collection goes on."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from model.compiled import FACTS_VERSION, UnreadableFacts, facts_from_json
from model.errors import UnknownDevice
from model.work.analyse import ANALYSIS_VERSION
from profiler.corpus.collection.devices import corpus_device, on_machine
from profiler.corpus.collection.schema import FILE_NAME
from profiler.corpus.collection.store import CorpusStore, RowKey, Stint, StoredRow
from profiler.corpus.dataset.arrow import write_table
from profiler.corpus.dataset.cells import Cells, compiled_cells, kernel_cells, launch_cells, row_cells
from profiler.corpus.dataset.clock_normalization import Timed, runtime_us, usual
from profiler.corpus.dataset.columns import COMPILED, KERNELS, LAUNCHES, ROWS, TABLES, DatasetError
from profiler.corpus.dataset.reading import Dataset, read_dataset
from profiler.corpus.dataset.signed import Signer
from profiler.corpus.kernel import GENERATOR, SEED, CorpusKernel
from profiler.corpus.origins.origin import read_origins

NOT_KNOWN = ""


@dataclass(frozen=True, slots=True)
class ExportSummary:
    """What was written. `file_bytes` by file name."""

    kernels: int
    launches: int
    rows: int
    compiled: int
    file_bytes: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        size = sum(count for _, count in self.file_bytes)
        return f"{self.rows} rows of {self.kernels} kernels with {self.launches} launches, {size / 1e6:.1f} MB"


@dataclass(frozen=True, slots=True)
class _Profile:
    """Of an OpenCL device as one stint of the collection knew it. `id` is of its contents."""

    id: str
    driver: str
    content: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Row:
    stored: StoredRow
    profile: _Profile


def export(works: Sequence[Path], folder: Path, *, machine: str = "", adds: bool = False) -> ExportSummary:
    """Write every kernel that has a row, its launches, rows and compiled code to `folder`.

    What was there is replaced, or kept as it is where `adds`: a collection's store need not outlive its export. What
    several have in common is taken from the first of them. `machine` names the host of the collections where the
    dataset has devices of several (`on_machine`). Raises DatasetError, or StoreError where the store of a collection
    cannot be read.
    """
    gathered = _Gathered(machine, read_dataset(folder) if adds else None)
    for work in works:
        if not (work / FILE_NAME).is_file():
            raise DatasetError(f"{work} holds no collection: {FILE_NAME} is missing; see `kernelcast dataset collect`")
        store = CorpusStore(work)
        try:
            with Signer(work) as signer:
                gathered.add(store, signer)
        finally:
            store.close()
    facts = written_by()
    launches = [cells for those in gathered.launches.values() for cells in those.values()]
    write_table(folder, KERNELS, gathered.kernels.values(), facts)
    write_table(folder, LAUNCHES, launches, facts)
    rows, paces = _row_cells(gathered.rows.values())
    rows = [*gathered.earlier_rows.values(), *rows]
    noted = {"profiles": gathered.profiles, "usual": gathered.earlier_paces | paces}
    write_table(folder, ROWS, rows, {**facts, **noted})
    write_table(folder, COMPILED, gathered.compiled, facts)
    sizes = tuple((table.file_name, (folder / table.file_name).stat().st_size) for table in TABLES)
    return ExportSummary(len(gathered.kernels), len(launches), len(rows), len(gathered.compiled), sizes)


class _Gathered:
    """The cells of all tables, from one collection after the other; `earlier`: of a dataset that these are added to."""

    def __init__(self, machine: str, earlier: Dataset | None) -> None:
        self.kernels: dict[str, Cells] = {}
        self.launches: dict[str, dict[str, Cells]] = defaultdict(dict)  # by kernel and key
        self.rows: dict[RowKey, _Row] = {}
        self.earlier_rows: dict[RowKey, Cells] = {}
        self.compiled: list[Cells] = []
        self.profiles: dict[str, Mapping[str, Any]] = {}
        self.earlier_paces: dict[str, object] = {}
        self._machine = machine
        self._has_code: set[tuple[str, str, int]] = set()
        self._versions = {GENERATOR: SEED, **_versions()}
        if earlier is not None:
            self._add_earlier(earlier)

    def _add_earlier(self, dataset: Dataset) -> None:
        self.kernels = {cells["id"]: cells for cells in dataset.kernels.to_pylist()}
        for cells in dataset.launches.to_pylist():
            self.launches[cells["kernel_id"]][cells["key"]] = cells
        for cells in dataset.rows.to_pylist():
            key = RowKey(cells["device"], cells["kernel_id"], cells["launch_key"], cells["repeat"])
            self.earlier_rows[key] = cells
        compiled: list[dict[str, Any]] = dataset.compiled.to_pylist()
        self.compiled += compiled
        self._has_code = {
            (each["device_id"], each["kernel_id"], place) for each in compiled for place in each["places"]
        }
        self.profiles = dict(dataset.metadata.get("profiles", {}))
        self.earlier_paces = dict(dataset.metadata.get("usual", {}))

    def add(self, store: CorpusStore, signer: Signer) -> None:
        """Rows come first: what a collection that goes on adds meanwhile is left for the next export."""
        known = self.rows.keys() | self.earlier_rows.keys()
        new = {row.stored.key: row for row in self._rows(store) if row.stored.key not in known}
        self.rows |= new
        measured = {key.kernel_id for key in new}
        for kernel in store.all_kernels():
            if kernel.id in measured:
                self._add_kernel(kernel, signer)
        self.compiled += _compiled(store, self._machine, self.launches, self._has_code)

    def _add_kernel(self, kernel: CorpusKernel, signer: Signer) -> None:
        if kernel.id not in self.kernels:
            tokens, made = signer.sign(kernel)
            version = self._versions.get(kernel.origin, NOT_KNOWN)
            self.kernels[kernel.id] = kernel_cells(kernel, version, tokens, made)
        own = self.launches[kernel.id]
        for each in kernel.launches:
            if each.launch.key not in own:
                own[each.launch.key] = launch_cells(kernel.id, len(own), each)

    def _rows(self, store: CorpusStore) -> Iterator[_Row]:
        profiles = {stint.number: _profiles(stint) for stint in store.stints()}
        known: dict[tuple[int, str], _Profile] = {}
        for row in store.rows():
            where = row.stint, row.key.device
            if where not in known:
                profile = known[where] = _profile_of(row.key.device, profiles[row.stint])
                if profile.id:
                    self.profiles[profile.id] = profile.content
            key = replace(row.key, device=on_machine(self._machine, row.key.device))
            yield _Row(replace(row, key=key), known[where])


def _row_cells(rows: Collection[_Row]) -> tuple[list[Cells], dict[str, object]]:
    """With what is usual on each device, and with each profile where several hosts have a device of one name."""
    by_device: dict[tuple[str, str], list[_Row]] = defaultdict(list)
    for row in rows:
        by_device[row.stored.key.device, row.profile.id].append(row)
    found: list[Cells] = []
    noted: dict[str, object] = {}
    for where, own in sorted(by_device.items()):
        timings = [row.stored.timing for row in own]
        at = usual(((timing.batches_us, timing.paces_us) for timing in timings), _twice(own))
        noted[" ".join(where).strip()] = asdict(at)
        for row, timing in zip(own, timings, strict=True):
            time_us = runtime_us(timing.batches_us, timing.paces_us, at)
            found.append(row_cells(row.stored, time_us, row.profile.driver, row.profile.id))
    return found, noted


def _twice(rows: Collection[_Row]) -> list[tuple[Timed, Timed]]:
    """Return what was measured twice, and both times undisturbed."""
    quiet = {row.stored.key: row.stored.timing for row in rows if not row.stored.timing.is_disturbed}
    pairs = ((quiet.get(replace(key, repeat=0)), timing) for key, timing in quiet.items() if key.repeat == 1)
    return [((a.batches_us, a.paces_us), (b.batches_us, b.paces_us)) for a, b in pairs if a is not None]


def _profiles(stint: Stint) -> dict[str, _Profile]:
    """By OpenCL device."""
    return {each["id"]: _profile(each) for each in json.loads(stint.devices)}


def _profile(content: Mapping[str, Any]) -> _Profile:
    text = json.dumps(content, sort_keys=True)
    return _Profile(hashlib.sha256(text.encode()).hexdigest()[:16], str(content.get("driver") or NOT_KNOWN), content)


def _profile_of(device: str, profiles: Mapping[str, _Profile]) -> _Profile:
    """Of a device of the collection; one on another host may have none."""
    try:
        return profiles[corpus_device(device, profiles).device_id]
    except UnknownDevice:
        return _Profile(NOT_KNOWN, NOT_KNOWN, {})


def _compiled(
    store: CorpusStore,
    machine: str,
    launches: Mapping[str, Mapping[str, Cells]],
    has_code: set[tuple[str, str, int]],
) -> Iterator[Cells]:
    """Yield rows of compiled facts; launches that run the same code share a row.

    `has_code` holds the launches that had a row before, by their places.
    """
    for (own_id,) in store.read("SELECT DISTINCT device_id FROM builds ORDER BY device_id"):
        device_id = on_machine(machine, own_id)
        found: dict[tuple[str, str], list[int]] = defaultdict(list)
        for kernel_id, launch_key, text in store.facts(own_id):
            cells = launches.get(kernel_id, {}).get(launch_key)
            place = int(str(cells["place"])) if cells is not None else -1
            if place >= 0 and (device_id, kernel_id, place) not in has_code:
                found[kernel_id, _timeless(text)].append(place)
        for (kernel_id, text), places in found.items():
            try:
                facts = facts_from_json(text)
            except UnreadableFacts:
                continue  # an older version's: the next build replaces them, and a row does without
            has_code |= {(device_id, kernel_id, place) for place in places}
            yield compiled_cells(device_id, kernel_id, sorted(places), facts)


def _timeless(text: str) -> str:
    return json.dumps({**json.loads(text), "compiled_at": "", "warnings": []}, sort_keys=True)


def _versions() -> dict[str, str]:
    """Of the packages and repositories that kernels are from."""
    return {origin.name: origin.version for origin in read_origins()}


def written_by() -> dict[str, object]:
    """Return the versions of all that a dataset rests on, for the metadata of its files."""
    return {
        "generator": SEED,
        "kernelcast_version": version("kernelcast"),
        "commit": commit(),
        "analysis_version": ANALYSIS_VERSION,
        "compiled_facts_version": FACTS_VERSION,
    }


def commit() -> str:
    """Of Kernelcast's repository; empty where it was installed without."""
    here = Path(__file__).parent
    try:
        asked = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=here, capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return NOT_KNOWN
    return asked.stdout.strip() if asked.returncode == 0 else NOT_KNOWN
