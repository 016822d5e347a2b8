"""What PoCL computes: values of integer expressions at the end of a program, asked for in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

LIMIT_S = 120
_WORKER = Path(__file__).with_name("worker.py")


@dataclass(frozen=True)
class Question:
    """A program without kernels, and the expressions whose values are wanted, under build options."""

    text: str
    expressions: tuple[str, ...]
    options: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        stores = "\n".join(f"    a[{i}] = (long)({e});" for i, e in enumerate(self.expressions))
        return f"{self.text}\n__kernel void answers(__global long *a)\n{{\n{stores}\n}}\n"


def answered(*questions: Question) -> list[dict[str, int]]:
    """The value of each expression, by the expression. Fails with what PoCL says of a broken program."""
    request = [
        {"text": q.program, "options": ["-w", "-cl-opt-disable", *q.options], "count": len(q.expressions)}
        for q in questions
    ]
    done = subprocess.run(
        [sys.executable, str(_WORKER)], input=json.dumps(request), capture_output=True, text=True, timeout=LIMIT_S,
        check=False, env={**os.environ, "PYOPENCL_NO_CACHE": "1", "PYOPENCL_COMPILER_OUTPUT": "0"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    for question, answer in zip(questions, said, strict=True):
        assert not isinstance(answer, str), f"{answer}\n{question.text}"
    return [dict(zip(q.expressions, values, strict=False)) for q, values in zip(questions, said, strict=True)]
