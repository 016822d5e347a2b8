"""The page of all texts holds what users meet, and no text has words that readers stumbled over."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.texts import module_texts, texts_page

# Each was in a text once, and was not understood or meant several things; what is said instead.
WORDS = {
    r"\bmends?\b": "fix",
    r"\bp10-p90\b|8 times in 10": "80 % range",
    r"\bbeyond (?:the )?noise\b": "measurably",
    r"\blaws?\b": "analytical model",
    r"taken (?:for|to be)\b": "assumed",
    r"×/÷": "a range",
    r"\bis is\b|\bthe the\b|\ba a\b": "a word twice",
    r"\bthat is, that\b": "a sentence of its own",
}


@pytest.fixture(scope="module")
def page() -> str:
    return texts_page()


@pytest.mark.parametrize(
    "text",
    [
        "compare the kernels of two revisions or folders",  # help of a command
        "is neither a parameter of `{kernel.name}` nor used by another value",  # a diagnostic
        "the device has no memory left for its buffers; choose smaller ones",  # an error
        "Show `Measure \\| Report \\| Tune` above each kernel",  # a setting
        "Hottest lines",  # a heading of the hover
        "See how long an OpenCL kernel takes before it runs",  # the walkthrough
    ],
)
def test_every_kind_of_text_is_on_the_page(page: str, text: str) -> None:
    assert text.replace("Measure \\| Report \\| Tune", "Measure | Report | Tune") in page.replace("\\|", "|")


@pytest.mark.parametrize("pattern", WORDS)
def test_no_text_has_a_word_that_readers_stumbled_over(page: str, pattern: str) -> None:
    lines = [line for line in page.splitlines() if line.startswith("- ") and not line.startswith("- ,")]
    found = [line for line in lines if re.search(pattern, re.sub(r"\{[^{}]*\}|^- ", "", line), re.IGNORECASE)]
    assert found == [], f"rather: {WORDS[pattern]}"


def test_a_text_is_what_its_module_says() -> None:
    source = '''"""Docstring, not shown to users."""
import re
PATTERN = re.compile("not a text of ours")
def say(name: str) -> str:
    """Nor this one here."""
    _log.info("nor what is logged")
    return f"the kernel {name!r} is not there; name " "another one"
'''
    assert list(module_texts(source)) == ["the kernel {name} is not there; name another one"]


def test_every_module_with_texts_is_named(page: str) -> None:
    root = Path(__file__).resolve().parents[2]
    named = re.findall(r"^## `(.+\.py)`$", page, re.MULTILINE)
    assert len(named) > 200
    assert all((root / name).is_file() for name in named)
