"""Write a wheel anew without compression: the extension's own archive then compresses all its files as one, which takes
a quarter less than each by itself."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path


def store(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as before:
        files = [(entry, before.read(entry)) for entry in before.infolist()]
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_STORED) as after:
        for entry, content in files:
            plain = zipfile.ZipInfo(entry.filename, entry.date_time)
            plain.external_attr = entry.external_attr
            after.writestr(plain, content)


if __name__ == "__main__":
    for folder in sys.argv[1:]:
        for wheel in Path(folder).glob("*.whl"):
            store(wheel)
