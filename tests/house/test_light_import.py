"""An editor waits for our start: importing `server` loads nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ["torch", "transformers", "pyopencl", "numpy", "capstone", "elftools"]

# Refusing the import shows an attempt even where the package is not installed, or is imported under a `try`.
PROBE = """
import importlib, json, sys

class Watch:
    def __init__(self, heavy):
        self.heavy, self.asked_for = heavy, []
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.heavy:
            self.asked_for.append(name)
            raise ModuleNotFoundError(f"{name} was asked for", name=name)
        return None

module, heavy = sys.argv[1], sys.argv[2:]
watch = Watch(heavy)
sys.meta_path.insert(0, watch)
try:
    importlib.import_module(module)
finally:
    print(json.dumps(watch.asked_for + [name for name in heavy if name in sys.modules]))
"""


def _asked_for(module: str, *heavy: str) -> list[str]:
    command = [sys.executable, "-I", "-c", PROBE, module, *heavy]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout, done.stderr
    asked_for: list[str] = json.loads(done.stdout)
    assert asked_for or done.returncode == 0, done.stderr
    return asked_for


@pytest.mark.parametrize("module", ["server", "server.cli", "server.device_work.work", "model", "profiler"])
def test_importing_loads_nothing_heavy(module: str) -> None:
    assert _asked_for(module, *HEAVY) == []


def test_the_watch_sees_an_import() -> None:
    assert _asked_for("cattrs", "attrs") != []
