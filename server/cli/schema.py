"""`kernelcast schema`: the JSON schema of `kernelcast.toml`, for editors."""

from __future__ import annotations

import argparse
import json

from server.config_schema import config_schema


def run(_arguments: argparse.Namespace) -> int:
    print(json.dumps(config_schema(), indent=2, ensure_ascii=False))
    return 0
