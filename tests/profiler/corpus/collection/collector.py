"""A collection on the stub in a process of its own, to be killed: collector.py FOLDER."""

from __future__ import annotations

import sys
from pathlib import Path

from profiler.corpus.collection.collect import collect
from profiler.corpus.collection.plan import CollectPlan
from profiler.corpus.kernel import CorpusDevice

if __name__ == "__main__":
    devices = (CorpusDevice("stub", "stub"), CorpusDevice("stub-1core", "stub", 1))
    jobs = {"build_job": "stub_device:build", "time_job": "stub_device:time"}
    collect(Path(sys.argv[1]), CollectPlan(devices, chunk_kernels=10, builders=2, **jobs))
