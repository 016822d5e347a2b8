from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.text.format import (
    as_sentence,
    format_bytes,
    format_count,
    format_duration_us,
    format_interval,
    format_mem_bytes,
    format_percent,
    missed_factor,
    shown_name,
    whole_percents,
)
from server.text.hint import signed_miss


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


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12).filter(lambda shares: sum(shares) > 0))
def test_whole_percents_add_up_and_none_is_more_than_one_off(amounts: list[float]) -> None:
    shares = [amount / sum(amounts) for amount in amounts]
    percents = whole_percents(shares)
    assert sum(percents) == 100
    assert all(abs(percent - 100 * share) < 1 + 1e-9 for percent, share in zip(percents, shares, strict=True))


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (0.77, "23 % too low"),
        (1.6, "60 % too high"),
        (0.32, "3.1x too low"),
        (12.0, "12x too high"),
        (0.00067, "1,500x too low"),
    ],
)
def test_large_errors_are_factors(ratio: float, words: str) -> None:
    assert missed_factor(ratio) == words
    assert signed_miss(ratio) == words.replace("x too", "x") or "%" in words


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("the loop runs twice", "The loop runs twice"),
        ("a parameter is unused", "A parameter is unused"),
        ("global=64: nothing says more", "global=64: nothing says more"),
        ("n=4 is assumed", "n=4 is assumed"),
        ("`n` bounds a loop", "`n` bounds a loop"),
        ("img_width is assumed", "img_width is assumed"),
        ("", ""),
    ],
)
def test_a_sentence_leaves_names_in_their_own_spelling(text: str, sentence: str) -> None:
    assert as_sentence(text) == sentence


@pytest.mark.parametrize(
    ("driver", "people"),
    [
        ("pthread-AMD EPYC", "AMD EPYC (PoCL)"),
        ("cpu-haswell-Intel(R) Xeon(R) Processor @ 2.30GHz", "Intel Xeon Processor @ 2.30GHz (PoCL)"),
        ("Intel(R) Arc(TM) A770 Graphics", "Intel Arc A770 Graphics"),
        ("NVIDIA H200", "NVIDIA H200"),
        ("", ""),
    ],
)
def test_devices_are_called_as_people_know_them(driver: str, people: str) -> None:
    assert shown_name(driver) == people
    assert shown_name(people) == people
