from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.text.format import (
    format_bytes,
    format_count,
    format_duration_us,
    format_interval,
    format_mem_bytes,
    format_percent,
)


@pytest.mark.parametrize(
    ("duration_us", "text"),
    [
        (0.0, "0 µs"),
        (0.5, "500 ns"),
        (12.34, "12 µs"),
        (123.4, "123 µs"),
        (999.6, "1.0 ms"),
        (3210.0, "3.2 ms"),
        (99.96e3, "100 ms"),
        (1.5e6, "1.5 s"),
        (90e6, "1.5 min"),
        (math.inf, "unknown"),
    ],
)
def test_a_duration_has_the_digits_it_deserves(duration_us: float, text: str) -> None:
    assert format_duration_us(duration_us) == text


@given(st.floats(1e-2, 50e6))
def test_a_duration_is_never_more_than_half_a_digit_off(duration_us: float) -> None:
    number, unit = format_duration_us(duration_us).split()
    assert float(number) * {"ns": 1e-3, "µs": 1.0, "ms": 1e3, "s": 1e6}[unit] == pytest.approx(duration_us, rel=0.051)
    assert len(number) <= 4


def test_an_interval_names_a_common_unit_once() -> None:
    assert format_interval(2800, 3700) == "2.8-3.7 ms"
    assert format_interval(800, 1700) == "0.80-1.7 ms"
    assert format_interval(3, 1700) == "3.0 µs - 1.7 ms"


def test_bytes_requested_are_decimal_and_memories_are_binary() -> None:
    assert format_bytes(12_600_000) == "12.6 MB"
    assert format_bytes(4096) == "4.1 kB"
    assert format_mem_bytes(32768) == "32 KiB"
    assert format_mem_bytes(16 * 2**30) == "16 GiB"
    assert format_count(268_435_456) == "268 M"
    assert format_count(12) == "12"
    assert format_count(4.19e6, "flop") == "4.19 Mflop"


def test_percentages_carry_a_sign_where_it_says_something() -> None:
    assert format_percent(15.2, signed=True) == "+15 %"
    assert format_percent(-3.14, signed=True) == "-3.1 %"
    assert format_percent(0.0, signed=True) == "0.0 %"
