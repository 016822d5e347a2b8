"""`kernelcast.toml` files, kept until they change: they are asked for at every keystroke."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from cachetools import LRUCache

from model.errors import ConfigError
from model.launch.config import Config, load_config

_KEPT = 64
_SETTLED_S = 2.0  # a file that changed later than that may change again without a sign: clocks of file systems tick


class Configurations:
    """Caches configuration files until they change. Not for two threads at once."""

    def __init__(self, now_s: Callable[[], float] = time.time) -> None:
        self._now_s = now_s
        self._kept: LRUCache[tuple[Path, int, int], Config] = LRUCache(_KEPT)

    def read(self, path: Path) -> Config | None:
        """Return what stands in that file, as `find_config` found it; None if it is gone. Raises `ConfigError`."""
        try:
            stat = path.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
        key = (path, stat.st_mtime_ns, stat.st_size)
        if key in self._kept:
            return self._kept[key]
        config = load_config(path.parent)
        if config is not None and abs(self._now_s() - stat.st_mtime) > _SETTLED_S:
            self._kept[key] = config
        return config
