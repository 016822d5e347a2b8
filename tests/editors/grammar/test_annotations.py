"""Launches written in comments are coloured where the analysis reads them, and only there."""

from __future__ import annotations

import pytest

from model.launch.annotation import find_annotations
from tests.editors.grammar.colours import Colours

LINE = (
    "// kernelcast: global=(N, N) local=(16,16) N=1024 A=N*N p.gain=0.5 fill.col=randint:0:n "
    "-DTILE=16 -I include -cl-fast-relaxed-math name=large"
)
MARKED = [
    "// kernelcast: global=64",
    "//kernelcast : global=64",
    "/// kernelcast: global=64",
    "    //! kernelcast: global=64",
    "int x; // kernelcast: global=64",
    "/* kernelcast: global=64 */",
    "/** kernelcast: global=64",
    "/* Adds.\n * kernelcast: global=64\n */",
    "/* Adds.\nkernelcast: global=64 */",
    "// kernelcast: \\\n  global=64",
]
NOT_MARKED = [
    "// see kernelcast: global=64",
    "// kernelcast global=64",
    "/* Adds; kernelcast: global=64 */",
    'char *s = "// kernelcast: global=64";',
    "// kernelcasts: global=64",
]


def test_each_part_of_an_annotation_has_its_colour(colour: Colours) -> None:
    coloured = colour(LINE)
    assert coloured["kernelcast"] == "keyword.other.annotation"
    assert coloured["global"] == coloured["local"] == coloured["name"] == "keyword.other.launch"
    assert coloured.texts("variable.parameter") == ["N", "A", "p.gain", "col"]
    assert coloured.texts("constant.numeric") == ["16", "16", "1024", "0.5", "0"]
    assert coloured["fill"] == "support.function.fill"
    assert coloured["randint"] == "constant.language.fill"
    assert coloured["-D"] == coloured["-I"] == coloured["-cl-fast-relaxed-math"] == "keyword.other.build-option"
    assert coloured["TILE"] == "entity.name.function.preprocessor"
    assert coloured.texts("string") == ["16", "include", "large"]


def test_it_stays_a_comment_all_the_same(colour: Colours) -> None:
    coloured = colour(f"{LINE}\nfloat x;")
    assert all(token.is_comment for token in coloured.lines[0])
    assert not any(token.is_comment for token in coloured.lines[1])


@pytest.mark.parametrize("text", MARKED)
def test_it_is_coloured_where_the_analysis_reads_it(text: str, colour: Colours) -> None:
    assert find_annotations(text)
    coloured = colour(text)
    assert coloured["global"] == "keyword.other.launch"
    assert coloured["64"] == "constant.numeric"


@pytest.mark.parametrize("text", NOT_MARKED)
def test_other_comments_are_only_comments(text: str, colour: Colours) -> None:
    assert not find_annotations(text)
    assert colour(text).texts("meta.annotation") == []


def test_words_of_the_language_mean_nothing_else_in_it(colour: Colours) -> None:
    coloured = colour("// kernelcast: global=ceil_div(n, 2)*2//1 local=auto name='two words' kernel=4 sin=2")
    assert coloured["global"] == coloured["local"] == "keyword.other.launch"
    assert coloured["ceil_div"] == "support.function.builtin.expression"
    assert coloured.all_of("//")[1] == coloured["*"] == "keyword.operator.arithmetic"
    assert coloured["auto"] == "constant.language.auto"
    assert coloured["'two words'"] == "string.unquoted.label"
    assert coloured["kernel"] == coloured["sin"] == "variable.parameter"


def test_a_block_comment_ends_where_it_ends(colour: Colours) -> None:
    coloured = colour("/* kernelcast: global=n*2 name=large*/ float x;\n")
    assert coloured["float"] == "storage.type.built-in.primitive"
    assert coloured["large"] == "string.unquoted.label"
    assert coloured.open == ()
