"""From OpenCL C to a target's assembly language: clang reads the text and optimises it with its functions linked in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from model.compile_targets import CompileTarget, Vendor
from model.opencl.options import BuildOptions
from profiler.measurement import MeasureError
from profiler.offline.diagnostics import Diagnostic, diagnostics_in, failure
from profiler.offline.library import SOURCES, built_part, parts_for, triple
from profiler.offline.tools import Tools, clang_command, run_tool

LIMIT_S = 60.0
_STAND_IN = "__clang_ocl_kern_imp_"  # clang keeps a kernel's body in a function of this name
_KERNEL = re.compile(r"^define .*?(?:ptx_kernel|amdgpu_kernel) .*?@(?P<name>[\w.$]+|\"[^\"]+\")\(", re.MULTILINE)
_DEFINITION = re.compile(rf"^define .*@{_STAND_IN}.*? #(?P<group>\d+)", re.MULTILINE)
# Options of `clBuildProgram` that clang's compiler proper knows. Vendors' own are left out.
_FLAGS = re.compile(
    r"-cl-(?:std=\S+|single-precision-constant|opt-disable|strict-aliasing|mad-enable|no-signed-zeros"
    r"|unsafe-math-optimizations|finite-math-only|fast-relaxed-math|fp32-correctly-rounded-divide-sqrt"
    r"|uniform-work-group-size)$|-[UW]\w\S*$|-w$"
)
# Errors of clang 16 and later that drivers only warn of.
_LENIENT = ("-Wno-error=incompatible-pointer-types", "-Wno-error=int-conversion")
_PRECISE = "-cl-fp32-correctly-rounded-divide-sqrt"
_NVIDIAS_EXTENSIONS = (
    "cl_khr_fp64", "cl_khr_byte_addressable_store", "cl_khr_global_int32_base_atomics",
    "cl_khr_global_int32_extended_atomics", "cl_khr_local_int32_base_atomics", "cl_khr_local_int32_extended_atomics",
    "cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics", "cl_khr_3d_image_writes",
)  # fmt: skip
_NVIDIAS_FEATURES = (  # of OpenCL C 3.0 alone
    "__opencl_c_fp64", "__opencl_c_3d_image_writes", "__opencl_c_images", "__opencl_c_generic_address_space",
    "__opencl_c_program_scope_global_variables", "__opencl_c_read_write_images",
)  # fmt: skip

_PLAIN_SAMPLES = ("gfx90a",)  # image instructions without levels of detail; source: LLVM, `AMDGPU.td`
# What AMD's back end calls where a program prints: room in the buffer of hidden argument 72, which the host prints.
_PRINTF_BUFFER = """
declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
define weak hidden ptr addrspace(1) @__printf_alloc(i32 %bytes) alwaysinline nounwind {
  %hidden = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %place = getelementptr i8, ptr addrspace(4) %hidden, i64 72
  %buffer = load ptr addrspace(1), ptr addrspace(4) %place, align 8
  %begin = atomicrmw add ptr addrspace(1) %buffer, i32 %bytes syncscope("agent") monotonic, align 4
  %sizes = getelementptr i8, ptr addrspace(1) %buffer, i64 4
  %size = load i32, ptr addrspace(1) %sizes, align 4
  %end = add i32 %begin, %bytes
  %fits = icmp ule i32 %end, %size
  %wide = zext i32 %begin to i64
  %start = getelementptr i8, ptr addrspace(1) %buffer, i64 8
  %room = getelementptr i8, ptr addrspace(1) %start, i64 %wide
  %found = select i1 %fits, ptr addrspace(1) %room, ptr addrspace(1) null
  ret ptr addrspace(1) %found
}
"""


class UnknownFunctions(MeasureError):
    """The program calls functions that no part of it defines and OpenCL C's library here does not have."""

    code = "unknown_function"


@dataclass(frozen=True, slots=True)
class Text:
    """A program as `clBuildProgram` gets it; `path` is where it lies, or would."""

    source: str
    path: str | None
    options: BuildOptions

    @property
    def name(self) -> str:
        return Path(self.path).name if self.path else "kernel.cl"

    @property
    def folders(self) -> list[str]:
        return [*([str(Path(self.path).parent)] if self.path else []), *self.options.include_dirs]

    @property
    def with_definitions(self) -> str:
        """The text with its `-D` options as lines before it; messages name the user's own file and lines."""
        defines = "".join(f"#define {_one_line(f'{key} {value}')}\n" for key, value in self.options.every_define)
        quoted = self.name.replace("\\", "\\\\").replace('"', '\\"')
        return f'{defines}{self.options.forced_lines}#line 1 "{quoted}"\n{self.source}'


@dataclass(frozen=True, slots=True)
class Intermediate:
    """A text that was read: LLVM's intermediate code before any optimisation, its kernels, and clang's warnings."""

    code: bytes
    kernels: tuple[str, ...]
    warnings: tuple[Diagnostic, ...]


