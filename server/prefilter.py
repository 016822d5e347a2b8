"""Cheap test for documents that cannot contain a kernel, such as headers of helper functions.

The engine is not loaded and nothing is analysed for them until a word is typed that may begin a kernel.
"""

from __future__ import annotations

import re
from pathlib import Path

from model.embedded.languages import language_of, may_hold_program
from model.launch.config_file import MAX_BYTES, find_config
from model.opencl.include_policy import Reach
from model.opencl.options import BuildOptions
from model.safe_read import read_plain
from server.documents import Document

# The word itself, what may bring it along, and what may put it together of pieces: `##`, and lines that go on.
_MAY_BEGIN_ONE = re.compile(r"kernel|\binclude\b|##|%:%:|\?\?[=/]|\\\r?\n")
# One that is never closed counts as code, to the end: what it hides is to be told, and its text is looked at once.
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*+|(?P<code>/\*.*|\"(?:\\.|[^\"\\\n])*+\"?|'(?:\\.|[^'\\\n])*+'?)", re.DOTALL)
_MAY_CHANGE_A_BUILD = re.compile(r"\b(?:defines|options|include)\b")


def may_contain_kernel(document: Document, options: BuildOptions, reach: Reach | None = None) -> bool:
    """Return whether a kernel can be in it, given its build options and what its `kernelcast.toml` defines.

    Nothing beyond `reach` is read. A host file has kernels in its literals or not at all.
    """
    text = document.text.value
    if language_of(document.path, text, document.language) is not None:
        return may_hold_program(text)
    if _MAY_BEGIN_ONE.search(text) and _MAY_BEGIN_ONE.search(_COMMENT.sub(_code, text)):
        return True
    values = (*(value for _, value in options.defines), *options.flags)
    if any("kernel" in value or "include" in value for value in values):
        return True
    return _is_configured(document.path, reach)


def _code(found: re.Match[str]) -> str:
    """Return what counts of it; an annotation does."""
    is_annotation = found[0].startswith("//") and "kernelcast" in found[0]
    return f"{found[0] if is_annotation else found['code'] or ''} "


def _is_configured(path: Path | None, reach: Reach | None) -> bool:
    """Return whether a `kernelcast.toml` has build options, or is not read, which the user is told."""
    found = find_config(path.parent) if path else None
    if found is None:
        return False
    if reach is not None and not reach.holds(found):
        return True
    try:
        return _MAY_CHANGE_A_BUILD.search(read_plain(found, MAX_BYTES).decode("utf-8")) is not None
    except (OSError, UnicodeDecodeError):
        return True
