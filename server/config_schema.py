"""JSON schema of `kernelcast.toml`, for editors that complete and check TOML files by one.

It says what `model.launch.config` reads; a test holds the two against each other.
"""

from __future__ import annotations

from typing import Any

from model.advice.advice import AdviceCode
from server.text.annotation_help import FILLS, KEYS

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_VALUE: Schema = {"type": ["number", "string"], "description": "A number, or an expression in quotes."}
_FLAG: Schema = {"type": "boolean"}
_COUNT: Schema = {"type": "integer", "minimum": 1}


def config_schema() -> Schema:
    """Return the schema as JSON has it, in draft 7, which Even Better TOML and taplo read."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "kernelcast.toml",
        "description": "Launches, device and build options that everybody who works on a project shares.",
        **_table(
            {
                "launch": {
                    "type": "array",
                    "description": "Launches of kernels, one table [[launch]] each.",
                    "items": _launch(),
                },
                "pipeline": {
                    "type": "array",
                    "description": "Programs of launches and transfers, one table [[pipeline]] each.",
                    "items": _pipeline(),
                },
                "device": _table(
                    {
                        "id": _said("Device that predictions are for, one of `kernelcast devices --all`.", _TEXT),
                        "compare": _said("Further devices whose times hovers and reports show.", _texts()),
                    },
                    "Devices that predictions are for.",
                ),
                "hints": _table({"enabled": _said("Whether times are shown next to kernels.", _FLAG)}, "Hints."),
                "advice": _table(
                    {
                        "ignore": _said(
                            "Codes of advice that are not shown.", _texts({"enum": [str(code) for code in AdviceCode]})
                        )
                    },
                    "Advice on making kernels faster.",
                ),
                "build": _table(_build(), "Build options of every kernel."),
                **_build(),
            }
        ),
    }


def _launch() -> Schema:
    return _table(
        {
            "kernel": _said("Name of the kernel, or a pattern such as `blur_*`; all kernels without it.", _TEXT),
            "files": _said("Files of the kernel, as patterns from this folder; all files without it.", _texts()),
            "name": _said(KEYS["name"], _TEXT),
            "global": _said(KEYS["global"], _sizes(3)),
            "local": _said(KEYS["local"], _sizes(3)),
            "args": _named("Values of scalar arguments, by name.", {"anyOf": [_sizes(16), {"type": "object"}]}),
            "buffers": _named("Lengths of buffers in elements, by name.", _VALUE),
            "images": _named("Sizes of images, by name: [width, height] or [width, height, depth].", _sizes(3)),
            "local_bytes": _named("Sizes of local buffers in bytes, by name.", _VALUE),
            "fill": _named(
                f"Contents of buffers, by name, in one of these words: {', '.join(FILLS)}; or a number.",
                {"type": ["string", "number", "object"]},
            ),
            "tune": _named(f"{KEYS['tune']} Here: `tune = {{ TILE = [8, 16, 32] }}`.", {"type": ["array", "string"]}),
            "where": _said(KEYS["where"].replace("where ", "", 1), _texts()),
            **_build(),
        },
        "A launch of a kernel: its sizes, arguments and buffers.",
    )


def _pipeline() -> Schema:
    return _table(
        {
            "name": _said("Name for `kernelcast program --pipeline`.", _TEXT),
            "before": _said("Steps that come once, first.", _steps()),
            "steps": _said("Steps that are repeated.", _steps()),
            "after": _said("Steps that come once, last.", _steps()),
            "repeat": _said("How often the steps are repeated.", _COUNT),
            "out_of_order": _said("Whether its queues are out of order, held together by `wait_for` alone.", _FLAG),
        },
        "A program: what its host enqueues, in order.",
    )


def _steps() -> Schema:
    step = _table(
        {
            "launch": _said("Name of the kernel to launch.", _TEXT),
            "file": _said("File of the kernel, from this folder.", _TEXT),
            "name": _said("Name of one of the kernel's launches.", _TEXT),
            "write": _said("Bytes that go to the device.", _VALUE),
            "read": _said("Bytes that come back.", _VALUE),
            "copy": _said("Bytes that are copied on the device.", _VALUE),
            "fill": _said("Bytes that are filled on the device.", _VALUE),
            "map": _said("Bytes that are mapped.", _VALUE),
            "finish": _said("Wait for the queue.", _FLAG),
            "host_us": _said("Microseconds in which the host does something else.", _VALUE),
            "queue": _said("Number of the queue, from 0.", {"type": "integer", "minimum": 0}),
            "blocking": _said("Whether the host waits for this step.", _FLAG),
            "pinned": _said("Whether the host's memory was allocated by the driver.", _FLAG),
            "repeat": _said("How often the step is repeated.", _COUNT),
            "wait_for": _said("Kernels or kinds of earlier steps to wait for.", _texts()),
        }
    )
    return {"type": "array", "items": step}


def _build() -> Schema:
    return {
        "defines": _named("Macros that kernels are built with, by name.", {"type": ["string", "number", "boolean"]}),
        "include": _said("Folders in which `#include` looks for headers, from the folder of this file.", _texts()),
        "options": _said("Further build options, such as `-cl-fast-relaxed-math`.", _texts()),
    }


def _table(properties: Schema, description: str = "") -> Schema:
    said = {"description": description} if description else {}
    return {"type": "object", "additionalProperties": False, **said, "properties": properties}


def _named(description: str, value: Schema) -> Schema:
    return {"type": "object", "description": description, "additionalProperties": value}


def _texts(item: Schema | None = None) -> Schema:
    """Return one text, or a list of them."""
    one = {**_TEXT, **(item or {})}
    return {"anyOf": [one, {"type": "array", "items": one}]}


def _sizes(most: int) -> Schema:
    return {"anyOf": [_VALUE, {"type": "array", "minItems": 1, "maxItems": most, "items": _VALUE}]}


def _said(description: str, schema: Schema) -> Schema:
    return {"description": description, **schema}
