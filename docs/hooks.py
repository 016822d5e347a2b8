"""Hooks of MkDocs: generated reference pages, and the pages that live beside the code they describe.

Links in `pages/*.md` and in the included files point to files of the repository, so that they work in the Markdown
itself. On the site they become links between pages; a link to a file that is not on the site becomes its path.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from docs.reference import cli_page, json_page, settings_page  # noqa: E402
from docs.texts import texts_page  # noqa: E402

PAGES = PurePosixPath("docs/pages")
INCLUDED = {
    "model-card.md": PurePosixPath("model/weights/README.md"),
    "corpus-card.md": PurePosixPath("profiler/corpus/README.md"),
    "public-measurements.md": PurePosixPath("profiler/corpus/public/README.md"),
    "analytical-accuracy.md": PurePosixPath("tests/accuracy/README.md"),
    "counts.md": PurePosixPath("tests/oracles/README.md"),
    "packages.md": PurePosixPath("tests/packages/README.md"),
    "device-catalog.md": PurePosixPath("tests/catalog/README.md"),
    "performance.md": PurePosixPath("server/README.md"),
}
GENERATED = {"cli.md": cli_page, "settings.md": settings_page, "json.md": json_page, "texts.md": texts_page}
IMAGES = frozenset({".png", ".svg", ".gif"})

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|#|mailto:)([^)\s#]+)(#[^)\s]*)?\)")
_SOURCE = re.compile(r'(src|srcset)="(?!https?:)([^"]+)"')
_ON_SITE = {source: page for page, source in INCLUDED.items()}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated and the included pages, and every image of the repository that a page shows."""
    for name, make in GENERATED.items():
        files.append(File.generated(config, name, content=make()))
    for name, source in INCLUDED.items():
        files.append(File.generated(config, name, content=(REPOSITORY / source).read_text(encoding="utf-8")))
    shown = {image for file in files.documentation_pages() for image in _images(file.content_string, file.src_uri)}
    for image in sorted(shown):
        files.append(File.generated(config, f"images/{image}", abs_src_path=str(REPOSITORY / image)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Return the page with its links rewritten, see above."""
    folder = _folder(page.file.src_uri)

    def rewritten(match: re.Match[str]) -> str:
        mark, text, target, anchor = match[1], match[2], match[3], match[4] or ""
        found = _resolved(folder, target)
        if mark:
            return f"![{text}](images/{found})"
        if found in _ON_SITE:
            return f"[{text}]({_ON_SITE[found]}{anchor})"
        if found == PurePosixPath("README.md"):
            return f"[{text}](index.md)"
        if found.is_relative_to(PAGES):
            return f"[{text}]({found.relative_to(PAGES)}{anchor})"
        if not (REPOSITORY / found).exists():
            raise ValueError(f"{page.file.src_uri}: {target} is not in the repository")
        return text if text.strip("`") == str(found) else f"{text} (`{found}`)"

    shown = _SOURCE.sub(lambda m: f'{m[1]}="images/{_resolved(folder, m[2])}"', markdown)
    return _LINK.sub(rewritten, shown)


def _folder(page: str) -> PurePosixPath:
    """Return the folder that a page's links are relative to."""
    return INCLUDED[page].parent if page in INCLUDED else PAGES


def _images(markdown: str, page: str) -> set[PurePosixPath]:
    named = [m[3] for m in _LINK.finditer(markdown) if m[1]] + [m[2] for m in _SOURCE.finditer(markdown)]
    return {_resolved(_folder(page), each) for each in named if PurePosixPath(each).suffix in IMAGES}


def _resolved(folder: PurePosixPath, target: str) -> PurePosixPath:
    """Return the path in the repository of a link in a file of `folder`."""
    parts: list[str] = list(folder.parts)
    for part in PurePosixPath(target).parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return PurePosixPath(*parts)
