"""Training shared out between processes, as torchrun starts them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra `train` installs it")
pytest.importorskip("transformers", reason="the extra `train` installs it")

from model.training.checkpoints import read_curves

TRAIN = """
import sys
from pathlib import Path
from model.launch.launch import Launch
from model.training.trainer import Recipe
from model.training.text_encoder import Shape
from model.training.text_only import RowTexts, train_text_only
from tests.made_world import made_rows

rows = made_rows()
tokens = {kernel: ("kernel", "void", "v0", "(", ")", "{", "v1", ";", "}") for kernel in rows.kernel.tolist()}
launches = {key: Launch((64,)) for key in zip(rows.kernel.tolist(), rows.launch_key.tolist())}
shape = Shape(width=16, heads=2, layers=1, slots=2, longest=32)
texts = RowTexts(rows, tokens, launches, shape.longest)
recipe = Recipe(steps=4, evaluate_every=2, cpu_threads=1)
network = train_text_only(texts, Path(sys.argv[1]), recipe, shape).network
total = sum(p.double().abs().sum().item() for p in network.parameters())
sys.stdout.write(f"sum {total}\\n")  # at once: both write to one pipe
"""


def test_two_processes_train_one_network(tmp_path: Path, repository: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(TRAIN, encoding="utf-8")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*command, script, tmp_path / "run"],
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
    assert [step for step, _ in read_curves(tmp_path / "run/progress.jsonl")["error"]] == [2, 4]