def read_text(text: Text, architecture: CompileTarget, tools: Tools) -> Intermediate:
    """Read and check the text. Raises DoesNotCompile, with every place that clang complains of, or TimedOut."""
    command = [
        *_for_target(architecture, tools), "-x", "cl", *_language(text, architecture), "-include",
        str(SOURCES / "base.h"), *(part for folder in text.folders for part in ("-I", folder)),
        "-O3", "-disable-llvm-passes", "-emit-llvm", "-debug-info-kind=line-directives-only", "-dwarf-version=2",
        "-fno-caret-diagnostics", "-", "-o", "-",
    ]  # fmt: skip
    status, output, messages = run_tool(command, text.with_definitions.encode("utf-8", "replace"), LIMIT_S)
    if status != 0:
        raise failure(messages, text.name, architecture.target, text.folders)
    code = output.decode("utf-8", "surrogateescape")
    if architecture.vendor is Vendor.AMD:
        plain = int(architecture.target in _PLAIN_SAMPLES)
        code += f"\n@kc_plain_samples = linkonce_odr hidden addrspace(4) constant i32 {plain}\n"
        code += _PRINTF_BUFFER if " @printf(" in code else ""
    kernels = tuple(match["name"].strip('"') for match in _KERNEL.finditer(code))
    return Intermediate(
        _merged(code).encode("utf-8", "surrogateescape"),
        kernels,
        diagnostics_in(messages, text.name, text.folders),
    )


def assembly(text: Text, read: Intermediate, architecture: CompileTarget, tools: Tools) -> str:
    """Return optimised assembly language of all kernels. Raises DoesNotCompile, UnknownFunctions or TimedOut."""
    library = [built_part(part, architecture.vendor, tools) for part in parts_for(read.code)]
    linked = [*library, *([tools.math_library] if tools.math_library else [])]
    command = [
        *_for_target(architecture, tools), "-x", "ir", "-O0" if "-cl-opt-disable" in text.options.flags else "-O3",
        *_optimisation(text, architecture), "-fno-dwarf-directory-asm", "-S",
        *(part for path in linked for part in ("-mlink-builtin-bitcode", str(path))), "-", "-o", "-",
    ]  # fmt: skip
    status, output, messages = run_tool(command, read.code, LIMIT_S)
    if status != 0:
        raise failure(messages, text.name, architecture.target, text.folders)
    return output.decode("utf-8", "replace")


def refuse_unknown(names: list[str], text: Text) -> None:
    """Raise UnknownFunctions if there are any."""
    if names:
        listed = ", ".join(f"`{name}`" for name in names)
        raise UnknownFunctions(
            f"{text.name} calls {listed}, which the program does not define and the offline library does not have"
        )


def _for_target(architecture: CompileTarget, tools: Tools) -> list[str]:
    features = ["-target-feature", f"+ptx{tools.ptx_version}"] if architecture.vendor is Vendor.NVIDIA else []
    return [
        *clang_command(tools), "-triple", triple(architecture.vendor), "-target-cpu", architecture.target, *features,
    ]  # fmt: skip


def _language(text: Text, architecture: CompileTarget) -> list[str]:
    """OpenCL C 1.2 where the text asks for nothing else, as `clBuildProgram` does."""
    flags = [flag for flag in text.options.flags if _FLAGS.match(flag)]
    if not any(flag.startswith("-cl-std=") for flag in flags):
        flags.append("-cl-std=CL1.2")
    if architecture.vendor is Vendor.NVIDIA:
        is_third = any(flag.lower().startswith("-cl-std=cl3") for flag in flags)
        known = (*_NVIDIAS_EXTENSIONS, *(_NVIDIAS_FEATURES if is_third else ()))
        flags += [f"-cl-ext={','.join(f'+{each}' for each in known)}", "-D__IMAGE_SUPPORT__=1"]
    return ["-fdeclare-opencl-builtins", *_LENIENT, *flags]


def _optimisation(text: Text, architecture: CompileTarget) -> list[str]:
    """Division and square root of floats are approximate unless asked otherwise, as NVIDIA's driver makes them."""
    if architecture.vendor is Vendor.AMD:
        return ["-vectorize-loops", "-vectorize-slp"]
    if _PRECISE in text.options.flags:
        return []
    return ["-mllvm", "-nvptx-prec-divf32=1", "-mllvm", "-nvptx-prec-sqrtf32=0"]


def _merged(code: str) -> str:
    """Let each kernel's body become part of the kernel again, which clang forbids for NVIDIA's targets."""
    groups = {match["group"] for match in _DEFINITION.finditer(code)}
    lines = []
    for line in code.split("\n"):
        if line.startswith("define ") and f"@{_STAND_IN}" in line:
            lines.append(line.replace("define dso_local", "define internal", 1))
        elif line.startswith("define available_externally "):  # `inline` of C99, which drivers take for `static inline`
            lines.append(line.replace("available_externally", "internal", 1))
        elif line.startswith("attributes #") and line[12:].partition(" ")[0] in groups:
            lines.append(line.replace(" noinline", "").replace(" optnone", ""))
        else:
            lines.append(line)
    return "\n".join(lines)


def _one_line(define: str) -> str:
    """Keep a define from starting a directive of its own."""
    return re.sub(r"[\r\n]+", " ", define).rstrip("\\")
