"""Advice on local memory: lanes that want the same bank at once have to queue."""

from __future__ import annotations

from collections.abc import Iterator

from model.advice.advice import Advice, AdviceCode
from model.advice.situation import Situation
from model.advice.words import bytes_text, times_text
from model.opencl.types import AddressSpace

_LEAST_DEGREE = 2.0
_LANES = 32
_ROW_BYTES = 128  # 32 banks of 4 bytes


def bank_conflicts(situation: Situation) -> Iterator[Advice]:
    """Lanes of a GPU that meet in one bank of local memory, so that one access takes several turns.

    Silent on CPUs, whose local memory has no banks; where the data decide who meets whom (histograms); and where
    waiting for banks is a trifle of the launch.
    """
    if not situation.is_gpu or not situation.is_long:
        return
    for facts in situation.accesses(AddressSpace.LOCAL):
        degree, count = facts.bank_conflict_degree, facts.count
        if degree is None or degree < _LEAST_DEGREE or facts.index.obstacle is not None:
            continue
        # Turns beyond the first, each at the pace of an access without conflicts.
        gain_us = 1e-3 * (degree - 1) * count.bytes / situation.device.rates.local_bandwidth_gb_s
        if situation.is_worth(gain_us):
            apart = f" {bytes_text(count.stride_bytes)} apart" if count.stride_bytes else ""
            yield Advice(
                AdviceCode.BANK_CONFLICTS,
                f"neighbouring work-items {'store to' if count.is_store else 'load'} `{count.buffer}`{apart} in local "
                f"memory: {times_text(degree)} of {_LANES} lanes meet in one bank, so that each access takes "
                f"{times_text(degree)} turns; {_remedy(count.stride_bytes, count.element_bytes)}",
                count.line if count.line >= 0 else None,
                gain_us,
            )


def _remedy(stride_bytes: int, element_bytes: int) -> str:
    if stride_bytes >= _ROW_BYTES // 2:
        return f"rows that are one element ({element_bytes} bytes) longer would spread over all banks"
    return "let neighbouring work-items touch neighbouring words"
