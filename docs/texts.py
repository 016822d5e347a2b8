"""Every text that a user can meet, on one page: to be read from end to end, as a first user would.

A text is a string of the code that reads like words; docstrings are left out. What stands in braces is a value that is
known only at run time.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

from server.client.settings import OPTIONS

REPOSITORY = Path(__file__).resolve().parents[1]
_PACKAGES = ("server", "model", "profiler")
# Kernels, patterns and tables; what is trained with; what is shown to no user.
_NOT_MET = (
    "profiler/corpus", "profiler/device_worker/corpus", "profiler/device_worker/origins", "profiler/recording/hook",
    "model/training", "model/work/expressions", "model/architectures.py", "model/gpu_targets.py",
    "model/opencl/builtins.py", "model/learned/loop_costs.py",
)  # fmt: skip
_LEAST_WORDS = 2
_WORD = re.compile(r"[A-Za-z][a-z']+")
_CODE = re.compile(
    r"^\s*(?:SELECT|INSERT|CREATE|DELETE|UPDATE|PRAGMA|WITH|ALTER|DROP|BEGIN|#|import |from )"
    r"|[{};]\s*\n|;$|\(\?:|\\b|__kernel|get_(?:local|global|group)_id|[a-z] = \?"
)
_LOGGERS = frozenset({"debug", "info", "warning", "error", "exception", "log"})


def texts_page() -> str:
    """Return the page: settings, the extension's manifest, then the texts of each module."""
    parts = [
        "# Texts",
        "",
        "Every text that a user can meet, by where it stands: for reading them as a first user would. Generated.",
        "",
        "## Settings",
        "",
        *(f"- `kernelcast.{option.name}`: {option.description}" for option in OPTIONS),
        "",
        "## Extension for VS Code",
        "",
        *(f"- {_plain(text)}" for text in _manifest_texts()),
        "",
    ]
    for package in _PACKAGES:
        for file in sorted((REPOSITORY / package).rglob("*.py")):
            name = file.relative_to(REPOSITORY).as_posix()
            if not name.startswith(_NOT_MET):
                found = list(dict.fromkeys(module_texts(file.read_text(encoding="utf-8"))))
                parts += [f"## `{name}`", "", *(f"- {_plain(text)}" for text in found), ""] if found else []
    return "\n".join(parts)


def module_texts(source: str) -> Iterator[str]:
    """Yield the texts of a module in the order of the source, f-strings with `{names}` of what is filled in."""
    tree = ast.parse(source)
    left_out = {id(node) for node in _not_texts(tree)}
    yield from _texts(tree, left_out)


def _texts(node: ast.AST, left_out: set[int]) -> Iterator[str]:
    if id(node) in left_out:
        return
    text = _text(node)
    if text is not None:
        if _reads_like_words(text):
            yield text
        return
    for child in ast.iter_child_nodes(node):
        yield from _texts(child, left_out)


def _text(node: ast.AST) -> str | None:
    """Return the text of a string or an f-string; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or f"{{{_name(part)}}}" for part in node.values)
    return None


def _name(node: ast.AST) -> str:
    return ast.unparse(node.value) if isinstance(node, ast.FormattedValue) else ""


def _not_texts(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield docstrings, what is logged, and patterns."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            yield body[0].value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            is_log = isinstance(owner, ast.Name) and owner.id in ("_log", "log", "logger", "logging")
            is_pattern = isinstance(owner, ast.Name) and owner.id == "re"
            if (is_log and node.func.attr in _LOGGERS) or is_pattern or node.func.attr in ("execute", "executescript"):
                yield node
        if isinstance(node, ast.Assert) and node.msg is not None:
            yield node.msg


def _reads_like_words(text: str) -> bool:
    return " " in text.strip() and len(_WORD.findall(text)) >= _LEAST_WORDS and not _CODE.search(text)


def _manifest_texts() -> Iterator[str]:
    manifest = json.loads((REPOSITORY / "editors/vscode/package.json").read_text(encoding="utf-8"))
    known = {option.description for option in OPTIONS}
    left: list[object] = [{key: manifest[key] for key in ("description", "capabilities", "contributes")}]
    while left:
        value = left.pop(0)
        if isinstance(value, dict):
            left[:0] = [each for key, each in value.items() if key not in ("when", "command", "id")]
        elif isinstance(value, list):
            left[:0] = value
        elif isinstance(value, str) and _reads_like_words(value) and value not in known:
            yield value


def _plain(text: str) -> str:
    """Return a text on one line, as a Markdown list takes it."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
