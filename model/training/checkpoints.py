"""What a run of training has finished, kept in a folder: one that was stopped goes on where it was.

Each part lies there in full precision, stamped with what it was trained on and how; a part of another stamp is made
anew. So a run that was stopped ends with the very weights of one that was not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from model.learned.cost_network import CostNetwork
from model.learned.forest import Forest
from model.training.rows import Rows

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Curves = dict[str, list[tuple[int, float]]]  # name -> (step, value), by step


def append(path: Path, step: int, values: dict[str, float]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"step": step, **{name: float(f"{value:.6g}") for name, value in values.items()}}) + "\n")


def read_curves(path: Path) -> Curves:
    """Read `loss`, `learning_rate`, `validation/pocl/within_2x` ... of a run.

    A run that went on from a checkpoint says some steps twice: the later line counts. A line cut off by a crash is
    skipped.
    """
    curves: dict[str, dict[int, float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            values = json.loads(line)
        except json.JSONDecodeError:
            continue
        step = values.pop("step")
        for name, value in values.items():
            curves.setdefault(name, {})[step] = value
    return {name: sorted(points.items()) for name, points in curves.items()}


Arrays = dict[str, npt.NDArray[Any]]
_LAYER = "layer"
PROGRESS = "progress.jsonl"


@dataclass(frozen=True, slots=True)
class Kept:
    """`folder` None keeps nothing."""

    folder: Path | None = None
    stamp: str = ""

    @classmethod
    def of(cls, folder: Path, rows: Rows, recipe: DataclassInstance) -> Kept:
        """For one recipe on these rows."""
        digest = hashlib.sha256(json.dumps(asdict(recipe), sort_keys=True).encode())
        for column in fields(rows):
            digest.update(np.ascontiguousarray(getattr(rows, column.name)).tobytes())
        return cls(folder, digest.hexdigest())

    def network(self, name: str, make: Callable[[Callable[[int, float], None]], CostNetwork]) -> CostNetwork:
        """`make` is given what is to hear of each epoch: its number and error, which go into `PROGRESS`."""
        found = self._read(name)
        if found is not None:
            return _as_network(found)
        made = make(self._hears(name))
        self._write(name, _of_network(made))
        return made

    def forest(self, name: str, make: Callable[[], Forest]) -> Forest:
        found = self._read(name)
        if found is not None:
            baseline, depth = found.pop("baseline").item(), found.pop("depth").item()
            return Forest(baseline=float(baseline), depth=int(depth), **found)
        made = make()
        self._write(name, {each.name: np.asarray(getattr(made, each.name)) for each in fields(made)})
        return made

    def _hears(self, name: str) -> Callable[[int, float], None]:
        def hear(epoch: int, error_octaves: float) -> None:
            if self.folder is not None:
                self.folder.mkdir(parents=True, exist_ok=True)
                append(self.folder / PROGRESS, epoch, {f"{name}/error_octaves": error_octaves})

        return hear

    def _read(self, name: str) -> Arrays | None:
        if self.folder is None:
            return None
        try:
            with safe_open(self._place(name), "np") as file:
                if (file.metadata() or {}).get("stamp") != self.stamp:
                    return None
                return {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - no mapping
        except (FileNotFoundError, SafetensorError):
            return None  # never written, or cut off

    def _write(self, name: str, arrays: Arrays) -> None:
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self._place(name)
        written = path.with_suffix(".part")
        save_file({key: np.ascontiguousarray(array) for key, array in arrays.items()}, written, {"stamp": self.stamp})
        written.replace(path)

    def _place(self, name: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{name.replace(' ', '-')}.safetensors"


def _of_network(network: CostNetwork) -> Arrays:
    arrays = {each.name: getattr(network, each.name) for each in fields(network) if each.name != "layers"}
    for number, (weight, bias) in enumerate(network.layers):
        arrays |= {f"{_LAYER}.{number}.weight": weight, f"{_LAYER}.{number}.bias": bias}
    return arrays


def _as_network(arrays: Arrays) -> CostNetwork:
    count = sum(name.startswith(_LAYER) and name.endswith("weight") for name in arrays)
    layers = tuple((arrays[f"{_LAYER}.{n}.weight"], arrays[f"{_LAYER}.{n}.bias"]) for n in range(count))
    return CostNetwork(layers=layers, **{key: array for key, array in arrays.items() if not key.startswith(_LAYER)})
