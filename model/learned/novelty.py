"""How far a launch is from all that the model was trained on: the nearest of many, in what varies most among them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
_FARTHEST = np.float32(6.0)  # standard deviations


@dataclass(frozen=True, slots=True, eq=False)
class Novelty:
    """`directions` [dimensions, launch facts]; `seen` [points, dimensions] are launches of kernels in training.

    `near` and `far` are the distances at which the novelty is 0 and 1.
    """

    mean: Floats
    per_deviation: Floats
    directions: Floats
    seen: Floats
    near: float
    far: float

    def places(self, launch: Floats) -> Floats:
        """[rows, launch facts] -> [rows, dimensions]."""
        normal = np.minimum(np.maximum((launch - self.mean) * self.per_deviation, -_FARTHEST), _FARTHEST)
        found: Floats = normal @ self.directions.T
        return found

    def distances(self, places: Floats) -> Floats:
        """[rows, dimensions] -> [rows], to the nearest that was seen."""
        own = (places * places).sum(axis=1)  # [rows], the same whichever point is nearest
        others = _squares(self) - (places + places) @ self.seen.T  # [rows, points]
        found: Floats = np.sqrt(np.maximum(others.min(axis=1) + own, 0))
        return found

    def of(self, places: Floats) -> Floats:
        """[rows, dimensions] -> [rows]: 0 = as seen in training, 1 = unlike anything."""
        found: Floats = np.clip((self.distances(places) - self.near) / (self.far - self.near), 0, 1)
        return found


@lru_cache(8)
def _squares(novelty: Novelty) -> Floats:
    """[points]: how far each point that was seen is from the middle, squared."""
    found: Floats = (novelty.seen**2).sum(axis=1)
    return found
