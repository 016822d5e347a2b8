"""Known faults of what we depend on, in the versions installed and in the lowest allowed: `make audit`.

Leaves with 0 if none is known, 1 if some are, 3 if nobody could be asked: the latter is no good news.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.dependencies.tools import CACHE, lowest_versions, tool

CLEAN, FAULTY, UNKNOWN = 0, 1, 3
SERVICES = ("pypi", "osv")
LIMIT_S = 300


def main() -> int:
    """Both lists; the worst of what is found."""
    installed = CACHE / "installed.txt"
    CACHE.mkdir(parents=True, exist_ok=True)
    frozen = subprocess.run(
        [tool("uv"), "pip", "freeze", "--exclude-editable", "--python", sys.executable],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    installed.write_text(frozen.stdout, "utf-8")
    found = [_audited(name, listed) for name, listed in (("installed", installed), ("lowest", lowest_versions()))]
    return FAULTY if FAULTY in found else max(found)


def _audited(name: str, listed: Path) -> int:
    for service in SERVICES:
        status = verdict(name, _asked(service, listed))
        if status != UNKNOWN:
            return status
    print(f"{name}: no database of known faults could be reached, so none is known; ask where PyPI or OSV answer")
    return UNKNOWN


def _asked(service: str, listed: Path) -> Sequence[dict[str, Any]]:
    """What a service says of each package; nothing where it cannot be asked."""
    words = ["--requirement", listed, "--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json"]
    try:
        asked = subprocess.run(
            [tool("pip-audit"), "--vulnerability-service", service, *words],
            check=False, capture_output=True, text=True, timeout=LIMIT_S,
        )  # fmt: skip
        answers: Sequence[dict[str, Any]] = json.loads(asked.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        return ()
    return answers


def verdict(name: str, answers: Sequence[dict[str, Any]]) -> int:
    """Tells what was found; a package that a service knows nothing of was not audited."""
    known = [each for each in answers if "skip_reason" not in each]
    if not known:
        return UNKNOWN
    faulty = [each for each in known if each["vulns"]]
    for each in faulty:
        for fault in each["vulns"]:
            mended = ", ".join(fault.get("fix_versions", ())) or "no version"
            print(f"{name}: {each['name']} {each['version']}: {fault['id']}, mended in {mended}")
    print(f"{name}: {len(known)} of {len(answers)} packages are known to the database, {len(faulty)} with known faults")
    return FAULTY if faulty else CLEAN


if __name__ == "__main__":
    sys.exit(main())
