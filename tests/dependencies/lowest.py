"""The fast tests on the lowest versions that pyproject.toml allows: `make test-min-deps`.

An untried bound is a guess.
"""

from __future__ import annotations

import subprocess
import sys

from tests.dependencies.tools import CACHE, REPOSITORY, lowest_versions, tool

TESTS = (
    "tests/model",
    "tests/server",
    "tests/profiler/test_worker.py",
    "tests/profiler/test_store.py",
    "tests/profiler/machine_code",
    "tests/profiler/corpus/dataset",
    "tests/security",
)
# What trains wants torch.
LEFT_OUT = (
    "tests/model/training/test_text_only.py", "tests/model/training/test_training_together.py",
    "tests/model/training/test_few_shot_eval.py", "tests/server/test_cli_train.py",
)  # fmt: skip


def main(arguments: list[str]) -> int:
    """The exit status of pytest."""
    uv, environment = tool("uv"), CACHE / "lowest"
    python = environment / "bin" / "python"
    if not python.exists():
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, environment], check=True)
    subprocess.run([uv, "pip", "sync", "--quiet", "--python", python, lowest_versions()], check=True)
    subprocess.run(
        [uv, "pip", "install", "--quiet", "--python", python, "--no-deps", "--editable", REPOSITORY], check=True
    )
    left_out = [f"--ignore={each}" for each in LEFT_OUT]
    return subprocess.run(
        [python, "-m", "pytest", *left_out, *TESTS, *arguments], cwd=REPOSITORY, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
