"""What the boosted trees see of a question: its facts in one row, with the laws' times against their sum.

Of the device they see which runtime it has and how many units: its rates speak through the laws, so that the trees
carry to machines that they never saw.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from model.learned.compiled_facts import COMPILED_FACT_NAMES
from model.learned.device_facts import DEVICE_FACT_NAMES
from model.learned.launch_facts import LAUNCH_FACT_NAMES
from model.learned.law_facts import LAW_FACT_NAMES

Floats = npt.NDArray[np.float32]
_LEAST = -20.0  # log2 of the share below which a resource does not matter
_SEEN = ("shape.is_pocl", "shape.is_intels", "shape.compute_units")
_OF_DEVICE = [DEVICE_FACT_NAMES.index(name) for name in _SEEN]
INPUT_NAMES = (*LAUNCH_FACT_NAMES, *(f"law.{name}" for name in LAW_FACT_NAMES), *_SEEN)
COMPILED_INPUT_NAMES = (*INPUT_NAMES, *(f"compiled.{name}" for name in COMPILED_FACT_NAMES))


def source_inputs(launch: Floats, laws: Floats, device: Floats) -> Floats:
    """[rows, launch facts], [rows, law facts], [rows, device facts] -> [rows, INPUT_NAMES]."""
    total = laws[:, :1]
    shares = np.maximum(laws[:, 1:] - total, _LEAST)
    return np.concatenate([launch, total, shares, device[:, _OF_DEVICE]], axis=1, dtype=np.float32)


def compiled_inputs(source: Floats, compiled: Floats) -> Floats:
    """[rows, INPUT_NAMES], [rows, compiled facts] -> [rows, COMPILED_INPUT_NAMES]."""
    return np.concatenate([source, compiled], axis=1, dtype=np.float32)
