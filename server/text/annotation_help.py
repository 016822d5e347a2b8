"""What each word of a launch annotation means: for completion, for hovers, and for the schema of `kernelcast.toml`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.opencl.kernel import ParameterKind

if TYPE_CHECKING:
    from model.opencl.kernel import Parameter

KEYS = {
    "global": "Global size: the work-items in each dimension, such as `global=1024` or `global=(W, H)`.",
    "local": "Local size: the work-items of a work-group in each dimension, such as `local=(16, 16)`; with "
    "`local=auto` the driver chooses.",
    "name": "Name of this launch, which tells several launches of one kernel apart.",
    "fill": "Contents of a buffer, such as `fill.col=randint:0:n`: say it where data decide how much work there is.",
    "tune": "Values that tuning tries for a macro, an argument or `local`, such as `tune.TILE=8,16,32`.",
    "where": "Condition that tuning keeps to, such as `where TILE*TILE<=256`.",
    "-D": "Macro that the kernel is built with, such as `-DTILE=16`.",
    "-I": "Folder in which `#include` looks for headers.",
}
FILLS = {
    "random": "random bits",
    "zeros": "zeros",
    "iota": "0, 1, 2, ...: each element holds its own index",
    "perm": "a permutation: each index once, in random order",
    "const": "the same value everywhere: `const:V`",
    "uniform": "uniform numbers: `uniform:LO:HI`",
    "randint": "uniform integers from LO, below HI: `randint:LO:HI`",
    "csr_rows": "row pointers to rows of random lengths, NNZ entries in all; SKEW from 0 (equal) to 2 (uneven): "
    "`csr_rows:NNZ[:SKEW]`",
    "csr_lengths": "the lengths of such rows: `csr_lengths:NNZ[:SKEW]`",
    "sorted": "ascending values: `sorted:LO:HI`",
    "clustered": "neighbours are within RUN of each other: `clustered:LO:HI:RUN`",
    "skewed": "low values are much more frequent: `skewed:LO:HI`",
    "mask": "1 in this share of the elements, else 0: `mask:SHARE`",
    "choice": "a few values with weights: `choice:V@W,...`",
}
_PARAMETERS = {
    ParameterKind.BUFFER: "Length of this buffer, in elements.",
    ParameterKind.LOCAL: "Size of this local buffer, in bytes.",
    ParameterKind.SCALAR: "Value of this argument; other values may use it, as in `global=N N=1024`.",
    ParameterKind.STRUCT: "Struct: give the value of each member, as in `p.count=64`.",
    ParameterKind.IMAGE: "Size of this image: (width, height), or (width, height, depth).",
    ParameterKind.SAMPLER: "Sampler: it needs no value.",
    ParameterKind.OTHER: "Kernelcast cannot launch kernels with arguments of this type.",
}


def key_help(key: str) -> str | None:
    """Return what a key says that is no parameter's name: `global`, `fill.col`, `-DTILE`."""
    return next((text for known, text in KEYS.items() if key.partition(".")[0] == known or key[:2] == known), None)


def parameter_help(parameter: Parameter) -> str:
    return _PARAMETERS[parameter.kind]
