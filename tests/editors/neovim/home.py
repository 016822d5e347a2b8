"""One user's folders: init.lua, our plugin as a package, files to work on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
PLUGIN = REPOSITORY / "editors" / "neovim"
CACHE = REPOSITORY / ".cache" / "editors"

QUICK = "{ measure = { budgetS = 0.3, timeLimitS = 40 } }"
SET_UP = f'require("kernelcast").setup({{ settings = {QUICK} }})'
ENABLE = f'vim.lsp.config("kernelcast", {{ settings = {{ kernelcast = {QUICK} }} }})\nvim.lsp.enable("kernelcast")'


def patient(init: str) -> str:
    """Return the same settings with time enough for a person to look, or to press cancel."""
    return init.replace("budgetS = 0.3", "budgetS = 30")


# What happens at a moment is written down, so that a test can look at it later.
_RECORDS = """
_G.seen = { opened = {}, progress = {} }
vim.ui.open = function(path)
  table.insert(_G.seen.opened, path)
  return { wait = function() return { code = 0 } end }
end
"""


@dataclass(frozen=True)
class Home:
    """Folders of one user: nothing of the real user's is read or written."""

    root: Path
    kernelcast: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def work(self) -> Path:
        return self.root / "work"

    def lay_out(self, init: str) -> None:
        self.work.mkdir(parents=True, exist_ok=True)
        (self.work / "kernelcast.toml").touch()
        config = self.root / "config" / "nvim"
        config.mkdir(parents=True, exist_ok=True)
        (config / "init.lua").write_text(_RECORDS + init + "\n", encoding="utf-8")
        package = self.root / "data" / "nvim" / "site" / "pack" / "kernelcast" / "start"
        package.mkdir(parents=True, exist_ok=True)
        link = package / "kernelcast"
        if not link.exists():
            link.symlink_to(PLUGIN)

    @property
    def variables(self) -> dict[str, str]:
        return {
            "HOME": str(self.root),
            "XDG_CONFIG_HOME": str(self.root / "config"),
            "XDG_DATA_HOME": str(self.root / "data"),
            "XDG_STATE_HOME": str(self.root / "state"),
            "XDG_CACHE_HOME": str(self.root / "cache"),
            "PATH": f"{self.kernelcast.parent}:{os.environ['PATH']}",
            "LC_ALL": "C.UTF-8",
            "COLORTERM": "truecolor",
            **self.environment,
        }
