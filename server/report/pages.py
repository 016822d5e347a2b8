"""Write pages to the user's cache folder, never to the workspace, unless a place is given."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from pathlib import Path

from platformdirs import user_cache_path

from model.errors import KernelcastError

_MOST_KEPT = 200


class ReportError(KernelcastError):
    """A report that could not be written; the message says why."""

    code = "report"


def cached_page(about: str, stem: str) -> Path:
    """Return the file for reports about `about`: always the same one, so that the browser's page can be loaded anew."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", stem).strip("-.")[:60] or "report"
    digest = hashlib.sha256(about.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return _folder() / f"{name}-{digest}.html"


def _folder() -> Path:
    return user_cache_path("kernelcast", appauthor=False) / "reports"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def write_page(path: Path, text: str) -> None:
    """Write the page, readable by its owner alone unless a place is given. Raises `ReportError`."""
    opener = _private if path.parent == _folder() else None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="replace", newline="\n", opener=opener) as file:
            file.write(text)
    except OSError as error:
        raise ReportError(f"the report cannot be written to {path}: {error.strerror}") from error


def forget_old_pages(folder: Path) -> None:
    """Keep the newest ones; a cache that only grows is none."""
    pages = []
    for page in folder.glob("*.html"):
        with contextlib.suppress(OSError):  # another process tidies up as well
            pages.append((page.stat().st_mtime, page))
    for _, page in sorted(pages, reverse=True)[_MOST_KEPT:]:
        with contextlib.suppress(OSError):
            page.unlink()
