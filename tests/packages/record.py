"""Write down the programs of four packages as their own hosts build them, for `kernelcast dataset fetch`.

`.venv/bin/python -m tests.packages.record DIR`, with the folder that `dataset fetch --folder DIR` is to use. What a
host does (macros, files put together) cannot be seen in OpenCL C alone; without this step the generic search takes
what it finds in the files.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from profiler.corpus.origins.includes import with_includes
from profiler.corpus.origins.origin import Origin, read_origins
from profiler.corpus.origins.pruning import pruned
from tests.oracles.compiler.programs import PACKAGES, Source
from tests.real_packages import unpacked

# Package as the tests name it: its origin in the corpus, what is downloaded, and every which program is taken.
HOSTS = {
    "silx": ("silx", "silx==3.1.3", 1),
    "pyclesperanto": ("pyclesperanto-prototype", "pyclesperanto-prototype==0.24.6", 1),
    "darktable": ("darktable", "darktable=4.2.1-4", 1),
    "hashcat": ("hashcat-data", "hashcat-data=6.2.6+ds1-1", 6),
}
LONG, TOO_LONG = 390_000, 590_000  # characters with all includes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("packages", nargs="*", default=list(HOSTS), metavar="PACKAGE")
    options = parser.parse_args()
    origins = {origin.name: origin for origin in read_origins()}
    for package in options.packages:
        name, requirement, every = HOSTS[package]
        count = record(options.folder, origins[name], unpacked(requirement), list(PACKAGES[package]())[::every])
        print(f"{name}: {count} programs", file=sys.stderr)
    return 0


def record(folder: Path, origin: Origin, root: Path, programs: list[Source]) -> int:
    """How many programs were written into `folder`, whole or not at all."""
    goal = folder / "programs" / f"{origin.folder_name}.jsonl"
    goal.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(program) for program in _programs(root, programs)]
    part = goal.with_suffix(".part")
    part.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    part.rename(goal)
    return len(lines)


def _programs(root: Path, programs: list[Source]) -> Iterator[dict[str, object]]:
    files = {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*")) if path.is_file()}
    by_name: dict[str, list[str]] = defaultdict(list)
    for name in files:
        by_name[name.rpartition("/")[2]].append(name)
    for program in programs:
        place = program.path.relative_to(root).as_posix()
        text = with_includes(program.text, place, files, by_name)
        if len(text) > LONG:
            text = pruned(text)
        if len(text) <= TOO_LONG:
            yield {
                "reference": f"{place} {program.name}".strip(),
                "text": text,
                "defines": list(program.options.defines),
                "flags": [flag for flag in program.options.flags if not flag.startswith("-cl-std")],
            }


if __name__ == "__main__":
    sys.exit(main())
