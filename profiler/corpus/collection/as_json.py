"""Kernels, launches and timings as the store's JSON; what is read back is what was written."""

from __future__ import annotations

import json
from dataclasses import replace

from profiler.corpus.kernel import CorpusKernel, RowTiming
from profiler.store.as_json import CONVERTER


def kernel_to_json(kernel: CorpusKernel) -> str:
    """Return all but its launches, which are kept by themselves."""
    return json.dumps(CONVERTER.unstructure(replace(kernel, launches=())))


def kernel_from_json(text: str) -> CorpusKernel:
    """Read a kernel. Raises `json.JSONDecodeError` or a cattrs error for text that is none."""
    return CONVERTER.structure(json.loads(text), CorpusKernel)


def timing_to_json(timing: RowTiming) -> str:
    return json.dumps(CONVERTER.unstructure(timing))


def timing_from_json(text: str) -> RowTiming:
    """Read a timing. Raises `json.JSONDecodeError` or a cattrs error for text that is none."""
    return CONVERTER.structure(json.loads(text), RowTiming)
