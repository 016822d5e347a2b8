"""From the store of a collection to the dataset's files. It may be done while the collection goes on."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from model.compiled import FACTS_VERSION, UnreadableFacts, facts_from_json
from profiler.corpus.collection.devices import corpus_device
from profiler.corpus.collection.schema import FILE_NAME
from profiler.corpus.collection.store import CorpusStore
from profiler.corpus.dataset.arrow import write_table
from profiler.corpus.dataset.cells import Cells, compiled_cells, kernel_cells, launch_cells, row_cells
from profiler.corpus.dataset.columns import COMPILED, KERNELS, LAUNCHES, ROWS, TABLES, DatasetError
from profiler.corpus.dataset.signed import Signer
from profiler.corpus.generate import SEED
from profiler.corpus.kernel import GENERATOR
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


def export(work: Path, folder: Path) -> ExportSummary:
    """Write every kernel that has a row, its launches, rows and compiled code; replaces what was in `folder`.

    Raises DatasetError, or StoreError where the collection's store cannot be read.
    """
    if not (work / FILE_NAME).is_file():
        raise DatasetError(f"{work} holds no collection: {FILE_NAME} is missing; see `kernelcast dataset collect`")
    store = CorpusStore(work)
    try:
        with Signer(work) as signer:
            return _export(store, folder, signer)
    finally:
        store.close()


def _export(store: CorpusStore, folder: Path, signer: Signer) -> ExportSummary:
    rows = list(_rows(store))
    profiles = {profile.id: dict(profile.content) for stint in _profiles(store).values() for profile in stint.values()}
    measured = {str(row["kernel_id"]) for row in rows}
    versions = {GENERATOR: SEED, **_versions()}
    kernels: list[Cells] = []
    launches: list[Cells] = []
    for kernel in store.all_kernels():
        if kernel.id in measured:
            tokens, made = signer.sign(kernel)
            kernels.append(kernel_cells(kernel, versions.get(kernel.origin, NOT_KNOWN), tokens, made))
            launches += [launch_cells(kernel.id, place, each) for place, each in enumerate(kernel.launches)]
    places = {(str(each["kernel_id"]), str(each["key"])): int(str(each["place"])) for each in launches}
    facts = _metadata()
    compiled = list(_compiled(store, places))
    write_table(folder, KERNELS, kernels, facts)
    write_table(folder, LAUNCHES, launches, facts)
    write_table(folder, ROWS, rows, {**facts, "profiles": profiles})
    write_table(folder, COMPILED, compiled, facts)
    sizes = tuple((table.file_name, (folder / table.file_name).stat().st_size) for table in TABLES)
    return ExportSummary(len(kernels), len(launches), len(rows), len(compiled), sizes)


def _rows(store: CorpusStore) -> Iterator[Cells]:
    profiles = _profiles(store)
    whole: dict[tuple[int, str], _Profile] = {}
    for row in store.rows():
        where = row.stint, row.key.device
        if where not in whole:
            here = profiles[row.stint]
            whole[where] = here[corpus_device(row.key.device, here).device_id]
        yield row_cells(row, whole[where].driver, whole[where].id)


def _profiles(store: CorpusStore) -> dict[int, dict[str, _Profile]]:
    """By stint and OpenCL device."""
    return {
        stint.number: {each["id"]: _profile(each) for each in json.loads(stint.devices)} for stint in store.stints()
    }


def _profile(content: Mapping[str, Any]) -> _Profile:
    text = json.dumps(content, sort_keys=True)
    return _Profile(hashlib.sha256(text.encode()).hexdigest()[:16], str(content.get("driver") or NOT_KNOWN), content)


def _compiled(store: CorpusStore, places: Mapping[tuple[str, str], int]) -> Iterator[Cells]:
    """Launches that run the same code share a row."""
    for (device_id,) in store.read("SELECT DISTINCT device_id FROM builds ORDER BY device_id"):
        found: dict[tuple[str, str], list[int]] = defaultdict(list)
        for kernel_id, launch_key, text in store.facts(device_id):
            place = places.get((kernel_id, launch_key))
            if place is not None:
                found[kernel_id, _timeless(text)].append(place)
        for (kernel_id, text), same in found.items():
            try:
                yield compiled_cells(device_id, kernel_id, sorted(same), facts_from_json(text))
            except UnreadableFacts:
                continue  # an older version's: the next build replaces them, and a row does without


def _timeless(text: str) -> str:
    return json.dumps({**json.loads(text), "compiled_at": "", "warnings": []}, sort_keys=True)


def _versions() -> dict[str, str]:
    """Of the packages and repositories that kernels are from."""
    return {origin.name: origin.version for origin in read_origins()}


def _metadata() -> dict[str, object]:
    return {
        "generator": SEED,
        "kernelcast_version": version("kernelcast"),
        "commit": _commit(),
        "compiled_facts_version": FACTS_VERSION,
    }


def _commit() -> str:
    """Of Kernelcast's repository; empty where it was installed without."""
    here = Path(__file__).parent
    try:
        asked = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=here, capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return NOT_KNOWN
    return asked.stdout.strip() if asked.returncode == 0 else NOT_KNOWN
