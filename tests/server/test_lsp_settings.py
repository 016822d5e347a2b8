"""A setting that cannot be used is named, and costs nothing but itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.client.settings import Settings, read_settings

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)
NAMES = ["device", "hints.enabled", "measure.budgetS", "measure.timeLimitS", "build.include", "build.defines"]


def test_without_settings_everything_has_its_default() -> None:
    assert read_settings(None) == (Settings(), ())
    assert read_settings({}) == (Settings(), ())


def test_nested_and_dotted_names_mean_the_same() -> None:
    nested = {"device": "pocl", "measure": {"timeLimitS": 3}, "build": {"defines": {"TILE": 16}, "include": ["inc"]}}
    dotted = {"device": "pocl", "measure.timeLimitS": 3, "build.defines": {"TILE": 16}, "build.include": ["inc"]}
    settings, problems = read_settings(nested)
    assert not problems
    assert read_settings(dotted) == (settings, ())
    assert settings.device == "pocl"
    assert settings.measure_time_limit_s == 3.0
    assert settings.options.arguments() == ["-DTILE=16", "-I", "inc"]


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ({"measure": {"timeLimitS": "long"}}, "measure.timeLimitS"),
        ({"measure": {"budgetS": -1}}, "measure.budgetS"),
        ({"hints": {"enabled": "yes"}}, "hints.enabled"),
        ({"device": 3}, "device"),
        ({"advice": "loud"}, "advice"),
        ({"adviceIgnore": ["no-such-advice"]}, "adviceIgnore"),
        ({"adviceIgnore": "local-tile"}, "adviceIgnore"),
        ({"build": {"include": "inc"}}, "build.include"),
        ({"build": {"defines": ["TILE"]}}, "build.defines"),
    ],
)
def test_a_bad_option_is_named_and_the_others_still_count(raw: dict[str, object], name: str) -> None:
    settings, problems = read_settings({"build.flags": ["-cl-fast-relaxed-math"], **raw})
    assert len(problems) == 1
    assert f"`kernelcast.{name}`" in problems[0]
    assert settings == Settings(build_flags=("-cl-fast-relaxed-math",))


@given(json_values | st.dictionaries(st.sampled_from(NAMES), json_values))
def test_no_json_whatever_breaks_the_settings(raw: object) -> None:
    settings, problems = read_settings(raw)
    assert isinstance(settings, Settings)
    assert all(problem.endswith(("is used instead.", "are used.")) for problem in problems)
