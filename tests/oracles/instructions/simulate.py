"""Executes launches under Oclgrind in a process of its own, so that no other test ever sees that platform.

Oclgrind is an OpenCL platform (`liboclgrind-rt-icd.so`); with OCLGRIND_INST_COUNTS it does what
`oclgrind --inst-counts` does. Naming its library in a vendors folder of our own works with PyOpenCL's bundled loader
and needs no /etc/OpenCL.
"""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.oracles.instructions.printed import read_printed
from tests.oracles.instructions.task import Compiled, Executed, NotExecuted, Task

ROOT = Path(__file__).resolve().parents[3]
LIBRARY = "oclgrind/liboclgrind-rt-icd.so"
LIMIT_S = 240.0


def why_missing() -> str | None:
    """Why nothing can be simulated here, or None."""
    return None if _library() else "Oclgrind is not installed; on Debian: apt-get install oclgrind"


def simulate(tasks: Sequence[Task], compiled: Compiled) -> list[Executed | NotExecuted]:
    """The outcome of each task, in their order.

    A launch that takes the whole process down, or keeps it for longer than `LIMIT_S`, fails alone.
    """
    left = dict(enumerate(tasks))
    outcomes: dict[int, Executed | NotExecuted] = {}
    with _environment() as environment:
        while left:
            text, last_words = _run(left, compiled, environment)
            outcomes |= (found := read_printed(text))
            left = {n: t for n, t in left.items() if n not in found}
            if left:
                first = next(iter(left))
                outcomes[first] = NotExecuted(f"the simulating process did not survive it ({last_words})")
                del left[first]
    return [outcomes[number] for number in range(len(tasks))]


def _run(tasks: dict[int, Task], compiled: Compiled, environment: dict[str, str]) -> tuple[str, str]:
    command = [sys.executable, "-m", "tests.oracles.instructions.child"]
    try:
        done = subprocess.run(
            command, input=pickle.dumps((tasks, compiled)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=ROOT,
            env=environment, timeout=LIMIT_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as expired:
        return (expired.stdout or b"").decode(errors="replace"), f"not done after {LIMIT_S:.0f} s"
    text = done.stdout.decode(errors="replace")
    return text, (text.strip().splitlines() or [f"exit status {done.returncode}"])[-1]


@contextmanager
def _environment() -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory(prefix="kernelcast-oclgrind-") as folder:
        (Path(folder) / "oclgrind.icd").write_text(f"{_library()}\n", "utf-8")
        yield {
            **os.environ,
            "OCL_ICD_VENDORS": folder,
            "OCLGRIND_INST_COUNTS": "1",
            "LC_ALL": "C",  # or counts get separators between their thousands
            "PYOPENCL_NO_CACHE": "1",
            "PYTHONPATH": str(ROOT),
        }


def _library() -> Path | None:
    """Beside the command `oclgrind`, wherever that was installed."""
    command = shutil.which("oclgrind")
    if command is None:
        return None
    prefix = Path(command).resolve().parent.parent
    return next((p for folder in ("lib", "lib64") if (p := prefix / folder / LIBRARY).exists()), None)
