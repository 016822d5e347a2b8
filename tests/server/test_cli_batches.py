"""A batch is answered as it comes, however it is cut into pieces."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from server.cli.batches import MOST_AT_ONCE, in_groups, lines_at_hand

KERNEL = "kernel void f(global float *x) { x[get_global_id(0)] += 1.0f; }\n"


def test_whoever_waits_for_an_answer_before_asking_again_gets_it(kernelcast: str, tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text(KERNEL)
    asking = subprocess.Popen(
        [kernelcast, "predict", "--batch", "-", "--device", "generic-cpu"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path,
        env={**os.environ, "KERNELCAST_DATA_DIR": str(tmp_path / "data")},
    )  # fmt: skip
    assert asking.stdin is not None
    assert asking.stdout is not None
    for number in range(3):
        line = json.dumps({"id": number, "file": "k.cl", "global": [1024 * (number + 1)]}).encode()
        asking.stdin.write(line[:10])
        asking.stdin.flush()
        asking.stdin.write(line[10:] + b"\n")
        asking.stdin.flush()
        answer = json.loads(asking.stdout.readline())
        assert (answer["id"], answer["launch"]["global"]) == (number, [1024 * (number + 1)])
    asking.stdin.write(b'{"id": "last", "file": "k.cl", "global": [64]}')
    asking.stdin.close()
    assert json.loads(asking.stdout.read())["id"] == "last"
    assert asking.wait(60) == 0


def test_lines_are_the_same_however_they_are_cut(tmp_path: Path) -> None:
    lines = [b"x" * length for length in (0, 1, 70_000, 3, 0, 200_000)] + [b"%d" % n for n in range(3 * MOST_AT_ONCE)]
    (tmp_path / "lines").write_bytes(b"\n".join(lines))
    with (tmp_path / "lines").open("rb") as file:
        groups = [group for at_hand in lines_at_hand(file.fileno()) for group in in_groups(at_hand)]
    assert [line for group in groups for line in group] == lines
    assert max(map(len, groups)) == MOST_AT_ONCE
