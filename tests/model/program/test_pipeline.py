"""Pipelines of a `kernelcast.toml` become commands, and mistakes in them are named with their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.errors import ConfigError
from model.launch.config import parse_config
from model.program.command import CommandKind
from model.program.pipeline import Pipeline, PipelineLaunch, commands_of, pipeline_named

TEXT = """
[[pipeline]]
name = "frame"
before = [{ write = "4*1024*1024" }]
repeat = 3
steps = [
  { write = 4096, queue = 1, pinned = true },
  { launch = "blur", file = "blur.cl", name = "large", repeat = 2, wait_for = ["write"] },
  { host_us = 50 },
  { read = 4096, blocking = true },
]
after = [{ finish = true }]
"""


def pipeline(text: str) -> Pipeline:
    (found,) = parse_config(text, Path("/w/kernelcast.toml")).pipelines
    return found


def test_steps_become_commands_in_their_order() -> None:
    found = pipeline(TEXT)
    assert found.launches == (PipelineLaunch("blur", "blur.cl", "large"),)
    sequence = commands_of(found, "pocl")
    kinds = [each.kind for each in sequence.commands]
    once = [CommandKind.WRITE, CommandKind.LAUNCH, CommandKind.LAUNCH, CommandKind.READ]
    assert kinds == [CommandKind.WRITE, *once * 3, CommandKind.FINISH, CommandKind.FINISH, CommandKind.FINISH]
    assert sequence.commands[0].size_bytes == 4 << 20
    assert sequence.commands[1].is_pinned
    assert sequence.commands[2].waits == (1,)
    assert [each.begin_us for each in sequence.commands if each.kind is CommandKind.READ] == [50, 100, 150]
    assert (len(sequence.queues), sequence.is_recorded) == (2, False)


def test_a_pipeline_is_found_by_its_name() -> None:
    found = pipeline(TEXT)
    assert pipeline_named((found,), "frame") is found
    assert pipeline_named((found,), "other") is None


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('[[pipeline]]\nsteps = [{ read = 4 }]\n', 1, "needs a name"),
        ('[[pipeline]]\nname = "a"\n', 1, "has no steps"),
        ('[[pipeline]]\nname = "a"\nsteps = [{ reed = 4 }]\n', 3, "`reed` is not known"),
        ('[[pipeline]]\nname = "a"\nsteps = [{ read = 4, write = 4 }]\n', 3, "a step is one of"),
        ('[[pipeline]]\nname = "a"\nsteps = [{ read = -4 }]\n', 3, "must not be negative"),
        ('[[pipeline]]\nname = "a"\nsteps = [{ read = 4, queue = 900 }]\n', 3, "from 0 to 63"),
        ('[[pipeline]]\nname = "a"\nrepeat = 60000\nsteps = [{ read = 4, repeat = 60000 }]\n', 3, "at most 65536"),
        ('[[pipeline]]\nname = "a"\nsteps = 3\n', 3, "must be a list of steps"),
    ],
)  # fmt: skip
def test_mistakes_are_named_with_their_line(text: str, line: int, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        pipeline(text)
    assert caught.value.line == line
