"""`kernelcast.toml` by its schema, as taplo reads both: the server behind Even Better TOML."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PAGES = Path(__file__).resolve().parents[3] / "docs" / "pages"
_BLOCK = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def complaints(
    node: str, npm_packages: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], str]:
    """What taplo says of a file whose first line names the schema; nothing where the file is right."""
    taplo = npm_packages("toml") / "node_modules" / "@taplo" / "cli" / "dist" / "cli.js"
    folder = tmp_path_factory.mktemp("project")
    with (folder / "kernelcast.schema.json").open("wb") as schema:
        subprocess.run([Path(sys.executable).with_name("kernelcast"), "schema"], stdout=schema, check=True, timeout=60)

    def said(text: str) -> str:
        (folder / "kernelcast.toml").write_text(f"#:schema ./kernelcast.schema.json\n{text}", encoding="utf-8")
        done = subprocess.run(
            [node, str(taplo), "check", "--colors", "never", "kernelcast.toml"],
            cwd=folder, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert (done.returncode == 0) == ("error" not in done.stderr), done.stderr
        return done.stderr if done.returncode else ""

    return said


def _examples() -> list[tuple[str, str]]:
    """Every `kernelcast.toml` of the documentation, with the page that shows it."""
    pages = ((page.name, page.read_text(encoding="utf-8")) for page in sorted(PAGES.glob("*.md")))
    return [(name, text) for name, page in pages for text in _BLOCK.findall(page) if not text.startswith("#:schema")]


def test_the_examples_of_the_documentation_are_right(complaints: Callable[[str], str]) -> None:
    examples = _examples()
    assert len(examples) >= 5
    assert {name: said for name, text in examples if (said := complaints(text))} == {}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[devices]\nid = 'pocl'\n", "'devices' was unexpected"),
        ("[device]\nid = 4\n", 'is not of type "string"'),
        ("[[launch]]\nkernel = 'blur'\nglobals = [64]\n", "'globals' was unexpected"),
        ("[launch]\nkernel = 'blur'\n", 'is not of type "array"'),
    ],
)
def test_what_is_wrong_is_underlined(complaints: Callable[[str], str], text: str, named: str) -> None:
    assert named in complaints(text)
