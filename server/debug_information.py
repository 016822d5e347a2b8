"""Collect what helps to find a fault as one Markdown text to paste, without the user's source. Blocks."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from model.device import Device
from profiler.devices import with_calibrations
from profiler.measurement import DeviceGone
from server.cli.diagnosis import Finding, Health, Profiles, examine
from server.log.timings import StageFacts

_TELLING_PREFIXES = ("OCL_", "POCL_", "OPENCL_", "KERNELCAST_", "CUDA_VISIBLE", "ROCR_VISIBLE", "LD_LIBRARY_PATH")

_SECRET = re.compile("TOKEN|SECRET|PASSWORD|KEY", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """Facts that only the running server knows."""

    client: str
    encoding: str
    folder: Path
    trust: str
    documents: int
    device: str  # that predictions are for
    chosen: str
    settings: Mapping[str, object]  # as JSON, by name
    found: tuple[Device, ...]
    no_devices_because: str
    timings: tuple[StageFacts, ...]


def debug_information(facts: ServerFacts) -> str:
    lines = [
        f"## Kernelcast {version('kernelcast')}",
        "",
        f"- Editor: {facts.client}; counts in {facts.encoding}",
        f"- System: {platform.platform()}, {platform.machine()}, {os.cpu_count()} cores",
        f"- Workspace: {facts.folder}, {facts.trust}; open documents: {facts.documents}",
        f"- Predictions are for: {facts.device}; chosen by command: {facts.chosen or 'none'}",
        "",
        "### What `kernelcast doctor` says",
        "",
        *_findings(facts),
        "",
        "### Settings",
        "",
        "```json",
        json.dumps(facts.settings, indent=2, ensure_ascii=False),
        "```",
        "",
        "### Timings",
        "",
        *_timings(facts.timings),
        "",
        "### Environment",
        "",
        *(_environment() or ["Nothing in it concerns OpenCL."]),
    ]
    return _without_home("\n".join(lines)) + "\n"


def _findings(facts: ServerFacts) -> list[str]:
    def known(profiles: Profiles) -> tuple[Device, ...]:
        if not facts.found:
            raise DeviceGone(facts.no_devices_because or "the drivers were asked and have not answered yet")
        return with_calibrations(facts.found, profiles.profiles())

    return [_line(finding) for finding in examine(facts.folder, known)]


def _line(finding: Finding) -> str:
    if not finding.subject:
        return f"  - {finding.text}"
    mark = "" if finding.health is Health.GOOD else f" ({finding.health})"
    mend = f" To fix it: {finding.mend}" if finding.mend and finding.health is Health.BROKEN else ""
    return f"- {finding.subject}{mark}: {finding.text}{mend}"


def _environment() -> list[str]:
    return [
        f"- `{name}={'(not told)' if _SECRET.search(name) else value}`"
        for name, value in sorted(os.environ.items())
        if name.startswith(_TELLING_PREFIXES)
    ]


def _timings(facts: tuple[StageFacts, ...]) -> list[str]:
    if not facts:
        return ["Nothing has been timed yet."]
    rows = [f"| {f.stage} | {f.count} | {f.p50_ms:.3g} | {f.p95_ms:.3g} | {f.max_ms:.3g} |" for f in facts]
    return ["| Stage | Times | p50 [ms] | p95 [ms] | max [ms] |", "| --- | --- | --- | --- | --- |", *rows]


def _without_home(text: str) -> str:
    """Replace the home folder's path, which often holds the user's name: this text is pasted in public."""
    home = str(Path.home())
    return text.replace(home, "~") if len(home) > 1 else text
