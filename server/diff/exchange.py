"""Changes in the formats that code hosts and build servers read: SARIF 2.1.0 and JUnit."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from model.version import VERSION
from server.cli.comparing import Verdict
from server.diff.changes import Change
from server.diff.listing import change_words, in_order, launch_words, sentence, verdict_words
from server.text.escaping import message, one_line
from server.text.format import shown_name

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ABOUT = {
    Verdict.SLOWER: "The kernel is likely slower than before",
    Verdict.FASTER: "The kernel is likely faster than before",
    Verdict.UNCLEAR: "The kernel changed, and its time does not clearly change",
    Verdict.NEW: "The kernel is new",
    Verdict.GONE: "The kernel is gone",
    Verdict.UNKNOWN: "The kernel changed, and its times cannot be compared",
}
_HELP = (
    "Kernelcast predicts OpenCL kernels before and after a change, under the same launch. "
    '`kernelcast diff --help` and the page "Changes under review" of its documentation say how.'
)
_PLACEHOLDER = re.compile(r"\{(?=\d+\})")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def sarif(changes: Sequence[Change], failed: Collection[Change]) -> dict[str, Any]:
    """Return a SARIF log with a result for each change; those that fail the check are errors.

    Kernels that are gone have no place in the new sources: their result names the file that they were in.
    """
    rules = [
        {
            "id": _rule(verdict),
            "name": "Kernel" + "".join(word.title() for word in str(verdict).split()),
            "shortDescription": {"text": text},
            "fullDescription": {"text": f"{text}."},
            "help": {"text": _HELP},
            "defaultConfiguration": {"level": "warning" if verdict is Verdict.SLOWER else "note"},
        }
        for verdict, text in _ABOUT.items()
    ]
    driver = {"name": "kernelcast", "semanticVersion": VERSION, "rules": rules}
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "utf16CodeUnits",
                "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The root of the repository"}}},
                "results": [_result(each, is_failed=each in failed) for each in in_order(changes)],
            }
        ],
    }


def _result(change: Change, *, is_failed: bool) -> dict[str, Any]:
    level = "error" if is_failed else "warning" if change.verdict is Verdict.SLOWER else "note"
    place = quote(change.at.file.encode("utf-8", "surrogateescape"), safe="/")
    words = " ".join(filter(None, (verdict_words(change), f"({launch_words(change)})" if change.launch else "")))
    device = f" on {shown_name(change.device.name)}" if change.device is not None else ""
    reason = change.reason if change.verdict is not Verdict.UNKNOWN else sentence(change)
    same = "\0".join((change.at.kernel, change.at.file, _device_id(change), launch_words(change)))
    result: dict[str, Any] = {
        "ruleId": _rule(change.verdict),
        "ruleIndex": list(_ABOUT).index(change.verdict),
        "level": level,
        "message": {"text": _message(f"{change.at.kernel}: {words}{device}: {reason}")},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": place, "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": change.at.line},
                },
                "logicalLocations": [{"name": change.at.kernel, "kind": "function"}],
            }
        ],
        "partialFingerprints": {"kernelcast/v1": hashlib.sha256(same.encode("utf-8", "replace")).hexdigest()[:32]},
    }
    if change.ratio is not None:
        ratio = change.ratio
        result["properties"] = {"ratio": {"p10": ratio.p10, "p50": ratio.p50, "p90": ratio.p90}}
    if change.is_accepted:
        result["suppressions"] = [{"kind": "external", "justification": "accepted in the baseline file"}]
    return result


def _message(text: str) -> str:
    """Return text without what SARIF takes for a link or for an argument: a file may have any name."""
    return _PLACEHOLDER.sub("{ ", message(one_line(_printable(text))))


def _rule(verdict: Verdict) -> str:
    return f"kernelcast/{str(verdict).replace(' ', '-')}"


def junit(changes: Sequence[Change], failed: Collection[Change]) -> str:
    """Return a JUnit report: a suite for each device, a test for each launch; what cannot be told is skipped."""
    by_device: dict[str, list[Change]] = defaultdict(list)
    for each in in_order(changes):
        by_device[_device_id(each)].append(each)
    root = ElementTree.Element("testsuites", name="kernelcast diff", tests=str(len(changes)), failures=str(len(failed)))
    for device, own in by_device.items():
        skipped = [each for each in own if each.verdict is Verdict.UNKNOWN and each not in failed]
        suite = ElementTree.SubElement(
            root, "testsuite", name=f"kernelcast diff {device}".strip(), tests=str(len(own)), errors="0",
            failures=str(sum(each in failed for each in own)), skipped=str(len(skipped)),
        )  # fmt: skip
        for each in own:
            launch = launch_words(each)
            name, file = f"{each.at.kernel} ({launch})" if launch else each.at.kernel, _printable(each.at.file)
            case = ElementTree.SubElement(
                suite, "testcase", name=_printable(name), classname=file, file=file, line=str(each.at.line),
            )  # fmt: skip
            said = _printable(f"{verdict_words(each)} {change_words(each)}".strip())
            if each in failed:
                ElementTree.SubElement(case, "failure", message=said).text = _printable(sentence(each))
            elif each in skipped:
                ElementTree.SubElement(case, "skipped", message=_printable(sentence(each)))
            else:
                ElementTree.SubElement(case, "system-out").text = _printable(f"{said}: {sentence(each)}")
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode")


def _device_id(change: Change) -> str:
    return change.device.id if change.device is not None else ""


def _printable(text: str) -> str:
    """Return text without what neither XML nor UTF-8 can hold."""
    return _NOT_XML.sub("\ufffd", text)
