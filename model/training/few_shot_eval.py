"""What a few measurements on a device bring to what is said of other kernels there (`model.learned.residual_gp`)."""

from __future__ import annotations

import zlib
from dataclasses import replace

import numpy as np

from model.learned.novelty import Novelty
from model.learned.residual_gp import Launches, correction_of, shares_of
from model.training.figures import Figures, Line, figures_of, mean_figures
from model.training.rows import Floats, Ints, Rows

SHOTS = (3, 10, 30, 100)
_DRAWS = 10


def few_shot_table(rows: Rows, predicted: Floats, novelty: Novelty) -> list[Line]:
    """On the devices of the rows: each half of a split is judged after kernels of its other half were measured.

    Halves are of families or packages, whose kernels have nothing to do with each other, or of kernels, as when a user
    measures some of a program's.
    """
    lines = []
    launches = launches_of(rows, novelty)
    for split, strangers, names in (
        ("validation", "other families", rows.family),
        ("test-origins", "other packages", rows.origin),
    ):
        chosen = rows.judged(split)
        for how, whole in ((strangers, names), (strangers.replace("other", "the same"), rows.kernel)):
            half = np.array([zlib.crc32(str(name).encode()) % 2 for name in whole[chosen]], bool)
            ways = (chosen[~half], chosen[half]), (chosen[half], chosen[~half])
            if not all(len(part) for part in ways[0]):
                continue
            before = [figures_of(predicted[judged], rows.log2_us[judged]) for _, judged in ways]
            lines.append(Line(f"{how}: nothing measured", split, "all", mean_figures(before)))
            for shots in SHOTS:
                after = [few_shot(rows, predicted, rows.log2_us, launches, *way, shots) for way in ways]
                lines.append(Line(f"{how}: {shots} kernels measured", split, "all", mean_figures(after)))
    return lines


def launches_of(rows: Rows, novelty: Novelty) -> Launches:
    """As answers of the ensemble tell them: all rows."""
    places = novelty.places(rows.launch) / max(novelty.near, 1e-6)
    return Launches(shares_of(rows.analytic.astype(np.float64)), places.astype(np.float64))


def few_shot(
    rows: Rows, said: Floats, truth: Floats, launches: Launches, pool: Ints, judged: Ints, shots: int
) -> Figures:
    """Mean figures at `judged` over draws of `shots` launches from `pool`; each device is corrected by itself.

    `said` and `truth` are log2 us of all rows.
    """
    random = np.random.default_rng(shots)
    found = []
    for _ in range(_DRAWS):
        corrected = said.astype(np.float64)
        for device in np.unique(rows.device_name[judged]):
            own = pool[rows.device_name[pool] == device]
            shown = random.choice(own, min(shots, len(own)), replace=False)
            here = judged[rows.device_name[judged] == device]
            errors = (truth[shown] - said[shown]).astype(np.float64) * np.log(2)
            # All profiles of the dataset are calibrated.
            correction = correction_of(rows.kernel[shown].tolist(), launches.at(shown), errors, True)
            corrected[here] += correction.shifts(launches.at(here)) / np.log(2)
        corrected = np.maximum(corrected, rows.analytic[:, 1])
        found.append(figures_of(corrected[judged].astype(np.float32), truth[judged]))
    return replace(mean_figures(found), rows=len(judged))
