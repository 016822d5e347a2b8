"""The README's table: of each package how many kernels build, are measured, and why the others are not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.packages.measuring import NOTHING_TO_CHECK, Result

README = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
HEAD = (
    "| package | kernels that PoCL builds | measured | share | shown to stay within bounds | not measured "
    "| of these name what to annotate |\n"
    "| --- | ---: | ---: | ---: | ---: | --- | ---: |\n"
)


def document(results: Iterable[Result], *, is_whole: bool) -> None:
    """Print the table; write it into the README where it covers all packages."""
    text = table(results)
    print(text)
    if is_whole:
        old = README.read_text(encoding="utf-8")
        new = re.sub(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}\n\n{text}\n\n{END}", old, flags=re.DOTALL)
        README.write_text(new, encoding="utf-8")


def table(results: Iterable[Result]) -> str:
    """In Markdown. A kernel that several programs hold alike counts once."""
    packages: dict[str, dict[str, Result]] = {}
    for result in results:
        packages.setdefault(result.package, {}).setdefault(f"{result.kernel} {result.fingerprint}", result)
    return HEAD + "\n".join(_row(package, list(kernels.values())) for package, kernels in packages.items())


def _row(package: str, results: list[Result]) -> str:
    measured = [r for r in results if r.outcome == "measured"]
    shown = sum(r.checked not in ("", NOTHING_TO_CHECK) for r in measured)
    rest = [r for r in results if r.outcome != "measured"]
    reasons = Counter(r.outcome.replace("_", " ") for r in rest)
    why = ", ".join(f"{n} {outcome}" for outcome, n in reasons.most_common()) or "-"
    named = sum("// kernelcast:" in r.message for r in rest)
    share = 100 * len(measured) / max(1, len(results))
    return f"| {package} | {len(results)} | {len(measured)} | {share:.1f} % | {shown} | {why} | {named} |"
