"""Training shared out between processes, as torchrun starts them."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

from model.training.arrays import Arrays
from model.training.progress import read_curves

TRAIN = """
import pickle
import sys
from dataclasses import replace
from pathlib import Path
from model.training.recipe import CPU
from model.training.train_network import train_network

small = dict(width=16, heads=2, layers=1, slots=2, longest=32, pieces=3)
recipe = replace(
    CPU, steps=4, head_steps=4, evaluate_every=2, kernels_per_step=4, other_rows=5, head_rows=8, cpu_threads=1
)
network = train_network(pickle.loads(Path(sys.argv[1]).read_bytes()), Path(sys.argv[2]), recipe, **small).network
total = sum(p.double().abs().sum().item() for p in network.parameters())
sys.stdout.write(f"sum {total}\\n")  # at once: both write to one pipe
"""


def test_two_processes_train_one_network(arrays: Arrays, tmp_path: Path, repository: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(TRAIN, encoding="utf-8")
    kept = tmp_path / "arrays.pickle"
    kept.write_bytes(pickle.dumps(arrays))
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*command, script, kept, tmp_path / "run"],
        env={**os.environ, "PYTHONPATH": str(repository)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    sums = [line for line in done.stdout.splitlines() if line.startswith("sum")]
    assert len(sums) == 2
    assert len(set(sums)) == 1
    assert [step for step, _ in read_curves(tmp_path / "run" / "head" / "progress.jsonl")["error"]] == [2, 4]
