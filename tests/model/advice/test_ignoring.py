"""Advice that a project does not want is named in its `kernelcast.toml`, by codes that exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.advice.advice import AdviceCode
from model.errors import ConfigError
from model.launch.config import parse_config

PATH = Path("kernelcast.toml").absolute()


def test_codes_are_read() -> None:
    read = parse_config('[advice]\nignore = ["local-tile", "bank-conflicts"]\n', PATH)
    assert read.advice_ignored == {AdviceCode.LOCAL_TILE, AdviceCode.BANK_CONFLICTS}


def test_a_code_that_does_not_exist_is_named_with_its_line_and_what_was_meant() -> None:
    with pytest.raises(ConfigError) as refused:
        parse_config('[advice]\nignore = ["local-tiles"]\n', PATH)
    assert refused.value.line == 2
    assert "there is no advice `local-tiles`" in refused.value.message
    assert "Did you mean `local-tile`?" in refused.value.message


def test_nothing_else_is_known_there() -> None:
    with pytest.raises(ConfigError, match="`ignored` is not known"):
        parse_config('[advice]\nignored = ["local-tile"]\n', PATH)
