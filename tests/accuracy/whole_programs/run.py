"""How well whole programs are predicted: their time from end to end, and that of their transfers.

    .venv/bin/python tests/accuracy/whole_programs/run.py --device pocl

Each program in `programs` runs without the recorder (its own wall time, by its own clock, from its first buffer on; the
median of some runs), then once under it with profiling on, and is predicted from that recording. Builds and what a
driver compiles at a first launch are in neither time. The device must have been calibrated: transfers are priced by
its profile alone, kernels by the predictor with what is known of the device, but without what was measured of them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from model.program.recorded_parts import recorded_parts
from model.program.timeline import Part
from profiler.recording.recordings import recorded_commands, sources_of
from profiler.recording.session import Wanted, record
from profiler.store import Store
from server.analysis.store_cache import StoreCache
from server.cli.device_choice import Devices
from server.cli.forecasts import Forecaster
from server.cli.learned import sources_of as sources_to_predict_by
from server.program.forecast import Programs, recorded_program

HERE = Path(__file__).resolve().parent
# As in calibrations: PoCL pins nothing by default, and times of kernels flip between t and 2t.
ENVIRONMENT = {**os.environ, "POCL_AFFINITY": "1"}
PLATFORMS = {"pocl": "portable", "intel-cpu": "intel"}


@dataclass(frozen=True, slots=True)
class Row:
    """One program [ms]. `wall_ms` by its own clock without the recorder; `with_kernels_ms` is the prediction if kernels
    took their recorded times."""

    program: str
    commands: int
    wall_ms: float
    recorded_ms: float
    predicted_ms: float
    with_kernels_ms: float
    host_ms: float
    kernels_ms: float
    predicted_kernels_ms: float
    transfers_ms: float
    predicted_transfers_ms: float

    @property
    def error(self) -> float:
        return abs(self.predicted_ms / self.wall_ms - 1)

    @property
    def composition_error(self) -> float:
        return abs(self.with_kernels_ms / self.wall_ms - 1)

    @property
    def transfer_error(self) -> float:
        return abs(self.predicted_transfers_ms / self.transfers_ms - 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="pocl", choices=sorted(PLATFORMS))
    parser.add_argument("--runs", type=int, default=3, help="of each program without the recorder")
    parser.add_argument("--programs", nargs="*", help="only these, by name")
    parser.add_argument("--results", type=Path, help="write the rows there as JSON")
    arguments = parser.parse_args()
    files = sorted(each for each in (HERE / "programs").glob("*.py") if each.stem != "session")
    files = [each for each in files if not arguments.programs or each.stem in arguments.programs]
    rows = [_row(each, arguments.device, arguments.runs) for each in files]
    _show(rows)
    if arguments.results:
        arguments.results.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", "utf-8")


def _row(file: Path, device: str, runs: int) -> Row:
    command = [sys.executable, str(file), PLATFORMS[device]]
    _wall_ms(command)  # fills the driver's cache of compiled kernels
    walls_ms = [_wall_ms(command) for _ in range(runs)]
    devices = Devices()
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "kernelcast.sqlite3")
        ran = record(command, ENVIRONMENT, Wanted(profile=True), lambda: store, lambda: devices.here)
        commands = recorded_commands(store, ran.recording.id)
        assert commands is not None, ran.why_nothing
        program = recorded_program(ran.recording.launches, commands, sources_of(store))
        by = sources_to_predict_by(StoreCache(), analytic_only=False, ignore_recordings=True)
        programs = Programs(Forecaster(devices.to_predict_for, by), devices.to_predict_for)
        predicted = programs.forecast(program)
        with_kernels = programs.forecast(program, recorded=[Part.KERNEL])
    for note in predicted.notes:
        print(f"{file.stem}: {note}", file=sys.stderr)
    parts = recorded_parts(commands)
    return Row(
        program=file.stem,
        commands=len(commands.commands),
        wall_ms=median(walls_ms),
        recorded_ms=parts.without_builds_us / 1e3,
        predicted_ms=predicted.without_builds_us / 1e3,
        with_kernels_ms=with_kernels.without_builds_us / 1e3,
        host_ms=parts.host_us / 1e3,
        kernels_ms=(parts.kernels_us or 0.0) / 1e3,
        predicted_kernels_ms=predicted.timeline.busy_us[Part.KERNEL] / 1e3,
        transfers_ms=(parts.transfers_us or 0.0) / 1e3,
        predicted_transfers_ms=predicted.timeline.busy_us[Part.TRANSFER] / 1e3,
    )


def _wall_ms(command: Sequence[str]) -> float:
    return float(
        subprocess.run(command, capture_output=True, text=True, check=True, env=ENVIRONMENT).stdout.split()[-1]
    )


def _show(rows: Sequence[Row]) -> None:
    table = Table(title="milliseconds; ratios of prediction to wall time")
    for name in (
        "Program", "Commands", "Wall", "Recorded", "Predicted", "Ratio", "With recorded kernels", "Host, as recorded",
        "Kernels", "Predicted", "Transfers", "Predicted", "Ratio",
    ):  # fmt: skip
        table.add_column(name, justify="left" if name == "Program" else "right")
    for row in rows:
        table.add_row(
            row.program, str(row.commands), f"{row.wall_ms:.1f}", f"{row.recorded_ms:.1f}", f"{row.predicted_ms:.1f}",
            f"{row.predicted_ms / row.wall_ms:.2f}",
            f"{row.with_kernels_ms:.1f} ({row.with_kernels_ms / row.wall_ms:.2f})", f"{row.host_ms:.1f}",
            f"{row.kernels_ms:.1f}", f"{row.predicted_kernels_ms:.1f}", f"{row.transfers_ms:.1f}",
            f"{row.predicted_transfers_ms:.1f}", f"{row.predicted_transfers_ms / row.transfers_ms:.2f}",
        )  # fmt: skip
    Console(width=200).print(table)
    print(
        f"median error of {len(rows)} programs: end to end {median(row.error for row in rows):.0%}, with the recorded"
        f" times of kernels {median(row.composition_error for row in rows):.0%}; transfers"
        f" {median(row.transfer_error for row in rows):.0%}"
    )


if __name__ == "__main__":
    main()
