"""The tables of the dataset's card, between marks in its text, so that they are never written by hand."""

from __future__ import annotations

from pathlib import Path

from profiler.corpus.dataset.columns import DatasetError


def renew(card: Path, parts: dict[str, str]) -> None:
    """Put each part between `<!-- NAME -->` and `<!-- end of NAME -->`. Raises DatasetError."""
    try:
        text = card.read_text("utf-8")
    except OSError as error:
        raise DatasetError(f"{card} cannot be read: {error.strerror}") from error
    for name, content in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
            raise DatasetError(f"{card} needs the lines {begin} and {end}, once each, for what is to stand between")
        before, after = text[: text.index(begin)], text[text.index(end) + len(end) :]
        text = f"{before}{begin}\n\n{content}\n\n{end}{after}"
    try:
        card.write_text(text, "utf-8")
    except OSError as error:
        raise DatasetError(f"{card} cannot be written: {error.strerror}") from error
