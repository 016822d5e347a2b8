"""How good predictions are on a device is found out in a second, however busy the machine is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from model.learned.learned import ONE_THREAD

JUDGE = """
import os, sys
from model.learned.device_accuracy import accuracy_from
from model.learned.lessons import Lesson, Lessons
assert "numpy" not in sys.modules
accuracy_from(Lessons.of([Lesson(b"damaged", 1.0)]))
assert "numpy" in sys.modules
print(*(os.environ[name] for name in sys.argv[1:]))
"""


def test_corrections_are_judged_on_one_thread(repository: Path) -> None:
    """On all threads of a busy machine, fitting 512 lessons took ten times as long."""
    plain = {name: value for name, value in os.environ.items() if name not in ONE_THREAD}
    call = [sys.executable, "-c", JUDGE, *ONE_THREAD]
    done = subprocess.run(call, cwd=repository, env=plain, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1"] * len(ONE_THREAD)
