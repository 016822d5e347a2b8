"""A campaign on one device: calibrate it, measure in the time that is left, predict, report. Call it again to go on.

Each phase has its share of the time. A finished row is kept at once, in the store of a collection below the folder: a
kill at any moment costs the launch that is under way.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from pathlib import Path

from cattrs.errors import BaseValidationError

from model.device import Device
from model.device_catalog import device_from_json, device_to_json
from model.device_curves import CALIBRATION_VERSION
from model.errors import KernelcastError
from profiler.calibrate import calibrate
from profiler.campaign.kernels import corpus_spread, own_kernels
from profiler.campaign.predicting import Predicted, predict_all
from profiler.campaign.report import Report, write_report
from profiler.campaign.rows import CampaignRow, count_written, read_store, write_rows
from profiler.corpus.collection.collect import Stop, collect
from profiler.corpus.collection.devices import usable_processors
from profiler.corpus.collection.lock import AlreadyCollecting
from profiler.corpus.collection.plan import CollectPlan
from profiler.corpus.collection.progress import Figures
from profiler.corpus.collection.schema import FILE_NAME
from profiler.corpus.collection.store import CorpusStore
from profiler.corpus.collection_jobs import JobLimits
from profiler.corpus.kernel import CorpusDevice
from profiler.measurement import Cancelled
from profiler.process.worker import CancelToken

CALIBRATION_SHARE, LEAST_CALIBRATION_S = 0.5, 240.0  # a calibration that takes longer is given up
MEASURING_SHARE = 1 / 3  # of the time, whatever the calibration took
OWN_SHARE = 0.5  # of the time for measuring, at most; the corpus gets the rest
FLOOR_SHARE = 0.1  # of the rows are measured twice: with some hundreds, 2 % would tell nothing
CHUNK_EACH, MOST_IN_CHUNK = 4, 64  # kernels for each processor: those of a chunk are built before they are timed
MOST_ADDED = 300  # kernels at a time
# A GPU's driver may need long to wake up, and a compiler on a busy host. A hang costs the first run's limit.
LIMITS = JobLimits(open_s=60.0, build_s=60.0, first_run_s=10.0)
PROFILE, WORK, PROGRESS, PHASES = "profile.json", "work", "campaign.json", "phases.jsonl"
OnProgress = Callable[[float, str], None]


class CalibrationWanted(StrEnum):
    FULL = "full"
    QUICK = "quick"
    NONE = "no"  # what an earlier call calibrated still holds


@dataclass(frozen=True, slots=True)
class CampaignPlan:
    """`device` is as its driver reports it. `own` is a folder of .cl files; None: the corpus alone."""

    folder: Path
    device: Device
    minutes: float
    own: Path | None
    calibration: CalibrationWanted = CalibrationWanted.FULL

    @property
    def work(self) -> Path:
        return self.folder / WORK


@dataclass(slots=True)
class _Campaign:
    """What the phases share, and what became of them."""

    plan: CampaignPlan
    on_progress: OnProgress
    cancel: CancelToken
    began_s: float = field(default_factory=time.monotonic)
    notes: list[str] = field(default_factory=list)
    calibrated: Device | None = None

    @property
    def end_s(self) -> float:
        return self.began_s + 60 * self.plan.minutes

    def is_over(self, deadline_s: float) -> bool:
        return self.cancel.is_set() or time.monotonic() >= deadline_s

    def tell(self, phase: str, doing: str) -> None:
        """Say it to the caller, and in a small file that anyone may watch."""
        spent_s = time.monotonic() - self.began_s
        told = {
            "phase": phase,
            "doing": doing,
            "spent_s": round(spent_s, 1),
            "minutes": self.plan.minutes,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        _write_whole(self.plan.work / PROGRESS, json.dumps(told, indent=2) + "\n")
        self.on_progress(min(1.0, spent_s / (60 * self.plan.minutes)), f"{phase}: {doing}" if doing else phase)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Note how long it took, for the report."""
        self.tell(name, "")
        began_at, began_s = datetime.now(UTC).isoformat(timespec="seconds"), time.monotonic()
        yield
        took = {"phase": name, "began_at": began_at, "took_s": round(time.monotonic() - began_s, 1)}
        with (self.plan.work / PHASES).open("a", encoding="utf-8") as file:
            file.write(json.dumps(took) + "\n")


