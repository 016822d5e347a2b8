"""What commands take and give: plain texts in, plain JSON out."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from model.errors import KernelcastError


def texts(params: types.ExecuteCommandParams, count: int) -> list[str]:
    given = [str(argument) for argument in params.arguments or ()]
    return [*given, *[""] * count][:count]


def error_answer(error: KernelcastError) -> dict[str, Any]:
    return {"error": {"code": error.code, "message": error.message}}
