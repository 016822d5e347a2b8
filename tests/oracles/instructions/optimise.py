"""LLVM's own passes on what Oclgrind's compiler emits, by the LLVM that Oclgrind itself is linked with.

Left to itself Oclgrind compiles for size (-Oz), where loops keep their exit test in front, so that no load can be
hoisted out of them, and then splits each store of a vector that it sees being put together into a store of the
vector and one of each component (`Program::scalarizeAggregateStore`). Neither is what a driver's compiler does.
A program loaded as bitcode is executed as it is.
"""

from __future__ import annotations

import ctypes
import functools
import re
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_void_p, string_at
from pathlib import Path

from tests.oracles.instructions.task import Compiled


class CannotOptimise(Exception):
    """LLVM refused the module; its own words."""


def unoptimised(compiled: Compiled) -> tuple[str, ...]:
    """Build options for code on which no pass has run yet, but any may.

    With -O0 each function would be marked as one not to be optimised; and a float3 would be stored as a shuffled
    float4, which Oclgrind splits, too.
    """
    return f"-{compiled}", "-disable-llvm-passes", "-fpreserve-vec3-type"


def optimised(bitcode: bytes, compiled: Compiled) -> bytes:
    """The module after LLVM's standard passes without vectorisers, as `clang -cc1 -O3` (or -Oz) runs them.

    Call it once Oclgrind is loaded. Raises CannotOptimise.
    """
    llvm = _library()
    context = llvm.LLVMContextCreate()
    module = c_void_p()
    buffer = llvm.LLVMCreateMemoryBufferWithMemoryRangeCopy(bitcode, len(bitcode), b"program")
    if llvm.LLVMParseBitcodeInContext2(context, buffer, byref(module)):
        raise CannotOptimise("the compiler's bitcode cannot be read")
    options = llvm.LLVMCreatePassBuilderOptions()
    error = llvm.LLVMRunPasses(module, f"default<{compiled}>".encode(), None, options)
    if error:
        raise CannotOptimise(llvm.LLVMGetErrorMessage(error).decode())
    written = llvm.LLVMWriteBitcodeToMemoryBuffer(module)
    result = string_at(llvm.LLVMGetBufferStart(written), llvm.LLVMGetBufferSize(written))
    llvm.LLVMDisposeMemoryBuffer(written)
    llvm.LLVMDisposePassBuilderOptions(options)
    llvm.LLVMDisposeModule(module)
    llvm.LLVMContextDispose(context)
    return result


@functools.cache
def _library() -> ctypes.CDLL:
    mapped = re.search(r"\S*/libLLVM[^/\n]*\.so\S*", Path("/proc/self/maps").read_text("ascii"))
    if mapped is None:
        raise CannotOptimise("Oclgrind has no shared LLVM here")
    llvm = ctypes.CDLL(mapped[0])
    signatures = {
        "LLVMContextCreate": (c_void_p, []),
        "LLVMCreateMemoryBufferWithMemoryRangeCopy": (c_void_p, [c_char_p, c_size_t, c_char_p]),
        "LLVMParseBitcodeInContext2": (c_int, [c_void_p, c_void_p, POINTER(c_void_p)]),
        "LLVMCreatePassBuilderOptions": (c_void_p, []),
        "LLVMParseCommandLineOptions": (None, [c_int, POINTER(c_char_p), c_char_p]),
        "LLVMRunPasses": (c_void_p, [c_void_p, c_char_p, c_void_p, c_void_p]),
        "LLVMGetErrorMessage": (c_char_p, [c_void_p]),
        "LLVMWriteBitcodeToMemoryBuffer": (c_void_p, [c_void_p]),
        "LLVMGetBufferStart": (c_void_p, [c_void_p]),
        "LLVMGetBufferSize": (c_size_t, [c_void_p]),
        "LLVMDisposeMemoryBuffer": (None, [c_void_p]),
        "LLVMDisposePassBuilderOptions": (None, [c_void_p]),
        "LLVMDisposeModule": (None, [c_void_p]),
        "LLVMContextDispose": (None, [c_void_p]),
    }
    for name, (result, parameters) in signatures.items():
        function = getattr(llvm, name)
        function.restype, function.argtypes = result, parameters
    # The pass builder's own switches do not hold for a pipeline given by its name.
    switches = (b"oracle", b"-vectorize-slp=false", b"-vectorize-loops=false")
    llvm.LLVMParseCommandLineOptions(len(switches), (c_char_p * len(switches))(*switches), None)
    return llvm
