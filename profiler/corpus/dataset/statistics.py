"""What a dataset holds, counted: kernels and rows by where they come from, times, independence of sizes, noise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from profiler.corpus.dataset.correlation import within
from profiler.corpus.dataset.frame import Frame, Names, Numbers
from profiler.corpus.dataset.signatures import first_of_their_kind
from profiler.corpus.kernel import GENERATOR

DECADES = tuple(range(-1, 6))  # of microseconds, by their exponents; what is beyond counts to the outermost


@dataclass(frozen=True, slots=True)
class Count:
    """Of one family, group or origin. `patterns` are kernels that are no near-duplicates of others in their family."""

    name: str
    kernels: int
    patterns: int
    rows: int
    decades: tuple[int, ...]  # rows by `DECADES`


@dataclass(frozen=True, slots=True)
class DeviceFigures:
    """`noise_..._percent`: between a row and its repetition in another process; `raw`: of times as they were."""

    id: str
    driver: str
    kernels: int
    rows: int  # repetitions among them
    disturbed_percent: float
    repeated: int
    noise_median_percent: float | None
    noise_p90_percent: float | None
    raw_noise_median_percent: float | None
    raw_noise_p90_percent: float | None
    decades: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Independence:
    """Spearman's rank correlation of the global size with one other size, within each family where both vary."""

    name: str
    by_family: tuple[tuple[str, float], ...]  # of the generator
    by_origin: tuple[tuple[str, float], ...]  # of real kernels, whose sizes were mostly inferred from each other


def median_amount(correlations: Sequence[tuple[str, float]]) -> float | None:
    """Of correlations without their signs."""
    return float(np.median([abs(value) for _, value in correlations])) if correlations else None


@dataclass(frozen=True, slots=True)
class Statistics:
    kernels: int
    patterns: int
    launches: int
    rows: int
    real_kernels: int
    real_rows: int
    origins: tuple[Count, ...]  # the generator among them
    groups: tuple[Count, ...]
    families: tuple[Count, ...]  # the generator's; origins of real kernels are none
    devices: tuple[DeviceFigures, ...]
    independence: tuple[Independence, ...]
    varied_data_percent: float  # of the kernels: several data sizes at one global size
    varied_global_percent: float  # of the kernels: several global sizes at one data size

    def as_plain(self) -> dict[str, Any]:
        """Made of what JSON knows."""
        return {**asdict(self), "decades_us": [10.0**exponent for exponent in DECADES]}


def statistics_of(frame: Frame) -> Statistics:
    rows = frame.rows
    generated = np.array([word == GENERATOR for word in frame.origins.words], bool)[frame.origins.of_kernel]
    of_generator = {frame.families.words[number] for number in frame.families.of_kernel[generated]}
    varied_data, varied_global = _varied(frame)
    patterns = _patterns(frame)
    families = _counts(frame.families, frame, patterns)
    return Statistics(
        kernels=len(frame.ids),
        patterns=int(patterns.sum()),
        launches=len(frame.launches.kernel),
        rows=len(rows.launch),
        real_kernels=int((~generated).sum()),
        real_rows=int((~generated)[rows.kernel].sum()),
        origins=_counts(frame.origins, frame, patterns),
        groups=_counts(frame.groups, frame, patterns),
        families=tuple(count for count in families if count.name in of_generator),
        devices=tuple(_device(frame, number) for number in range(len(frame.devices))),
        independence=_independence(frame, of_generator),
        varied_data_percent=varied_data,
        varied_global_percent=varied_global,
    )


