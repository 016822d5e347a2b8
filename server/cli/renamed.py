"""Flags and steps under their former names: accepted for one release more, with a warning on stderr."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

_STEPS = {("dataset", "sources"): ("dataset", "fetch")}


def add_former_flag(parser: argparse.ArgumentParser, former: str, action: argparse.Action) -> None:
    """Let `former` do what the flag of `action` does, without a line in the help."""
    parser.add_argument(
        former,
        action=_Former,
        renamed=action,
        dest=action.dest,
        nargs=action.nargs,
        type=action.type or str,
        default=argparse.SUPPRESS,
        help=argparse.SUPPRESS,
    )


def with_present_steps(argv: Sequence[str]) -> list[str]:
    """Return the call with a step's former name replaced by the present one."""
    step = _STEPS.get((argv[0], argv[1])) if len(argv) >= 2 else None
    if step is None:
        return list(argv)
    _warn(" ".join(argv[:2]), " ".join(step))
    return [*step, *argv[2:]]


class _Former(argparse.Action):
    def __init__(self, *arguments: Any, renamed: argparse.Action, **named: Any) -> None:  # noqa: ANN401
        super().__init__(*arguments, **named)
        self._renamed = renamed

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        present = self._renamed.option_strings[0]
        _warn(option_string or self.option_strings[0], present)
        self._renamed(parser, namespace, values, present)


def _warn(former: str, present: str) -> None:
    print(f"kernelcast: `{former}` is now `{present}`; the next release no longer accepts `{former}`", file=sys.stderr)
