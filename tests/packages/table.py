"""The README's table: of each package how many kernels build, are measured, and why the others are not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path

from profiler.devices import discover, find_device
from tests.packages.measuring import NOTHING_TO_CHECK, Result
from tests.real_packages import DEBIAN, PYPI

README = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
HEAD = (
    "| package | kernels that PoCL builds | measured | share | shown to stay within bounds | store nothing "
    "| not measured | of these name what to annotate |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | --- | ---: |\n"
)


def document(results: Sequence[Result], device_id: str, *, is_whole: bool) -> None:
    """Print the table; write it into the README where it covers all packages."""
    device = find_device(discover(), device_id)
    versions = [r for r in (*PYPI, *DEBIAN) if r.startswith(tuple({result.package for result in results}))]
    where = f"{device.platform}: {device.name}, {device.compute_units} processors ({device.driver})"
    text = f"{date.today().isoformat()}, {where}; {', '.join(versions)}.\n\n{table(results)}"
    print(text)
    if is_whole:
        old = README.read_text(encoding="utf-8")
        new = re.sub(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}\n\n{text}\n\n{END}", old, flags=re.DOTALL)
        README.write_text(new, encoding="utf-8")


def table(results: Iterable[Result]) -> str:
    """In Markdown. A kernel that several programs hold alike counts once, as the worst that became of it."""
    packages: dict[str, dict[str, Result]] = {}
    for result in results:
        kernels = packages.setdefault(_row_of(result), {})
        key = f"{result.kernel} {result.fingerprint}"
        if key not in kernels or _rank(result) < _rank(kernels[key]):
            kernels[key] = result
    return HEAD + "\n".join(_row(package, list(kernels.values())) for package, kernels in packages.items())


def _row_of(result: Result) -> str:
    """pyclesperanto's programs have two flavours: arrays in buffers, and in images."""
    flavour = result.program.rpartition(" ")[2]
    return f"{result.package}, {flavour}" if flavour in ("buffers", "images") else result.package


def _rank(result: Result) -> tuple[bool, bool, float, str]:
    return result.outcome == "measured", bool(result.checked), result.stores, result.program


def _row(package: str, results: list[Result]) -> str:
    measured = [r for r in results if r.outcome == "measured"]
    shown = sum(r.checked not in ("", NOTHING_TO_CHECK) for r in measured)
    idle = sum(r.stores < 1 for r in measured)
    rest = [r for r in results if r.outcome != "measured"]
    reasons = Counter(r.outcome.replace("_", " ") for r in rest)
    why = ", ".join(f"{n} {outcome}" for outcome, n in reasons.most_common()) or "-"
    named = sum("// kernelcast:" in r.message for r in rest)
    share = 100 * len(measured) / max(1, len(results))
    return f"| {package} | {len(results)} | {len(measured)} | {share:.1f} % | {shown} | {idle} | {why} | {named} |"
