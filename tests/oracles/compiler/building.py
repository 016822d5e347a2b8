"""What the compiler says of a program: PoCL builds it in a process of its own, and the answer is kept on disk."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from tests.oracles.compiler.programs import Source
from tests.real_packages import CACHE

ANSWERS = CACHE / "compiler-answers"
LIMIT_S = 120
WORKER = Path(__file__).with_name("worker.py")


@dataclass(frozen=True)
class Argument:
    """One kernel argument, in the words of `clGetKernelArgInfo`."""

    name: str
    type_name: str
    address: str  # GLOBAL, LOCAL, CONSTANT or PRIVATE
    access: str  # READ_ONLY, WRITE_ONLY, READ_WRITE or NONE
    qualifiers: tuple[str, ...]  # of CONST, RESTRICT, VOLATILE


@dataclass(frozen=True)
class Built:
    """The kernels of a program that builds, by name; `error` says why another does not."""

    kernels: dict[str, tuple[Argument, ...]]
    error: str = ""


def built(sources: Iterable[Source], *, workers: int | None = None) -> list[Built]:
    """What PoCL says of each, `workers` at a time (as many as there are cores to be had). In order."""
    with ThreadPoolExecutor(workers or len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(_answer, sources))


def _answer(source: Source) -> Built:
    request = {
        "text": source.text,
        # Unoptimised code has the same kernels, and hashcat's files take a tenth of the time.
        "options": [*source.options.arguments(), "-w", "-cl-opt-disable", "-cl-kernel-arg-info"],
    }
    kept = ANSWERS / f"{_key(request)}.json"
    if kept.exists():
        return _read(json.loads(kept.read_text()))
    answer = _asked(request)
    kept.parent.mkdir(parents=True, exist_ok=True)
    part = kept.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(asdict(answer)))
    part.replace(kept)
    return answer


def _key(request: dict[str, object]) -> str:
    """By content: where the packages lie, and so the include folders, must not matter."""
    compiler = f"{version('pocl-binary-distribution')} {version('pyopencl')}"
    text = json.dumps([request, compiler], sort_keys=True).replace(str(CACHE), "")
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _asked(request: dict[str, object]) -> Built:
    environment = {**os.environ, "PYOPENCL_NO_CACHE": "1", "PYOPENCL_COMPILER_OUTPUT": "0"}
    try:
        with tempfile.TemporaryDirectory(prefix="kernelcast-") as links:
            # PoCL splits options at blanks whatever the quotes say, and the packages may lie below a folder with one.
            packages = Path(links) / "packages"
            packages.symlink_to(CACHE, target_is_directory=True)
            done = subprocess.run(
                [sys.executable, str(WORKER)], input=json.dumps(request).replace(str(CACHE), str(packages)),
                capture_output=True, text=True, timeout=LIMIT_S, check=False, env=environment,
            )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Built({}, f"no answer within {LIMIT_S} s")
    if done.returncode != 0:
        return Built({}, f"the compiler ended with status {done.returncode}")
    return _read(json.loads(done.stdout.splitlines()[-1]))


def _read(answer: dict[str, object]) -> Built:
    kernels = answer["kernels"]
    assert isinstance(kernels, dict)
    return Built(
        {
            name: tuple(Argument(**{**a, "qualifiers": tuple(a["qualifiers"])}) for a in arguments)
            for name, arguments in kernels.items()
        },
        str(answer["error"]),
    )
