"""The table of origins names what anyone can fetch again, under licences that allow it, and nothing of the exam."""

from __future__ import annotations

import re

from profiler.corpus.origins.decontamination import is_exam_path
from profiler.corpus.origins.licences import has_strict_head
from profiler.corpus.origins.origin import OriginKind, read_origins

ORIGINS = read_origins()
PERMISSIVE = frozenset(["Apache-2.0", "BSL-1.0", "CC0-1.0", "CC-BY", "Unlicense", "NCSA", "ISC", "MIT", "Zlib", "BSD"])


def test_every_repository_is_pinned_to_a_commit_and_permissive() -> None:
    for origin in ORIGINS:
        if origin.kind is OriginKind.REPOSITORY:
            assert re.fullmatch(r"[0-9a-f]{40}", origin.version), origin.name
            assert origin.place == f"https://github.com/{origin.name}.git"
            assert origin.licence in PERMISSIVE, origin.name


def test_names_are_unique_and_none_is_of_the_exam() -> None:
    names = [origin.name for origin in ORIGINS]
    assert len(names) == len({name.lower() for name in names})
    assert len({origin.folder_name for origin in ORIGINS}) == len(names)
    assert not [name for name in names if is_exam_path(name)]


def test_a_file_whose_head_states_a_strict_licence_is_known() -> None:
    assert has_strict_head("// SPDX-License-Identifier: LGPL-3.0\n")
    assert not has_strict_head("// SPDX-License-Identifier: Apache-2.0\n")
