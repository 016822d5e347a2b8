"""What a few measurements on a device say of a model's errors there: a Gaussian process over the launches' facts.

Two launches that look alike are believed to be off alike; and all launches on a device share a part of it. After the
idea of HELP (Lee et al., NeurIPS 2021, arXiv 2106.08630), that a device is best described by ten measurements on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
_MOST_SIGMAS = 4.0


@dataclass(frozen=True, slots=True)
class Beliefs:
    """How far the logarithm of measured over predicted strays, before anything is measured."""

    shared: float = 0.15  # in common to all launches on the device
    alike: float = 0.4  # in common to launches that look alike
    reach: float = 0.6  # the distance at which likeness fades; 1.4 lies between two launches drawn at random
    alone: float = 0.25  # of each launch by itself
    most: float = 0.4  # what is further off says little of others: it counts as this far


def likeness(facts: Floats) -> Floats:
    """[rows, facts] -> [rows, those that vary]: all on the same scale, so that random rows are about 1.4 apart."""
    kept = np.nan_to_num(facts, nan=0.0)
    kept = kept[:, np.ptp(kept, axis=0) > 0]
    scaled = (kept - kept.mean(0)) / (kept.std(0) + 1e-6)
    found: Floats = np.clip(scaled, -_MOST_SIGMAS, _MOST_SIGMAS) / np.sqrt(max(1, kept.shape[1]))
    return found


def expected_errors(known: Floats, errors: Floats, asked: Floats, beliefs: Beliefs | None = None) -> Floats:
    """Errors [asked] to be expected where `errors` [known] were seen. Rows of `likeness` go with both.

    By as much as all that was seen is off at least, all the rest is taken to be, the more was seen; what is beyond,
    launches like it. One measurement speaks for no launch unlike it.
    """
    beliefs = beliefs or Beliefs()
    among = _covariance(known, known, beliefs) + beliefs.alone**2 * np.eye(len(known))
    agreed = (max(float(errors.min()), 0.0) + min(float(errors.max()), 0.0)) * (len(errors) - 1) / (len(errors) + 1)
    beyond = np.clip(errors - agreed, -beliefs.most, beliefs.most)
    found: Floats = agreed + _covariance(asked, known, beliefs) @ np.linalg.solve(among, beyond)
    return found


def _covariance(a: Floats, b: Floats, beliefs: Beliefs) -> Floats:
    squares = (a**2).sum(1)[:, None] + (b**2).sum(1)[None] - 2 * a @ b.T
    fading: Floats = np.exp(-np.maximum(squares, 0) / (2 * beliefs.reach**2))
    return beliefs.shared**2 + beliefs.alike**2 * fading
