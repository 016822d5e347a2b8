"""A process for one build: reads `{"text":, "options": [...]}`, prints the kernels and their arguments as JSON."""

from __future__ import annotations

import json
import os
import sys
import tempfile

# PoCL keeps what it builds; a thousand programs need not stay.
_CACHE = tempfile.TemporaryDirectory(prefix="kernelcast-pocl-")
os.environ["POCL_CACHE_DIR"] = _CACHE.name

import pyopencl as cl  # noqa: E402  # after PoCL was told where to keep things


def main() -> None:
    request = json.load(sys.stdin)
    platform = next(p for p in cl.get_platforms() if p.name == "Portable Computing Language")
    context = cl.Context(platform.get_devices()[:1])
    try:
        program = cl.Program(context, request["text"]).build(options=request["options"], cache_dir=False)
    except cl.RuntimeError as error:
        said = [line for line in str(error).splitlines() if "error:" in line] or str(error).splitlines()
        print(json.dumps({"kernels": {}, "error": said[0][:300] if said else "the build failed"}))
        return
    print(json.dumps({"kernels": {k.function_name: _arguments(k) for k in program.all_kernels()}, "error": ""}))


def _arguments(kernel: cl.Kernel) -> list[dict[str, object]]:
    info = cl.kernel_arg_info
    of_address, of_access = cl.kernel_arg_address_qualifier, cl.kernel_arg_access_qualifier
    of_type = cl.kernel_arg_type_qualifier
    return [
        {
            "name": kernel.get_arg_info(i, info.NAME),
            "type_name": kernel.get_arg_info(i, info.TYPE_NAME),
            "address": of_address.to_string(kernel.get_arg_info(i, info.ADDRESS_QUALIFIER)),
            "access": of_access.to_string(kernel.get_arg_info(i, info.ACCESS_QUALIFIER)),
            "qualifiers": [
                name
                for name in ("CONST", "RESTRICT", "VOLATILE")
                if kernel.get_arg_info(i, info.TYPE_QUALIFIER) & getattr(of_type, name)
            ],
        }
        for i in range(kernel.num_args)
    ]


if __name__ == "__main__":
    main()
