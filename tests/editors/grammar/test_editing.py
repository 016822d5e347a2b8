"""What VS Code does by itself in a kernel: indenting, going on with a comment, folding, picking a word."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def language(repository: Path) -> dict[str, Any]:
    file = repository / "editors" / "vscode" / "language-configuration.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize(
    ("line", "indents"),
    [
        ("__kernel void f(__global float *x) {", True),
        ("{", True),
        ("__kernel void f(", True),
        ("    const float4 v = (float4)(  // four", True),
        ("    x[i] = g(y);", False),
        ("    // say (", False),
        (" * say (", False),
        ('    printf("{");', False),
        ("    if (x) { y(); }", False),
    ],
)
def test_the_next_line_is_indented_after_what_opens(line: str, indents: bool, language: dict[str, Any]) -> None:
    pattern = language["indentationRules"]["increaseIndentPattern"]
    assert bool(re.search(pattern, line)) is indents


@pytest.mark.parametrize(
    ("line", "indents"),
    [
        ("    if (i < n)", True),
        ("    else if (i < n) // the rest", True),
        ("    for (int k = 0; k < n; ++k)", True),
        ("    else", True),
        ("    if (i < n) return;", False),
        ("    while (i < n) {", False),
        ("    format(n)", False),
    ],
)
def test_one_line_is_indented_after_a_condition(line: str, indents: bool, language: dict[str, Any]) -> None:
    pattern = language["indentationRules"]["indentNextLinePattern"]
    assert bool(re.search(pattern, line)) is indents


def test_directives_stay_where_they_are(language: dict[str, Any]) -> None:
    assert re.search(language["indentationRules"]["unIndentedLinePattern"], "  #endif")


@pytest.mark.parametrize(
    ("previous", "before", "after", "action"),
    [
        ("", "/**", " */", {"indent": "indentOutdent", "appendText": " * "}),
        ("", "/* Adds.", "", {"indent": "none", "appendText": " * "}),
        ("/* Adds.", " * And", "", {"indent": "none", "appendText": "* "}),
        (" * And", " * adds. */", "", {"indent": "none", "removeText": 1}),
        ("", "    // half of ", "a remark", {"indent": "none", "appendText": "// "}),
        ("", "// kernelcast: global=64", "", None),
        ("", "/* Adds. */", "", None),
        ("", "    y = x *", "", None),
        ("", "x = y;", "z = y;", None),
    ],
)
def test_enter_goes_on_with_a_comment(
    previous: str, before: str, after: str, action: object, language: dict[str, Any]
) -> None:
    chosen = next(
        (
            rule["action"]
            for rule in language["onEnterRules"]
            if re.search(rule["beforeText"], before)
            and re.search(rule.get("afterText", ""), after)
            and re.search(rule.get("previousLineText", ""), previous)
        ),
        None,
    )
    assert chosen == action


@pytest.mark.parametrize("form", ["#pragma {}", "  # pragma {} tables", "//#{}", "// {} tables"])
def test_regions_fold(form: str, language: dict[str, Any]) -> None:
    markers = language["folding"]["markers"]
    assert re.search(markers["start"], form.format("region"))
    assert re.search(markers["end"], form.format("endregion"))
    assert not re.search(markers["start"], form.format("endregion"))


def test_a_double_click_picks_a_name_a_component_or_a_number(language: dict[str, Any]) -> None:
    found = re.findall(language["wordPattern"], "v.s01 = half_sqrt(0x1.8p3f*.5f)-1.0h;")
    assert found == ["v", "s01", "half_sqrt", "0x1.8p3f", ".5f", "1.0h"]
