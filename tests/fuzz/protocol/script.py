"""What one session sends, made before it starts, so that it can be sent again and cut down."""

from __future__ import annotations

import base64
import json
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

# Stand for what is another each time, and are as long, because headers tell lengths.
MARK = "@" * 12  # the workspace's own part of its name
ROOT = f"{tempfile.gettempdir()}/kernelcast-fuzz-{MARK}"
SERVERS_ID = f"{'servers id':@^36}"  # of the server's last request


@dataclass(frozen=True, slots=True)
class Step:
    """`send` has headers and body; `write` changes a file (no content: deletes it); `ask` sends and holds the answer
    against `wanted`; `settle` waits until all that has been asked is answered."""

    kind: str
    data: str = ""  # base64: any bytes
    path: str = ""
    wanted: tuple[Any, ...] = ()
    is_slow: bool = False

    @property
    def bytes(self) -> bytes:
        return base64.b64decode(self.data)


@dataclass(frozen=True, slots=True)
class Script:
    """`messages` and `states` are what counts of it; `manners` seeds how the client answers the server."""

    name: str
    steps: tuple[Step, ...]
    messages: int = 0
    states: int = 0
    manners: str = ""  # polite when empty

    def save(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(asdict(self)), encoding="ascii")


def load(file: Path) -> Script:
    kept = json.loads(file.read_text(encoding="ascii"))
    steps = tuple(Step(**{**step, "wanted": tuple(step["wanted"])}) for step in kept["steps"])
    return Script(**{**kept, "steps": steps})


def send(framed: bytes, *, is_slow: bool = False) -> Step:
    return Step("send", base64.b64encode(framed).decode(), is_slow=is_slow)


def packed(message: dict[str, Any]) -> bytes:
    """A message as every client would send it."""
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def plain(message: dict[str, Any], *, is_slow: bool = False) -> Step:
    return send(packed(message), is_slow=is_slow)


SETTLE = Step("settle")


def write(path: str, content: bytes | None) -> Step:
    if content is None:
        return Step("write", path=path)
    return Step("write", base64.b64encode(content).decode(), path, wanted=("content",))
