"""What a run of `make accuracy` has found so far, in one file per device and folder; a later run goes on from it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from model.device import Device
from model.device_catalog import device_from_json, device_to_json
from model.forecast import Forecast


@dataclass(slots=True)
class Measured:
    """All passes over one launch: each pass gives a median and the spread of its batches."""

    medians_us: list[float] = field(default_factory=list)
    spreads_percent: list[float] = field(default_factory=list)
    load_averages: list[float] = field(default_factory=list)
    failure: str | None = None

    @property
    def median_us(self) -> float:
        return median(self.medians_us)

    @property
    def noise_percent(self) -> float:
        """Largest distance of a pass from the median of all of them; of one pass alone, its batches' spread."""
        if len(self.medians_us) < 2:
            return median(self.spreads_percent)
        return 100 * max(abs(one / self.median_us - 1) for one in self.medians_us)


class Results:
    """Owns the file. Everything measured is written at once, so that nothing is lost when a run is stopped."""

    def __init__(self, path: Path, *, fresh: bool) -> None:
        self.path = path
        self.device: Device | None = None
        self.measured: dict[str, Measured] = {}
        self.tables: dict[str, Any] = {}
        if path.exists() and not fresh:
            stored = json.loads(path.read_text("utf-8"))
            self.device = device_from_json(json.dumps(stored["device"])) if stored.get("device") else None
            self.measured = {key: Measured(**one) for key, one in stored["measured"].items()}

    def of(self, file: Path, forecast: Forecast) -> Measured:
        """By the kernel's own text: whoever edits it measures anew."""
        kernel, launch = forecast.kernel, forecast.launch
        assert launch is not None
        lines = file.read_text("utf-8").splitlines()[kernel.range.start_line : kernel.range.end_line + 1]
        text = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
        return self.measured.setdefault(f"{kernel.name}/{launch.describe()}/{launch.name or ''}/{text}", Measured())

    def save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        content = {
            "device": json.loads(device_to_json(self.device)) if self.device else None,
            **self.tables,
            "measured": {
                key: {
                    "medians_us": one.medians_us,
                    "spreads_percent": one.spreads_percent,
                    "load_averages": one.load_averages,
                    "failure": one.failure,
                }
                for key, one in self.measured.items()
            },
        }
        temporary = self.path.with_suffix(".part")
        temporary.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
        temporary.replace(self.path)
