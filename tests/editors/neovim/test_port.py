"""The documentation's lines for a server that listens on a port, in a Neovim without any plugin of ours."""

from __future__ import annotations

import os
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from tests.editors.neovim.conftest import ONE_KERNEL, Version

pytestmark = pytest.mark.timeout(240)

TOKEN = "known to this editor alone"
WHAT_COMES = """
vim.lsp.enable("kernelcast")
vim.cmd.edit("blend.cl")
vim.bo.filetype = "opencl"
local function client() return vim.lsp.get_clients({ name = "kernelcast" })[1] end
local function hint()
  if not client() or not client().initialized then return nil end
  local all = { start = { line = 0, character = 0 }, ["end"] = { line = 9, character = 0 } }
  local params = { textDocument = { uri = vim.uri_from_bufnr(0) }, range = all }
  local answer = client():request_sync("textDocument/inlayHint", params, 2000, 0)
  return answer and answer.result and answer.result[1] and answer.result[1].label
end
vim.wait(WAIT_MS, function() return hint() ~= nil end, 100)
io.stdout:write("hint: " .. tostring(hint()))
vim.cmd("qa!")
"""


@contextmanager
def served(kernelcast: str, port: int) -> Iterator[IO[str]]:
    """What the server says, line by line."""
    environment = {**os.environ, "KERNELCAST_TOKEN": TOKEN}
    server = subprocess.Popen(
        [kernelcast, "serve", "--tcp", str(port)], stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert server.stderr
        yield server.stderr
    finally:
        server.kill()
        server.communicate()


def test_the_lines_of_the_readme_connect_whoever_knows_the_token(
    version: Version, kernelcast: str, repository: Path, tmp_path: Path
) -> None:
    if version.name == "0.10":
        pytest.skip("0.10 has no vim.lsp.config, which the documentation's lines are written with")
    (lines,) = re.findall(
        r"```lua\n([^`]*rpc\.connect[^`]*)```", (repository / "docs/pages/editors.md").read_text("utf-8")
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (tmp_path / "blend.cl").write_text(ONE_KERNEL)

    def neovim(token: str, wait_ms: int) -> str:
        (tmp_path / "init.lua").write_text(
            lines.replace("7999", str(port)) + WHAT_COMES.replace("WAIT_MS", str(wait_ms))
        )
        ended = subprocess.run(
            [version.nvim, "--clean", "--headless", "-u", "init.lua"], cwd=tmp_path, capture_output=True, text=True,
            env={**os.environ, "KERNELCAST_TOKEN": token}, timeout=120, check=False,
        )  # fmt: skip
        return ended.stdout

    with served(kernelcast, port) as said:
        assert "listening on 127.0.0.1" in said.readline()
        assert "hint: nil" in neovim("guessed by somebody else", 2000)
        assert "is not the right one" in said.readline()
        assert "µs" in neovim(TOKEN, 60_000)
