"""Flags and steps under their former names."""

from __future__ import annotations

import argparse

import pytest

from server.cli.entry import build_parser
from server.cli.renamed import with_present_steps

FORMER = (
    ("predict k.cl --laws", "--analytic-only", "analytic_only", True),
    ("measure k.cl --laws", "--analytic-only", "analytic_only", True),
    ("report k.cl --laws", "--analytic-only", "analytic_only", True),
    ("predict k.cl --unmeasured", "--ignore-measurements", "ignore_measurements", True),
    ("compile k.cl --anew", "--force", "force", True),
    ("history --most 3", "--limit", "limit", 3),
    ("dataset fetch --prepared", "--offline", "offline", True),
    ("dataset collect --builders 3", "--build-jobs", "build_jobs", 3),
    ("dataset collect --fleet local:2", "--cluster", "cluster", "local:2"),
    ("dataset generate --count 1 --work DIR", "--workdir", "workdir", "DIR"),
    ("dataset export --work DIR DATA", "--workdir", "works", ["DIR"]),
    ("evaluate DATA --page FILE", "--update-readme", "update_readme", "FILE"),
    ("evaluate DATA --brief", "--skip-baselines", "skip_baselines", True),
)


def _plain(value: object) -> object:
    """Return paths as text."""
    if isinstance(value, list):
        return [str(each) for each in value]
    return value if isinstance(value, bool | int) else str(value)


@pytest.mark.parametrize(("call", "present", "name", "value"), FORMER, ids=[each[0] for each in FORMER])
def test_a_former_flag_is_accepted_and_named_with_its_present_one(
    call: str, present: str, name: str, value: object, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = build_parser().parse_args(call.split())
    assert _plain(getattr(arguments, name)) == value
    former = next(word for word in reversed(call.split()) if word.startswith("--"))
    warning = capsys.readouterr().err
    assert f"`{former}` is now `{present}`" in warning


@pytest.mark.parametrize(("call", "present", "name", "value"), FORMER, ids=[each[0] for each in FORMER])
def test_the_present_flag_does_the_same_without_a_warning(
    call: str, present: str, name: str, value: object, capsys: pytest.CaptureFixture[str]
) -> None:
    former = next(word for word in reversed(call.split()) if word.startswith("--"))
    arguments = build_parser().parse_args([present if word == former else word for word in call.split()])
    assert _plain(getattr(arguments, name)) == value
    assert not capsys.readouterr().err


def test_a_former_flag_that_is_not_given_leaves_the_default() -> None:
    arguments = build_parser().parse_args(["predict", "k.cl"])
    assert arguments.analytic_only is False
    assert arguments.ignore_measurements is False


def test_several_stores_of_the_former_flag_make_one_dataset(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = build_parser().parse_args(["dataset", "export", "--workdir", "a", "--work", "b", "DATA"])
    assert _plain(arguments.works) == ["a", "b"]
    assert capsys.readouterr().err.count("\n") == 1


def test_a_former_flag_is_not_in_the_help() -> None:
    def all_help(parser: argparse.ArgumentParser) -> str:
        parts = [parser.format_help()]
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                parts += [all_help(each) for each in action.choices.values()]
        return "\n".join(parts)

    words = {*all_help(build_parser()).replace("[", " ").replace("]", " ").split()}
    former = {word for call, *_ in FORMER for word in call.split() if word.startswith("--")} - {"--count"}
    assert not former & words


def test_a_steps_former_name_is_accepted_with_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    assert with_present_steps(["dataset", "sources", "--workdir", "w"]) == ["dataset", "fetch", "--workdir", "w"]
    assert "`dataset sources` is now `dataset fetch`" in capsys.readouterr().err
    assert with_present_steps(["dataset", "collect"]) == ["dataset", "collect"]
    assert with_present_steps(["doctor"]) == ["doctor"]
    assert not capsys.readouterr().err
