"""The plugin's Lua is formatted by StyLua and has nothing to say against it from luacheck."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.editors.neovim.conftest import missing
from tests.editors.neovim.home import CACHE, PLUGIN

FORMAT = """
const { readFileSync } = require("node:fs");
const stylua = require("@johnnymorganz/stylua");
for (const path of process.argv.slice(1)) {
  const config = stylua.Config.new(); // as in stylua.toml
  config.column_width = 120;
  config.indent_type = stylua.IndentType.Spaces;
  config.indent_width = 2;
  const text = readFileSync(path, "utf8");
  const formatted = stylua.formatCode(text, config, undefined, stylua.OutputVerification.None);
  if (formatted !== text) console.log(path);
}
"""


def test_lua_is_formatted() -> None:
    node, folder = Path(sys.executable).with_name("node"), CACHE / "stylua"
    if not node.exists() or not (folder / ".complete").exists():
        missing("StyLua is not set up: `make test-editors` fetches it")
    command = [node, "-e", FORMAT, *sorted(PLUGIN.rglob("*.lua"))]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_luacheck_finds_nothing() -> None:
    if shutil.which("luacheck") is None:
        missing("luacheck is not installed; on Debian it is the package lua-check")
    command = ["luacheck", "--quiet", "--no-color", "."]
    ended = subprocess.run(command, cwd=PLUGIN, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stdout