def ratios(frame: Frame, device: int, times_us: Numbers) -> Numbers:
    """Return |ln| of the ratio of a repetition's time to the first one, for all undisturbed pairs of a device.

    `times_us`: one of those of the frame's rows.
    """
    rows = frame.rows
    own = (rows.device == device) & ~rows.is_disturbed
    first, again = (own & (rows.repeat == repeat) for repeat in (0, 1))
    _, left, right = np.intersect1d(rows.launch[first], rows.launch[again], return_indices=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Numbers = np.abs(np.log(times_us[again][right] / times_us[first][left]))
    return found[np.isfinite(found)]


def percent(log_ratio: float) -> float:
    return 100 * (float(np.exp(log_ratio)) - 1)


def _device(frame: Frame, device: int) -> DeviceFigures:
    rows = frame.rows
    own = rows.device == device
    noise, raw = (ratios(frame, device, times_us) for times_us in (rows.runtime_us, rows.median_us))
    return DeviceFigures(
        id=frame.devices[device],
        driver=frame.drivers[device],
        kernels=len(np.unique(rows.kernel[own])),
        rows=int(own.sum()),
        disturbed_percent=100 * float(rows.is_disturbed[own].mean()),
        repeated=int((own & (rows.repeat == 1)).sum()),
        noise_median_percent=percent(np.median(noise)) if len(noise) else None,
        noise_p90_percent=percent(np.quantile(noise, 0.9)) if len(noise) else None,
        raw_noise_median_percent=percent(np.median(raw)) if len(raw) else None,
        raw_noise_p90_percent=percent(np.quantile(raw, 0.9)) if len(raw) else None,
        decades=_decades(rows.runtime_us[own]),
    )


def _patterns(frame: Frame) -> Numbers:
    """Return which kernels are the first of their kind, each within its family."""
    found = np.zeros(len(frame.ids), bool)
    for number in range(len(frame.families.words)):
        own = np.flatnonzero(frame.families.of_kernel == number)
        found[own] = first_of_their_kind(frame.signatures[own])
    return found


def _counts(names: Names, frame: Frame, patterns: Numbers) -> tuple[Count, ...]:
    """Return the largest first."""
    kernels, first = names.counts(), names.counts(patterns)
    times_us, of_row = frame.rows.runtime_us, names.of_kernel[frame.rows.kernel]
    found = []
    for number, word in enumerate(names.words):
        own = times_us[of_row == number]
        found.append(Count(word, kernels[word], first[word], len(own), _decades(own)))
    return tuple(sorted(found, key=lambda count: (-count.kernels, count.name)))


def _decades(times_us: Numbers) -> tuple[int, ...]:
    exponents = np.floor(np.log10(np.maximum(times_us, 1e-9))).clip(DECADES[0], DECADES[-1])
    return tuple(int((exponents == exponent).sum()) for exponent in DECADES)


def _independence(frame: Frame, of_generator: Set[str]) -> tuple[Independence, ...]:
    """Runtimes are those of all devices, of which each family's mean is taken."""
    launches, rows, words = frame.launches, frame.rows, frame.families.words

    def named(name: str, found: Mapping[int, float]) -> Independence:
        pairs = sorted((words[number], value) for number, value in found.items())
        ours = tuple(pair for pair in pairs if pair[0] in of_generator)
        return Independence(name, ours, tuple(pair for pair in pairs if pair[0] not in of_generator))

    family = frame.families.of_kernel[launches.kernel]
    sizes = {
        "buffer length": launches.longest_buffer,
        "scalar": launches.largest_scalar,
        "data size": launches.data,
    }
    found = [named(name, within(family, launches.items, other)) for name, other in sizes.items()]
    times: dict[int, list[float]] = defaultdict(list)
    for device in range(len(frame.devices)):
        own = (rows.device == device) & (rows.repeat == 0)
        items, of_row = launches.items[rows.launch[own]], family[rows.launch[own]]
        for number, value in within(of_row, items, rows.runtime_us[own]).items():
            times[number].append(value)
    return (*found, named("runtime", {number: float(np.mean(values)) for number, values in times.items()}))


def _varied(frame: Frame) -> tuple[float, float]:
    """Percent of the kernels with several data sizes at one global size, and the other way round."""
    launches = frame.launches
    both = np.unique(np.stack([launches.kernel, launches.items, launches.data]), axis=1)
    shares = []
    for fixed in (1, 2):
        pairs, counts = np.unique(both[[0, fixed]], axis=1, return_counts=True)
        shares.append(100 * len(np.unique(pairs[0][counts > 1])) / max(1, len(frame.ids)))
    return shares[0], shares[1]
