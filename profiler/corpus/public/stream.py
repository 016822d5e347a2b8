"""The five kernels of BabelStream over arrays of doubles: copy, multiply, add, triad and dot, one element a work-item.

Written from what its documentation says that each does: two or three arrays, read and written once; `dot` multiplies
two arrays and adds up in local memory, a few elements a work-item, one partial sum a work-group.
"""

from __future__ import annotations

from model.launch.launch import Launch
from model.opencl.options import BuildOptions
from profiler.corpus.public.row import PublicLaunch, PublicRow

# By operation: the statement, the arrays read, the array written, and whether it multiplies by the number `s`.
OPERATIONS = {
    "copy": ("c[i] = a[i];", "a", "c", False),
    "mul": ("b[i] = s * c[i];", "c", "b", True),
    "add": ("c[i] = a[i] + b[i];", "ab", "c", False),
    "triad": ("a[i] = b[i] + s * c[i];", "bc", "a", True),
}
DOT = "dot"
DOUBLE_BYTES = 8

_MAP = """
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void stream({parameters}) {{
    const size_t i = get_global_id(0);
    {statement}
}}
"""
_DOT = """
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void stream(__global const double *restrict a, __global const double *restrict b,
                     __global double *restrict sums, __local double *restrict own, const int n) {
    const int lane = get_local_id(0);
    double sum = 0.0;
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) sum += a[i] * b[i];
    own[lane] = sum;
    for (int half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_size) own[lane] += own[lane + half_size];
    }
    if (lane == 0) sums[get_group_id(0)] = own[0];
}
"""


def stream(row: PublicRow) -> PublicLaunch:
    """Return the launch of a row of a stream benchmark.

    `settings` name the operation and the `doubles` of an array. `choices` hold the work-group where it was given (else
    the driver chose), for `dot` the number of `groups` as well.
    """
    known, chosen = dict(row.settings), dict(row.choices)
    operation, doubles = known["operation"], int(known["doubles"])
    group = int(chosen["group"]) if "group" in chosen else None
    if operation == DOT:
        return _dot(doubles, int(chosen["groups"]), group or 1)
    statement, read, written, has_factor = OPERATIONS[operation]
    parameters = [f"__global const double *restrict {name}" for name in read]
    parameters.append(f"__global double *restrict {written}")
    parameters += ["const double s"] if has_factor else []
    launch = Launch(
        (doubles,),
        None if group is None else (group,),
        scalars=(("s", 0.4),) if has_factor else (),
        buffers=tuple((name, doubles) for name in read + written),
    )
    text = _MAP.format(parameters=", ".join(parameters), statement=statement)
    return PublicLaunch(text, "stream", BuildOptions(), launch)


def arrays(operation: str) -> int:
    """Return how many arrays an operation reads or writes: what a bandwidth is stated for."""
    return 2 if operation == DOT else len(OPERATIONS[operation][1]) + 1


def _dot(doubles: int, groups: int, group: int) -> PublicLaunch:
    launch = Launch(
        (groups * group,),
        (group,),
        scalars=(("n", doubles),),
        buffers=(("a", doubles), ("b", doubles), ("sums", groups)),
        local_bytes=(("own", group * DOUBLE_BYTES),),
    )
    return PublicLaunch(_DOT, "stream", BuildOptions(), launch)
