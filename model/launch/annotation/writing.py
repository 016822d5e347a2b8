"""Writes a launch out as an annotation that reads back as the same launch."""

from __future__ import annotations

import re

from model.launch.annotation.names import image_sizes
from model.launch.fill import written_fill
from model.launch.fill_target import buffer_of
from model.launch.launch import Launch
from model.opencl.kernel import Kernel, ParameterKind
from model.opencl.options import BuildOptions


def write_annotation(launch: Launch, kernel: Kernel) -> str:
    """Return one comment line, without indentation or line end: `// kernelcast: global=(512, 512) n=512 A=262144`."""
    order = {parameter.name: i for i, parameter in enumerate(kernel.parameters)}

    def in_order(name: str) -> int:
        return order.get(buffer_of(name), len(order))

    values = {name: repr(value) for name, value in (*launch.scalars, *launch.buffers, *launch.local_bytes)}
    for name, sizes in launch.images:
        parameter = kernel.parameter(name)
        is_image = parameter is not None and parameter.kind is ParameterKind.IMAGE
        values[name] = _sizes(sizes[: image_sizes(parameter)] if parameter is not None and is_image else sizes)
    fills = sorted(launch.fills, key=lambda named: in_order(named[0]))
    words = [
        f"global={_sizes(launch.global_size)}",
        f"local={_sizes(launch.local_size) if launch.local_size else 'auto'}",
        *(f"{name}={values[name]}" for name in sorted(values, key=in_order)),
        *(f"fill.{name}={written_fill(name, fill)}" for name, fill in fills),
        *_options(launch.options),
    ]
    if launch.name:
        words.append(f"name={_quoted_name(launch.name)}")
    return f"// kernelcast: {' '.join(words)}"


def _sizes(sizes: tuple[int, ...]) -> str:
    return str(sizes[0]) if len(sizes) == 1 else f"({', '.join(map(str, sizes))})"


def _options(options: BuildOptions) -> list[str]:
    return [
        *(f"-D{name}={_escaped(value)}" for name, value in options.defines),
        *(f"-I{_escaped(folder)}" for folder in options.include_dirs),
        *options.flags,
    ]


def _escaped(word: str) -> str:
    """As the reader of annotations takes it apart: a space, a quote or a backslash stands behind a backslash."""
    return re.sub(r"""([\s"'\\])""", r"\\\1", re.sub(r"\s+", " ", word))


def _quoted_name(name: str) -> str:
    if re.fullmatch(r"""[^\s"'=]+""", name):
        return name
    quote = "'" if '"' in name else '"'
    plain = re.sub(r"\s+", " ", name).replace(quote, "")
    return f"{quote}{plain}{quote}"
