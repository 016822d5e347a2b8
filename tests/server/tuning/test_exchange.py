"""Results leave for Kernel Tuner and for T4, and come back; what others measured ranks our candidates."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.errors import LaunchError
from model.launch.tuning import Tuning, parse_range
from server.tuning.exchange import Entry, cache_json, configuration, parameters, t4_json
from server.tuning.importing import read_results, with_results
from server.tuning.search import Candidate, Search
from tests.server.tuning.conftest import KERNEL

ANNOTATED = f"// kernelcast: global=(N, N) local=(8, 8) N=1024 A=N*N -DT=1 tune.T=1,2 tune.local=(4,4),(16,2)\n{KERNEL}"
Searching = Callable[..., Search]


@pytest.fixture
def space(searching: Searching) -> Search:
    return searching(ANNOTATED)


def everything(space: Search) -> list[Candidate]:
    return [space.baseline, *space.candidates]


def entries(space: Search) -> list[Entry]:
    """The candidate that is predicted to be the slowest was the fastest, and one was wrong."""
    count = len(space.candidates)
    made = [
        Entry(configuration(space, one), 10.0 * (count + 1 - at), (10.0, 11.0), measured_at="2026-01-02T03:04:05Z")
        for at, one in enumerate(everything(space))
    ]
    return [*made, Entry({**made[0].configuration, "T": 3}, None, invalidity="correctness")]


def written(path: Path, made: dict[str, Any]) -> Path:
    path.write_text(json.dumps(made))
    return path


def test_local_sizes_have_the_names_that_kernel_tuner_gives_them(space: Search) -> None:
    assert parameters(space) == ["T", "block_size_x", "block_size_y"]
    assert configuration(space, space.baseline) == {"T": 1, "block_size_x": 8, "block_size_y": 8}


def test_a_local_size_that_the_driver_chooses_is_nought(searching: Searching) -> None:
    space = searching(ANNOTATED, Tuning((parse_range("local", "auto"),)))
    values = [configuration(space, one) for one in space.candidates if one.change.local == "auto"]
    assert {one["block_size_x"] for one in values} == {0}


@pytest.mark.parametrize("form", [cache_json, t4_json])
def test_what_was_written_ranks_the_candidates_when_it_is_read_again(
    space: Search, tmp_path: Path, form: Callable[..., dict[str, Any]]
) -> None:
    path = written(tmp_path / "times.json", form(space, entries(space)))
    results = read_results(path)
    assert results.device_name == space.found.device.name
    timed, others = with_results(space, results, path)
    assert others == 0
    assert timed.baseline.imported_us == pytest.approx(10.0 * (len(space.candidates) + 1))
    assert [one.launch.key for one in timed.candidates] == [one.launch.key for one in reversed(space.candidates)]
    assert timed.candidates[0].imported_us == pytest.approx(10.0)
    assert timed.candidates[0].predicted_us == space.candidates[-1].predicted_us


def test_candidates_without_a_time_are_ranked_by_prediction_among_those_that_have_one(
    space: Search, tmp_path: Path
) -> None:
    first = space.candidates[0]
    slow = Entry(configuration(space, first), 1000 * first.predicted_us)
    base = Entry(configuration(space, space.baseline), space.baseline.predicted_us)
    also = Entry(configuration(space, space.candidates[1]), space.candidates[1].predicted_us)
    path = written(tmp_path / "times.json", cache_json(space, [slow, base, also]))
    timed, _ = with_results(space, read_results(path), path)
    assert timed.candidates[-1].launch.key == first.launch.key
    assert sum(one.imported_us is None for one in timed.candidates) == len(space.candidates) - 2


def test_an_unfinished_search_of_kernel_tuner_can_be_read(space: Search, tmp_path: Path) -> None:
    path = tmp_path / "cache.json"
    text = json.dumps(cache_json(space, entries(space)), indent=0)
    path.write_text(re.sub(r"\s*\}\s*\}\s*$", ",", text))
    assert len(read_results(path).entries) == len(entries(space))


def test_numbers_match_however_they_are_written(space: Search, tmp_path: Path) -> None:
    made = cache_json(space, entries(space))
    for one in made["cache"].values():
        one["T"] = str(one["T"])
        one["block_size_x"] = float(one["block_size_x"])
    path = written(tmp_path / "cache.json", made)
    timed, _ = with_results(space, read_results(path), path)
    assert all(one.imported_us is not None for one in timed.candidates)


def test_times_of_other_launches_are_counted_and_not_taken(space: Search, tmp_path: Path) -> None:
    other = Entry({**configuration(space, space.baseline), "block_size_x": 2}, 1.0)
    path = written(tmp_path / "cache.json", cache_json(space, [*entries(space), other]))
    timed, others = with_results(space, read_results(path), path)
    assert others == 1
    assert all(one.imported_us != 1.0 for one in timed.candidates)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda values: {k: v for k, v in values.items() if k != "T"}, "has no `T`, which is tuned here"),
        (lambda values: {**values, "UNROLL": values["T"]}, "several values of `UNROLL`, which is not tuned here"),
    ],
)
def test_names_that_do_not_fit_are_named(
    space: Search, tmp_path: Path, change: Callable[[dict[str, Any]], dict[str, Any]], complaint: str
) -> None:
    made = t4_json(space, entries(space))
    for one in made["results"]:
        one["configuration"] = change(one["configuration"])
    path = written(tmp_path / "t4.json", made)
    with pytest.raises(LaunchError, match=re.escape(complaint)):
        with_results(space, read_results(path), path)


def test_a_file_without_a_time_says_so(space: Search, tmp_path: Path) -> None:
    path = written(tmp_path / "t4.json", t4_json(space, entries(space)[-1:]))
    with pytest.raises(LaunchError, match="holds no times"):
        with_results(space, read_results(path), path)


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["cache", "tune_params_keys", "results", "metadata", "configuration", "measurements", "time", "T"]
            ),
            inner,
            max_size=4,
        )
    ),
)


@pytest.mark.parametrize(
    "text",
    [
        '{"results": [{"measurements": 1.5}]}', '{"results": [{"objectives": 2}]}', "[" * 100_000,
        '{"cache": {"a": {}}, "tune_params_keys": [[1]]}',
        '{"cache": {"a": {"T": 1, "time": 1' + "0" * 400 + '}}, "tune_params_keys": ["T"]}',
    ],
)  # fmt: skip
def test_a_file_that_breaks_the_format_has_no_times(space: Search, tmp_path: Path, text: str) -> None:
    path = tmp_path / "odd.json"
    path.write_text(text)
    with pytest.raises(LaunchError):
        with_results(space, read_results(path), path)


@given(_JSON)
def test_any_other_json_is_refused_or_read(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    path = written(tmp_path_factory.getbasetemp() / "any.json", value)  # type: ignore[arg-type]
    message = ""
    times: list[float] = []
    try:
        times = [one.time_us for one in read_results(path).entries if one.time_us is not None]
    except LaunchError as error:
        message = error.message
    assert "neither a cache file of Kernel Tuner nor a T4 results file" in message or not message
    assert all(time > 0 for time in times)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match=r"gone\.json cannot be read: No such file"):
        read_results(tmp_path / "gone.json")


def test_t4_has_what_its_schema_requires(space: Search) -> None:
    """Schema version 1.0.0: required keys, the words of `invalidity`, and the types of the rest."""
    made = t4_json(space, entries(space))
    assert re.fullmatch(r"\d+\.\d+\.\d+", made["schema_version"])
    for one in made["results"]:
        assert {"configuration", "times", "invalidity", "correctness"} <= one.keys()
        assert one["invalidity"] in {"timeout", "compile", "runtime", "correctness", "constraints", "correct"}
        assert isinstance(one["configuration"], dict)
        assert isinstance(one["times"]["runtimes"], list)
        assert isinstance(one["timestamp"], str)
        assert all(isinstance(m["value"], float) and m["unit"] == "ms" for m in one["measurements"])
    assert [one["correctness"] for one in made["results"]].count(0) == 1


def test_a_cache_file_has_what_kernel_tuner_reads(space: Search) -> None:
    made = cache_json(space, entries(space))
    assert made["kernel_name"] == "k"
    assert made["problem_size"] == [1024, 1024]
    for key, one in made["cache"].items():
        assert key == ",".join(str(one[name]) for name in made["tune_params_keys"])
        assert isinstance(one["time"], float) or one["__error__"] == one["time"] == "RuntimeFailedConfig"
        assert all(one[name] in made["tune_params"][name] for name in made["tune_params_keys"])


def test_kernel_tuner_takes_both(space: Search, tmp_path: Path) -> None:
    """Its own schema for T4, and its own simulation of a search from a cache file."""
    tuner = pytest.importorskip("kernel_tuner", reason="kernel_tuner is not installed: pip install kernel_tuner")
    import jsonschema
    from kernel_tuner.file_utils import output_file_schema

    jsonschema.validate(t4_json(space, entries(space)), output_file_schema("results")[1])
    path = written(tmp_path / "cache.json", cache_json(space, entries(space)))
    results, _ = tuner.interface.tune_cache(str(path), quiet=True)
    assert min(one["time"] for one in results) == pytest.approx(0.01)
