"""All that is said of a dataset: its figures, whether it keeps its promises, pictures, and the tables of its card."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from profiler.corpus.dataset.card import renew
from profiler.corpus.dataset.frame import frame_of
from profiler.corpus.dataset.pictures import write_pictures
from profiler.corpus.dataset.printed import columns_markdown, statistics_markdown
from profiler.corpus.dataset.quality_gates import Promise, promises
from profiler.corpus.dataset.reading import read_dataset
from profiler.corpus.dataset.statistics import Statistics, statistics_of


@dataclass(frozen=True, slots=True)
class Review:
    """`pictures` are the files that were drawn."""

    statistics: Statistics
    promises: tuple[Promise, ...]
    metadata: dict[str, Any]
    pictures: tuple[Path, ...]

    @property
    def keeps_all(self) -> bool:
        return all(promise.is_kept for promise in self.promises)

    def as_plain(self) -> dict[str, Any]:
        """Made of what JSON knows; without the devices' profiles, which are long."""
        return {
            "metadata": {name: value for name, value in self.metadata.items() if name != "profiles"},
            "promises": [asdict(promise) for promise in self.promises],
            "statistics": self.statistics.as_plain(),
            "pictures": [str(path) for path in self.pictures],
        }


def review(folder: Path, pictures: Path | None = None, card: Path | None = None) -> Review:
    """Count and check the dataset in `folder`; draw it into `pictures`, and renew `card`. Raises DatasetError."""
    dataset = read_dataset(folder)
    frame = frame_of(dataset)
    statistics = statistics_of(frame)
    kept = promises(statistics, folder)
    drawn = write_pictures(statistics, frame, pictures) if pictures else []
    if card:
        renew(card, {"figures": statistics_markdown(statistics, kept), "columns": columns_markdown()})
    return Review(statistics, kept, dataset.metadata, tuple(drawn))
