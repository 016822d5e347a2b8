"""What a collection is told: on which devices, in what portions, and what counts as a disturbance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from profiler.corpus.collection.store import FLOOR_SHARE
from profiler.corpus.collection_jobs import BUILD_JOB, IN_TURN, TIME_JOB, JobLimits
from profiler.corpus.kernel import CorpusDevice


@dataclass(frozen=True, slots=True)
class CollectPlan:
    """`launches` of each kernel come before any kernel's further ones.

    `most_launches` limits by a device's id how many of each kernel are measured on it at all.
    """

    devices: tuple[CorpusDevice, ...]
    launches: int = 3
    most_launches: Mapping[str, int] = field(default_factory=dict)
    chunk_kernels: int = 300  # built together, then timed together; their compiled code lies on the disk meanwhile
    builders: int = 4  # processes that compile at the same time, while nothing is timed
    side_by_side: int = 2  # processes that time on devices of few processors at the same time, each on its own
    build_tasks: int = 40  # in one device process
    time_tasks: int = 1200  # a process takes a second to open its device, and some more until its buffers are warm
    in_turn: int = IN_TURN  # launches whose batches take turns; a kill costs all of them that are under way
    floor_share: float = FLOOR_SHARE  # of the rows, measured again in another process for the noise floor
    bad_percent: float = 10.0  # of the processors' time that others use, above which a row is measured again
    limits: JobLimits = field(default_factory=JobLimits)
    build_job: str = BUILD_JOB
    time_job: str = TIME_JOB
