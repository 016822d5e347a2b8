"""Arguments and answers of commands: plain texts in, plain JSON out."""

from __future__ import annotations

import json
from typing import Any

from lsprotocol import types

from model.errors import KernelcastError


class BadArguments(KernelcastError):
    """A client called a command in a way that it does not understand."""

    code = "arguments"


def texts(params: types.ExecuteCommandParams, count: int) -> list[str]:
    """Return the first `count` arguments; missing ones and null are empty.

    Raises BadArguments for anything but texts.
    """
    given = [*(params.arguments or ()), *[None] * count][:count]
    for place, argument in enumerate(given, 1):
        if argument is not None and not isinstance(argument, str):
            told = json.dumps(argument, default=str)[:80]
            raise BadArguments(f"argument {place} of `{params.command}` must be a text, not {told}")
    return [argument or "" for argument in given]


def error_answer(error: KernelcastError) -> dict[str, Any]:
    return {"error": {"code": error.code, "message": error.message}}
