"""How wide a source may access memory through pointers that it casts: what alignment its buffers must have.

A pointer to float promises the alignment of a float, and no more; cast to one to float4, it must have that of a float4.
"""

from __future__ import annotations

import re
from pathlib import Path

from model.opencl.program import read_program
from profiler.measurement import MeasureRequest

# The most that OpenCL C's own types want, and the least that CL_DEVICE_MEM_BASE_ADDR_ALIGN may be (section 4.2).
WIDEST_BYTES = 128
_CAST = re.compile(
    r"(\w+)\s*(?:\b(?:const|volatile|restrict|__restrict)\b\s*)*\*[\s*]*(?:const|restrict|__restrict)?\s*\)"
)
_POINTER_TYPE = re.compile(r"\btypedef\b[^;{]*\*")  # casts to it show no asterisk
_HIDDEN = re.compile(rf"{_POINTER_TYPE.pattern}|\bvoid\s*\*|\*\s*##")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_WIDTHS = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "half": 2, "int": 4, "uint": 4, "float": 4, "unsigned": 4}
_WIDTHS |= {"long": 8, "ulong": 8, "double": 8, "size_t": 8, "bool": 1}
_BUILT_IN = re.compile(rf"({'|'.join(_WIDTHS)})(2|3|4|8|16)?")


def widest_cast_bytes(request: MeasureRequest) -> int:
    """Return the largest alignment that this kernel, or a function that it calls, needs for a pointer cast.

    1 if none is cast.
    """
    written = _COMMENT.sub(" ", request.source)
    if "include" not in written and _widest(written) == 1:
        return 1
    path = Path(request.path) if request.path else None
    program = read_program(request.source, path, request.launch.options)
    functions = program.rests_on.get(request.kernel.name, ())
    if not functions or any(function.has_errors for function in functions):
        return WIDEST_BYTES
    included = (data.decode("utf-8", "replace") for _, data in program.plan.opened if data is not None)
    if any(_POINTER_TYPE.search(text) for text in (written, *included)):
        return WIDEST_BYTES
    return max(_widest((function.node.text or b"").decode("utf-8", "replace")) for function in functions)


def _widest(text: str) -> int:
    if _HIDDEN.search(text):
        return WIDEST_BYTES
    return max((_width(match[1]) for match in _CAST.finditer(text)), default=1)


def _width(name: str) -> int:
    known = _BUILT_IN.fullmatch(name)
    if known is None:
        return WIDEST_BYTES
    lanes = int(known[2] or 1)
    return _WIDTHS[known[1]] * (4 if lanes == 3 else lanes)
