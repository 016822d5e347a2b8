"""The winner is written where its launch comes from, and nothing else of the user's text changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from model.errors import LaunchError
from model.launch.choices import Combination
from model.launch.config import load_config
from model.launch.tuning import Tuning, parse_range
from server.cli.forecasts import Forecaster
from server.cli.requests import Request
from server.tuning.search import Candidate, Change, Search, search
from server.tuning.writing import applied, in_config, in_source
from tests.server.tuning.conftest import KERNEL

Searching = Callable[..., Search]


def best(found: Search, *words: str) -> Candidate:
    return next(one for one in found.candidates if set(words) <= set(one.change.words))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "// kernelcast: global=(N, N) local=(8, 8) N=64 A=N*N -DT=1 tune.T=1,2 tune.local=(4,4),(8,8)",
            "// kernelcast: global=(N, N) local=(4, 4) N=64 A=N*N -DT=2 tune.T=1,2 tune.local=(4,4),(8,8)",
        ),
        (
            "// kernelcast: global=(N, N) N=64 A=N*N tune.T=1,2 tune.local=(4,4) where T<=4",
            "// kernelcast: global=(N, N) N=64 A=N*N -DT=2 local=(4, 4) tune.T=1,2 tune.local=(4,4) where T<=4",
        ),
        (
            "/* kernelcast: local=(8, 8) \\\n   global=(N, N) N=64 A=N*N tune.T=1,2 tune.local=(4,4) */",
            "/* kernelcast: local=(4, 4) \\\n   global=(N, N) N=64 A=N*N -DT=2 tune.T=1,2 tune.local=(4,4) */",
        ),
    ],
)
def test_an_annotation_keeps_what_the_winner_has_in_common_with_it(
    searching: Searching, before: str, after: str
) -> None:
    found = searching(f"int unused; /* 👍 */\n{before}\n{KERNEL}")
    text = found.found.text
    changed = applied(text, in_source(text, found.baseline, best(found, "-DT=2", "local=(4, 4)")))
    assert changed == text.replace(before, after)


def test_without_an_annotation_a_line_above_the_kernel_says_everything(searching: Searching) -> None:
    found = searching(f"int unused;\r\n  {KERNEL}", Tuning((parse_range("local", "(4,4)"),)))
    text = found.found.text
    changed = applied(text, in_source(text, found.baseline, best(found, "local=(4, 4)")))
    assert changed.startswith("int unused;\r\n  // kernelcast: global=(")
    assert " local=(4, 4) " in changed
    again = searching(changed)
    assert again.baseline.launch.local_size == (4, 4)
    assert again.baseline.launch.global_size == found.baseline.launch.global_size


TABLE = """[[launch]]
kernel = "other"
local = [1, 1]

[[launch]]
kernel = "k"
global = ["N", "N"]  # all of it
{lines}args = {{ N = 64 }}
buffers = {{ A = "N*N" }}
tune = {{ T = [1, 2], local = [[4, 4], [8, 8]] }}

[hints]
enabled = true
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("local = [8, 8]  # why\ndefines = { T = 1, U = 3 }\n", "local = [4, 4]  # why\ndefines = { T = 2, U = 3 }\n"),
        ('local = "auto"\n', "local = [4, 4]\n"),
    ],
)
def test_a_configuration_keeps_everything_else(searching: Searching, tmp_path: Path, before: str, after: str) -> None:
    path = tmp_path / "kernelcast.toml"
    path.write_text(TABLE.format(lines=before))
    found = searching(KERNEL)
    config = load_config(tmp_path)
    assert config is not None
    made = in_config(config, found.found.path, found.baseline, best(found, "-DT=2", "local=(4, 4)"), 0)
    changed = applied(config.text, made)
    wanted = TABLE.format(lines=after)
    if "defines" not in after:
        wanted = wanted.replace('[[launch]]\nkernel = "k"\n', '[[launch]]\ndefines = { T = 2 }\nkernel = "k"\n')
    assert changed == wanted


def test_a_table_that_is_for_other_kernels_too_is_left_alone(searching: Searching, tmp_path: Path) -> None:
    (tmp_path / "kernelcast.toml").write_text(TABLE.format(lines="").replace('"k"', '"k*"'))
    found = searching(KERNEL)
    config = load_config(tmp_path)
    assert config is not None
    with pytest.raises(LaunchError, match=r"for `k` alone; make one with -DT=2"):
        in_config(config, found.found.path, found.baseline, best(found, "-DT=2", "local=(4, 4)"), 0)


def test_a_change_reads_as_in_an_annotation() -> None:
    change = Change(Combination((("T", "2"),), (("n", "8"),)), (64,), "auto")
    assert change.words == ("-DT=2", "n=8", "global=64", "local=auto")


def test_the_second_launch_of_a_kernel_is_tuned_by_its_own_sizes(tmp_path: Path, forecaster: Forecaster) -> None:
    path = tmp_path / "k.cl"
    line = "// kernelcast: global=(N, N) local=(8, 8) N={n} A=N*N -DT=1 tune.T=1,2 name={name}\n"
    path.write_text(line.format(n=64, name="small") + line.format(n=128, name="large") + KERNEL)
    request = Request(path, device="generic-cpu")
    found = forecaster.forecast(request)
    tuned = search(forecaster, request, found, found.forecasts[1], Tuning())
    (other,) = tuned.candidates
    assert other.change.words == ("-DT=2",)
    assert other.launch.global_size == (128, 128)
    assert dict(other.launch.buffers) == {"A": 128 * 128}
    text = found.text
    changed = applied(text, in_source(text, tuned.baseline, other))
    assert changed == text.replace("N=128 A=N*N -DT=1", "N=128 A=N*N -DT=2")
