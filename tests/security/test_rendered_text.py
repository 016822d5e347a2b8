"""Hovers, messages and reports hold names and words of somebody else's code: they stay words there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import Future
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lsprotocol import types
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygls.progress import Progress

from server.client.progress import ProgressBar
from server.report.markup import document, prose, tag
from server.report.page import POLICY
from server.text.escaping import message
from server.text.hover import Section, Story
from server.text.layout import as_markdown, as_plain_text

HOSTILE = (
    "[run](command:workbench.action.terminal.new)", "![x](https://evil.example/p.png)", "<img src=x onerror=alert(1)>",
    "<command:evil>", "<https://evil.example>", "https://evil.example", "www.evil.example", "[a]: command:evil", "[a]",
    "[a][b]", "`", "``", "```", "~~~", "`[a](command:b)`", "\\", "\\`", "&lt;script&gt;", "&#91;", "<!--", "# head",
    "> quote", "- item", "1. item", "| a | b |", "| - | - |", "===", "---", "</script><script>alert(1)</script>",
    "\n", "\r\n", "\u2028", "$(x)", "]", "(", "word", "**", "__", "a\\", "](command:x)", "[x]\n(command:y)",
)  # fmt: skip
texts = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=6), max_size=8).flatmap(
    lambda parts: st.sampled_from(["", " ", "\n"]).map(lambda between: between.join(parts))
)
RENDERED = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
ALLOWED = {
    "paragraph_open", "paragraph_close", "inline", "text", "text_special", "softbreak", "code_inline", "strong_open",
    "strong_close", "em_open", "em_close", "s_open", "s_close", "fence", "bullet_list_open", "bullet_list_close",
    "list_item_open", "list_item_close",
}  # fmt: skip


def tokens(rendered: list[Token]) -> Iterator[Token]:
    for token in rendered:
        yield token
        yield from tokens(token.children or [])


def test_the_renderer_would_see_what_gets_through() -> None:
    found = {token.type for text in HOSTILE for token in tokens(RENDERED.parse(f"{text}\n"))}
    assert {"link_open", "image", "html_inline", "heading_open", "fence", "blockquote_open"} <= found


@given(texts, texts, texts, texts)
@example("a", "Advice", "`` ` [x](command:y)", "z")
@example("a", "**", "", "")
@example("a", "b", "word " * 14 + "# no heading", "word " * 15 + "1. no list")
def test_nothing_in_a_hover_becomes_markup(lead: str, title: str, note: str, other: str) -> None:
    sections = (Section(title, notes=(note, other)), Section("Launch", ("a figure",)), Section("", notes=(other,)))
    shown = RENDERED.parse(as_markdown(Story(f"`name` takes **3 ms**: {lead}", sections)))
    every = list(tokens(shown))
    assert {token.type for token in every} <= ALLOWED
    fences = [token.content for token in every if token.type == "fence"]
    assert fences == ["a figure\n"]


@given(texts)
def test_what_is_escaped_reads_as_it_was_written(text: str) -> None:
    shown = list(tokens(RENDERED.parse(as_markdown(Story(f"`k`: {text}", ())))))
    read = "".join(token.content for token in shown if token.type in ("text", "text_special", "code_inline"))
    marks = re.compile(r"[`*_~\s\x00-\x1f\x7f-\x9f\ufffd]+")  # emphasis is harmless, and so is no control character
    assert marks.sub("", read) == marks.sub("", f"k: {text}")


@given(texts)
def test_a_client_without_markdown_sees_no_backslashes_of_ours(text: str) -> None:
    assert as_plain_text(Story("", (Section("T", notes=(text,)),))).count("\\") == text.count("\\")


@given(texts)
def test_no_message_has_a_link_that_runs_a_command(text: str) -> None:
    # As VS Code looks for them in notifications.
    assert not re.search(r"\[([^\]]+)\]\(((?:https?://|command:|file:)[^)\s]+)", message(text))


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


@given(texts, texts)
def test_nothing_in_a_report_becomes_markup(text: str, name: str) -> None:
    page = _Page()
    page.feed(document(tag("html", tag("p", prose(text), title=name, data_kernel=name), tag("code", name))))
    assert set(page.tags) <= {"html", "p", "code"}
    assert {key for key, _ in page.attributes} == {"title", "data-kernel"}


def test_a_report_may_load_and_run_nothing() -> None:
    assert "default-src 'none'" in POLICY
    assert "script-src" not in POLICY  # and so nothing
    assert not re.search(r"https?:|\*|unsafe-eval", POLICY)


def test_a_report_of_hostile_code_holds_it_as_text(run_report: Path) -> None:
    page = _Page()
    page.feed(run_report.read_text("utf-8"))
    assert not {"script", "img", "iframe", "object", "form", "link", "base"} & set(page.tags)
    links = [value for key, value in page.attributes if key in ("href", "src", "action")]
    assert all(value and value.startswith("#") for value in links)
    assert not [key for key, _ in page.attributes if key.startswith("on")]
    assert "evil" in page.text


class _Recorder(Progress):
    """What an editor would be told of work in progress."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.tokens = {}

    def begin(self, token: types.ProgressToken, value: types.WorkDoneProgressBegin) -> None:
        self.tokens[token] = Future()
        self.said.append(value.title)

    def report(self, token: types.ProgressToken, value: types.WorkDoneProgressReport) -> None:
        self.said.append(value.message or "")

    def end(self, token: types.ProgressToken, value: types.WorkDoneProgressEnd) -> None:
        self.said.append(value.message or "")


@pytest.mark.asyncio
async def test_a_file_that_is_named_like_a_command_is_measured_as_a_name() -> None:
    recorder = _Recorder()
    server: Any = SimpleNamespace(work_done_progress=recorder)
    hostile = "[measure](command:workbench.action.terminal.new).cl"
    bar = await ProgressBar.begin(server, f"Measuring {hostile}", "token")
    bar.report(0.5, f"building {hostile}")
    bar.end(f"{hostile}: 3 ms")
    assert len(recorder.said) == 3
    assert not [said for said in recorder.said if "](" in said]
