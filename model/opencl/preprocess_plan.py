"""What the directives of a text decide: which runs of lines are read, in which order, and under which macros.

pcpp sees a skeleton of the file (see `directive_skeleton`). As long as an edit changes neither the skeleton nor the
included files, the plan stays.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path

from model.errors import SourceError
from model.opencl.directive_skeleton import MARKER, SourceFile
from model.opencl.directives import Reader, SourceNote, contents
from model.opencl.include_policy import Reach, can_be_read, headers_folder
from model.opencl.macros import Macro, MacroTable
from model.opencl.options import BuildOptions
from model.opencl.segments import bytewise
from model.safe_read import can_be_opened

# What compilers define by themselves (OpenCL C 3.0, section 6.13). Which extensions a device has is its own business:
# here they are those that nearly all desktop devices have, the embedded one included. `cl_khr_fp16` is not among them.
_PREDEFINED = {
    "__OPENCL_VERSION__": "300", "CL_VERSION_1_0": "100", "CL_VERSION_1_1": "110",
    "CL_VERSION_1_2": "120", "CL_VERSION_2_0": "200", "CL_VERSION_3_0": "300", "__IMAGE_SUPPORT__": "1",
    "__ENDIAN_LITTLE__": "1", "__kernel_exec(X,typen)": "__kernel", "cl_khr_fp64": "1",
    "__builtin_expect(value,likely)": "(value)", "__builtin_assume(condition)": "((void)0)",
    "cl_khr_byte_addressable_store": "1", "cl_khr_global_int32_base_atomics": "1",
    "cl_khr_global_int32_extended_atomics": "1", "cl_khr_local_int32_base_atomics": "1",
    "cl_khr_local_int32_extended_atomics": "1", "cl_khr_3d_image_writes": "1", "cl_khr_int64_base_atomics": "1",
    "cl_khr_int64_extended_atomics": "1",
}  # fmt: skip
# Optional features of OpenCL C 3.0: those of the embedded device. OpenCL C 2.0 has them all.
_FEATURES = ("atomic_order_acq_rel", "atomic_order_seq_cst", "atomic_scope_device", "images", "read_write_images")
_FEATURES_OF_2_0 = (
    "atomic_scope_all_devices", "device_enqueue", "generic_address_space", "pipes", "program_scope_global_variables",
    "work_group_collective_functions",
)  # fmt: skip
_STANDARD = "-cl-std=CL"
# Without `-cl-std` a compiler takes the highest OpenCL C 1.x that it knows (OpenCL 3.0, section 5.8.6.5).
_DEFAULT_VERSION = "120"


def predefined(flags: tuple[str, ...]) -> dict[str, str]:
    """Return the macros that compilers define by themselves under these build options."""
    asked = next((f.removeprefix(_STANDARD) for f in reversed(flags) if f.startswith(_STANDARD)), "")
    version = asked.replace(".", "") + "0" if re.fullmatch(r"\d\.\d", asked) else _DEFAULT_VERSION
    features = (*_FEATURES, *(_FEATURES_OF_2_0 if version == "200" else ())) if version >= "200" else ()
    return {
        **_PREDEFINED,
        "__OPENCL_C_VERSION__": version,
        **({"__FAST_RELAXED_MATH__": "1"} if "-cl-fast-relaxed-math" in flags else {}),
        **{f"__opencl_c_{feature}": "1" for feature in features},
    }


@lru_cache(64)
def _predefined_macros(flags: tuple[str, ...]) -> tuple[tuple[str, Macro], ...]:
    """Return them as they are read; reading them takes as long as a small file does."""
    reader = Reader([])
    for name, value in predefined(flags).items():
        reader.define(bytewise(f"{name} {value}"))
    names = (name.partition("(")[0] for name in predefined(flags))
    found = ((name, reader.history.at(name, reader.history.version)) for name in names)
    return tuple((name, macro) for name, macro in found if macro is not None)


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A run of segments that is read: those numbered [start, end) of file `file`, under the macros of `table`."""

    file: int
    start: int
    end: int
    table: MacroTable


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """`notes` name rows of the main file's skeleton instead of lines; `opened` is what includes were looked for in.

    `missing` are the includes, as they are written, that were found in none of these.
    """

    runs: tuple[Run, ...]
    notes: tuple[SourceNote, ...]
    files: tuple[SourceFile, ...]
    opened: tuple[tuple[str, bytes | None], ...]
    reach: Reach | None = None
    missing: tuple[str, ...] = ()

    @property
    def skeleton(self) -> str:
        return self.files[0].skeleton


def made(
    main: SourceFile, path: Path | None, options: BuildOptions, reach: Reach | None = None, before: Plan | None = None
) -> Plan:
    """Return the plan of a file.

    `before`, of an earlier text at the same place under the same options, may still be it.
    """
    if (
        before is not None
        and before.reach == reach
        and before.skeleton == main.skeleton
        and all(can_be_read(name, reach) for name, _ in before.opened)
        and all(contents(Path(name)) == data for name, data in before.opened)
    ):
        runs, files = _shifted(before, main), (main, *before.files[1:])
        return Plan(runs, before.notes, files, before.opened, reach, before.missing)
    return _read(main, path, options, reach)


def _shifted(before: Plan, main: SourceFile) -> tuple[Run, ...]:
    """Return the runs of an equal skeleton: the same ones, of what may be other segments."""
    if before.files[0].runs == main.runs:
        return before.runs
    now = dict(zip(before.files[0].runs, main.runs, strict=True))
    return tuple(Run(0, *now[run.start, run.end], run.table) if run.file == 0 else run for run in before.runs)


def _read(main: SourceFile, path: Path | None, options: BuildOptions, reach: Reach | None) -> Plan:
    files, runs = [main], []
    reader = Reader(files, reach)
    for name, macro in _predefined_macros(options.flags):
        reader.adopt(name, macro)
    for name, value in options.every_define:
        reader.define(bytewise(f"{name} {value}"))
    for folder in filter(can_be_opened, options.include_dirs):
        reader.add_path(folder)
    if (installed := headers_folder()) is not None:
        reader.add_path(installed)
    reader.temp_path = [str(path.parent)] if path else []
    table = MacroTable(reader.history, -1)
    forced = reader.parsegen(bytewise(options.forced_lines), main.name, main.name) if options.forced_includes else ()
    try:
        for token in chain(forced, reader.parsegen(main.skeleton, main.name, main.name)):
            if not token.value.startswith(MARKER):
                continue
            if table.version != reader.history.version:
                table = MacroTable(reader.history, reader.history.version)
            number, run = map(int, token.value[len(MARKER) :].split("_"))
            runs.append(Run(number, *files[number].runs[run], table))
    except SourceError as error:
        reader.notes.append(SourceNote(error.message, reader.include_row))
    except RecursionError:
        said = "macros or includes are nested too deeply; the rest of the file was not read"
        reader.notes.append(SourceNote(said, reader.include_row))
    notes, opened = tuple(dict.fromkeys(reader.notes)), tuple(reader.opened.items())
    return Plan(tuple(runs), notes, tuple(files), opened, reach, tuple(reader.missing))
