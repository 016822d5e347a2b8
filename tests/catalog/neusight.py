"""Holds the rules of thumb for GPUs against streaming kernels on seven of them: `make catalog ARGS="--hold DATA"`.

The data are elementwise operations of PyTorch as timed by sitar-lab/NeuSight (MIT); the same traffic is predicted from
a kernel of our own. DATA is its table of vector operations, a CSV with the columns OPName, Latency [ms], Device, B, H.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from model.device import Device
from model.engine import Engine
from model.known_devices import find_builtin_by_name

TWO_TO_ONE, ONE_TO_ONE = ("add", "mul"), ("addu", "mulu", "relu")  # no division: pow and tanh compute, too
ITEMS, GROUP = 4, 128  # floats for each work-item, work-items for each group, as PyTorch launches them
SOURCE = """
__kernel void two_to_one(__global const float4 *x, __global const float4 *y, __global float4 *z) {
    size_t i = get_global_id(0);
    z[i] = x[i] + y[i];
}
__kernel void one_to_one(__global const float4 *x, __global float4 *z) {
    size_t i = get_global_id(0);
    z[i] = x[i] * 3.0f;
}
"""
MOST_A_DEVICE = 60


def hold(path: Path) -> list[tuple[str, int, float, float, float]]:
    """Of each device: name, rows, median APE [%], geometric error factor, and median of predicted over measured."""
    engine, rows = Engine(), []
    for name, measured in sorted(_measured(path).items()):
        device = find_builtin_by_name(name)
        if device is None:
            continue
        able = [each for each in sorted(measured) if 4 * each[0] < device.max_alloc_bytes]
        every = able[:: max(1, len(able) // MOST_A_DEVICE)]
        ratios = [_predicted_us(engine, kernel, floats, device) / time_us for floats, time_us, kernel in every]
        apes = [abs(ratio - 1) for ratio in ratios]
        factor = math.exp(sum(abs(math.log(ratio)) for ratio in ratios) / len(ratios))
        rows.append((name, len(ratios), 100 * median(apes), factor, median(ratios)))
    return rows


def table(rows: Sequence[tuple[str, int, float, float, float]]) -> Iterator[str]:
    yield "| Device | n | median APE | error factor | predicted / measured |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for name, n, ape, factor, ratio in rows:
        yield f"| {name} | {n} | {ape:.0f} % | {factor:.2f} | {ratio:.2f} |"


def _measured(path: Path) -> dict[str, list[tuple[int, float, str]]]:
    content = path.read_bytes()
    content = gzip.decompress(content) if path.suffix == ".gz" else content
    found: dict[str, list[tuple[int, float, str]]] = defaultdict(list)
    for row in csv.DictReader(io.StringIO(content.decode(), newline="")):
        kernel = "two_to_one" if row["OPName"] in TWO_TO_ONE else "one_to_one"
        if row["OPName"] in (*TWO_TO_ONE, *ONE_TO_ONE):
            floats = int(float(row["B"]) * float(row["H"]))
            found[row["Device"]].append((floats, 1000 * float(row["Latency"]), kernel))
    return found


def _predicted_us(engine: Engine, kernel: str, floats: int, device: Device) -> float:
    vectors = floats // ITEMS
    groups = math.ceil(vectors / GROUP) * GROUP
    buffers = " ".join(f"{name}={groups}" for name in ("xyz" if kernel == "two_to_one" else "xz"))
    annotated = "\n".join(
        f"// kernelcast: global=({groups},) local=({GROUP},) {buffers}\n{line}" if f"void {kernel}" in line else line
        for line in SOURCE.splitlines()
    )
    forecasts = engine.forecast(annotated, None, device).forecasts
    prediction = next(f.prediction for f in forecasts if f.kernel.name == kernel)
    assert prediction is not None
    return prediction.runtime_us.p50
