"""Write a file that the user edits, too: whole or not at all, and never over what has changed meanwhile."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from model.errors import SourceError

_BYTES_AS_READ = "surrogatepass"


def write_edited(file: Path, before: str, after: str) -> None:
    """Replace the text `before` of a file by `after`, with its permissions.

    Raises SourceError if the file holds anything else by now, or cannot be written; it is unchanged then.
    """
    target = file.resolve()  # a link stays one
    try:
        if target.read_bytes() != before.encode("utf-8", _BYTES_AS_READ):
            raise SourceError(f"{file} was not edited: it has changed meanwhile, or is not UTF-8 text")
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as unfinished:
            unfinished.write(after.encode("utf-8", _BYTES_AS_READ))
        try:
            shutil.copymode(target, unfinished.name)
            os.replace(unfinished.name, target)
        except OSError:
            Path(unfinished.name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise SourceError(f"{file} cannot be written: {error.strerror}") from None
