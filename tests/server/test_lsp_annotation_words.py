"""Inside a launch annotation completion and hover know its words; outside both stay silent."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from lsprotocol import types

from model.launch.fill import FILL_WORDS
from server.features.annotation_words import completions
from server.features.requests import hover_of
from server.snapshot import Snapshot
from server.text.annotation_help import FILLS

Snapshots = Callable[..., Snapshot]
KERNEL = "\n__kernel void blur(__global float *a, const int n) { a[0] = n; }\n"
MARKDOWN = (types.MarkupKind.Markdown,)


def at_bar(snapshot_of: Snapshots, annotation: str) -> tuple[Snapshot, types.Position]:
    """`|` is where the cursor stands."""
    column = annotation.index("|")
    return snapshot_of(annotation.replace("|", "") + KERNEL), types.Position(0, column)


def offered(snapshot_of: Snapshots, annotation: str) -> dict[str, types.CompletionItem]:
    return {item.label: item for item in completions(*at_bar(snapshot_of, annotation))}


def told(snapshot_of: Snapshots, annotation: str) -> str | None:
    answer = hover_of(*at_bar(snapshot_of, annotation), MARKDOWN)
    if answer is None:
        return None
    assert isinstance(answer.contents, types.MarkupContent)
    return answer.contents.value


def test_keys_and_parameters_are_offered_in_their_own_spelling(snapshot_of: Snapshots) -> None:
    found = offered(snapshot_of, "// kernelcast: |")
    assert {"global=", "local=", "name=", "-D", "tune."} <= found.keys()


@pytest.mark.parametrize("mark", ["// kernelcast: ", "/* kernelcast: ", "/// kernelcast:"])
def test_what_is_given_already_is_not_offered_again(snapshot_of: Snapshots, mark: str) -> None:
    end = " */" if mark.startswith("/*") else ""
    found = offered(snapshot_of, f"{mark}global=64 |{end}")
    assert "global=" not in found
    assert "local=" in found


def test_an_item_takes_the_place_of_what_was_typed(snapshot_of: Snapshots) -> None:
    item = offered(snapshot_of, "// kernelcast: global=64 lo|")["local="]
    assert isinstance(item.text_edit, types.TextEdit)
    assert item.text_edit.new_text == "local="
    assert item.text_edit.range == types.Range(types.Position(0, 25), types.Position(0, 27))


def test_every_fill_is_offered_with_its_meaning(snapshot_of: Snapshots) -> None:
    found = offered(snapshot_of, "// kernelcast: global=64 fill.a=|")
    assert {label.rstrip(":") for label in found} == set(FILL_WORDS) == set(FILLS)
    assert found["randint:"].documentation is not None


def test_values_offer_names_that_have_one(snapshot_of: Snapshots) -> None:
    assert "N" in offered(snapshot_of, "// kernelcast: N=64 global=|")
    assert "N" in offered(snapshot_of, "// kernelcast: N=64 global=(N, |")
    assert "auto" in offered(snapshot_of, "// kernelcast: global=64 local=|")


@pytest.mark.parametrize("text", ["int kernelcast; |", "// a comment |", "// not kernelcast: |", '"// kernelcast: |"'])
def test_outside_of_annotations_there_is_nothing(snapshot_of: Snapshots, text: str) -> None:
    assert offered(snapshot_of, text) == {}


def test_a_hover_says_what_a_word_means(snapshot_of: Snapshots) -> None:
    assert "work-items in each dimension" in (told(snapshot_of, "// kernelcast: glo|bal=64") or "")
    assert "LO" in (told(snapshot_of, "// kernelcast: global=64 fill.a=rand|int:0:4") or "")
    assert told(snapshot_of, "// kernelcast: global=64| local=8") != told(snapshot_of, "// kernelcast: loc|al=8")
    assert told(snapshot_of, "// a comm|ent") is None
