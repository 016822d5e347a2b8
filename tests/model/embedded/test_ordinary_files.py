"""Files without kernels: nothing is found in them, and but for the first look nothing is done."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

from model.embedded.find import find_programs
from model.embedded.languages import Language, language_of, may_hold_program

FILES = 200


def ordinary(pattern: str, *folders: str) -> list[Path]:
    found = (path for folder in folders for path in sorted(Path(folder).rglob(pattern)) if path.is_file())
    return [path for path, _ in zip(found, range(FILES), strict=False)]


def test_python_files_hold_nothing() -> None:
    files = ordinary("*.py", sysconfig.get_paths()["stdlib"])
    assert len(files) == FILES
    for path in files:
        text = path.read_text(errors="replace")
        assert language_of(path, text) is Language.PYTHON
        assert not may_hold_program(text)
        assert find_programs(text, Language.PYTHON) == ()


def test_headers_hold_nothing() -> None:
    for path in ordinary("*.h", sysconfig.get_paths()["include"], "/usr/include"):
        assert find_programs(path.read_text(errors="replace"), Language.CPP) == ()


def test_no_parser_is_loaded_for_them() -> None:
    program = (
        "import sys\n"
        "from model.embedded.find import find_programs\n"
        "from model.embedded.languages import Language\n"
        "assert find_programs('S = \"kernel\"\\n', Language.PYTHON) == ()\n"
        "assert not [name for name in sys.modules if name.startswith('tree_sitter')]\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