def run_campaign(plan: CampaignPlan, on_progress: OnProgress, cancel: CancelToken) -> Report:
    """Do as much as the time allows of what earlier calls left; blocks until then or until cancelled, and reports.

    Raises AlreadyCollecting where another campaign works in the folder, and StoreError or DatasetError where it cannot
    be written. What the device fails to do is noted in the report.
    """
    plan.work.mkdir(parents=True, exist_ok=True)
    _write_whole(plan.work / ".gitignore", "*\n")  # the folder is committed, and what it is made of is not
    campaign = _Campaign(plan, on_progress, cancel)
    _keep_rows_of_a_killed_call(plan)
    with campaign.phase("calibrating"):
        campaign.calibrated = _calibrated(campaign)
    measuring_end_s = max(campaign.end_s, time.monotonic() + MEASURING_SHARE * 60 * plan.minutes)
    with campaign.phase("own kernels"):
        _measure_own(campaign, time.monotonic() + OWN_SHARE * (measuring_end_s - time.monotonic()))
    with campaign.phase("corpus"):
        _measure_corpus(campaign, measuring_end_s)
    rows, failures = _read(plan)
    profiles = {"before": plan.device, **({"after": campaign.calibrated} if campaign.calibrated else {})}
    write_rows(plan.folder, rows, {}, profiles)  # before the predictions, which take a while
    with campaign.phase("predicting"):
        predicted = _predicted(campaign, rows)
    write_rows(plan.folder, rows, predicted, profiles)
    report = Report(
        plan.device, campaign.calibrated, tuple(rows), predicted, _phases(plan), failures, tuple(campaign.notes)
    )
    write_report(plan.folder, report)
    campaign.tell("done", f"{len(rows)} rows")
    return report


def _keep_rows_of_a_killed_call(plan: CampaignPlan) -> None:
    """Bring into the Parquet file what a killed call left in the store alone."""
    rows, _ = _read(plan)
    if len(rows) != count_written(plan.folder):
        write_rows(plan.folder, rows, {}, {"before": plan.device})


# Phases


def _calibrated(campaign: _Campaign) -> Device | None:
    """Return the calibrated profile, an earlier call's where it still holds; None where there is none."""
    plan = campaign.plan
    kept = _kept_profile(plan)
    is_quick = plan.calibration is CalibrationWanted.QUICK
    if plan.calibration is CalibrationWanted.NONE:
        return kept
    if kept is not None and kept.calibration is not None and (is_quick or not kept.calibration.is_quick):
        return kept
    limit_s = max(LEAST_CALIBRATION_S, CALIBRATION_SHARE * 60 * plan.minutes)
    try:
        profile = calibrate(
            plan.device.id,
            on_progress=lambda _, doing: campaign.tell("calibrating", doing),
            cancel=Stop(campaign.cancel, time.monotonic() + limit_s),
            quick=is_quick,
        )
    except Cancelled:
        if not campaign.cancel.is_set():
            campaign.notes.append(f"The calibration did not end within {limit_s:.0f} s and was given up.")
        return kept
    except KernelcastError as error:
        campaign.notes.append(f"The device could not be calibrated: {error.message}")
        return kept
    _write_whole(plan.folder / PROFILE, device_to_json(profile))
    return profile


def _kept_profile(plan: CampaignPlan) -> Device | None:
    """Return an earlier call's, if it is of this device under this driver and of this version's calibration."""
    try:
        profile = device_from_json((plan.folder / PROFILE).read_text("utf-8"))
    except (OSError, ValueError, BaseValidationError):
        return None
    made = profile.calibration
    is_same = (profile.id, profile.name, profile.driver) == (plan.device.id, plan.device.name, plan.device.driver)
    return profile if is_same and made is not None and made.version >= CALIBRATION_VERSION else None


def _measure_own(campaign: _Campaign, deadline_s: float) -> None:
    if campaign.plan.own is None or campaign.is_over(deadline_s):
        return
    kernels, lost = own_kernels(campaign.plan.own, campaign.plan.device)
    campaign.notes += lost
    with _store(campaign.plan) as store:
        store.add_kernels(kernels)
    _collect(campaign, "own kernels", deadline_s)


def _measure_corpus(campaign: _Campaign, deadline_s: float) -> None:
    """Generate some kernels, measure all of them, and more of them each time."""
    with _store(campaign.plan) as store:
        known = {kernel.reference for kernel in store.all_kernels()}
    if known and not campaign.is_over(deadline_s):  # what an earlier call did not get to
        _collect(campaign, "corpus", deadline_s)
    coming = corpus_spread(known)
    count = usable_processors()  # few at first, so that the first row is there soon
    while not campaign.is_over(deadline_s):
        campaign.tell("corpus", f"generating {count} kernels")
        with _store(campaign.plan) as store:
            made = list(islice(coming, count))
            store.add_kernels(made)
        if not made or not _collect(campaign, "corpus", deadline_s):
            return
        count = min(2 * count, MOST_ADDED)


def _collect(campaign: _Campaign, phase: str, deadline_s: float) -> bool:
    """Measure what is due in the store; whether the device gets on."""
    plan = campaign.plan
    collecting = CollectPlan(
        (CorpusDevice(plan.device.id, plan.device.id),),
        chunk_kernels=_chunk_kernels(),
        builders=usable_processors(),
        in_turn=1,
        floor_share=FLOOR_SHARE,
        limits=LIMITS,
        bad_percent=100.0,  # each row says what others used; there is no time to measure it again
    )

    def tell(figures: Figures) -> None:
        left_s = max(0.0, deadline_s - time.monotonic())
        campaign.tell(phase, f"{figures.rows} rows of {figures.kernels} kernels, {figures.doing}, {left_s:.0f} s left")

    try:
        collect(
            plan.work,
            collecting,
            profiles=[plan.device],
            on_figures=tell,
            cancel=Stop(campaign.cancel, deadline_s),
        )
    except AlreadyCollecting:
        raise
    except KernelcastError as error:
        campaign.notes.append(f"Measuring ended early: {error.message}")
        return False
    return True


def _chunk_kernels() -> int:
    return min(CHUNK_EACH * usable_processors(), MOST_IN_CHUNK)


def _predicted(campaign: _Campaign, rows: list[CampaignRow]) -> dict[tuple[str, str], Predicted]:
    measured = {row.key for row in rows}
    kernels = []
    with _store(campaign.plan) as store:
        for kernel in store.kernels(list(dict.fromkeys(row.kernel.id for row in rows))).values():
            launches = tuple(each for each in kernel.launches if (kernel.id, each.launch.key) in measured)
            kernels.append(replace(kernel, launches=launches))

    def tell(done: int) -> None:
        campaign.tell("predicting", f"{done} of {len(kernels)} kernels")

    predicted, lost = predict_all(kernels, campaign.plan.device, campaign.calibrated, tell)
    campaign.notes += [f"Not predicted: {each}" for each in lost]
    return predicted


# Files


@contextmanager
def _store(plan: CampaignPlan) -> Iterator[CorpusStore]:
    store = CorpusStore(plan.work)
    try:
        yield store
    finally:
        store.close()


def _read(plan: CampaignPlan) -> tuple[list[CampaignRow], dict[str, int]]:
    """Return all rows, and how many launches and kernels were given up, by the code of their failure."""
    if not (plan.work / FILE_NAME).exists():
        return [], {}
    with _store(plan) as store:
        failures: dict[str, int] = {}
        for case in store.failures():
            failures[case.code] = failures.get(case.code, 0) + case.is_quarantined
        return read_store(store), {code: count for code, count in failures.items() if count}


def _phases(plan: CampaignPlan) -> dict[str, tuple[int, float]]:
    """Return the calls and seconds of each phase over all calls; a killed call's last phase is not among them."""
    found: dict[str, tuple[int, float]] = {}
    for line in (plan.work / PHASES).read_text("utf-8").splitlines():
        try:
            took = json.loads(line)
            calls, seconds = found.get(took["phase"], (0, 0.0))
            found[took["phase"]] = calls + 1, seconds + float(took["took_s"])
        except (ValueError, KeyError):
            continue  # a kill cut it off
    return found


def _write_whole(path: Path, text: str) -> None:
    """Replace the file at once: a reader finds the old content or the new one, never a part."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, "utf-8")
    os.replace(part, path)
