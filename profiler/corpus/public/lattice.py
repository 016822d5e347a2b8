"""One time step of a lattice-Boltzmann method: D3Q19, one relaxation time, streaming in place, one cell a work-item.

A cell's nineteen densities are read, relaxed towards equilibrium and written back to the places that they came from,
with opposite directions exchanged, so that one array is enough: M. Lehmann, "Esoteric Pull and Esoteric Push",
Computation 10(6), 2022. Densities are stored less their value at rest, as 32-bit floats or in one of two formats of 16
bits: `fp16s`, IEEE halves of 2^15 times the value, and `fp16c`, 4 bits of exponent and 11 of mantissa, converted by
integer operations: M. Lehmann et al., Physical Review E 106, 015308, 2022. With the flag of the cell that is 153 or 77
bytes a cell.
"""

from __future__ import annotations

from model.launch.launch import Fill, Launch
from model.opencl.options import BuildOptions
from profiler.corpus.public.row import PublicLaunch, PublicRow

SIDE = 256  # of the cube
GROUP = 64  # assumed: no source read for this project states it
DIRECTIONS = 19
STORAGES = ("fp32", "fp16s", "fp16c")

_STORED = {
    "fp32": """
typedef float stored_t;
float load_density(__global const stored_t *f, const size_t at) { return f[at]; }
void store_density(const float value, __global stored_t *f, const size_t at) { f[at] = value; }
""",
    "fp16s": """
typedef half stored_t;
float load_density(__global const stored_t *f, const size_t at) { return vload_half(at, f) * 0x1p-15f; }
void store_density(const float value, __global stored_t *f, const size_t at) { vstore_half(value * 0x1p15f, at, f); }
""",
    "fp16c": """
typedef ushort stored_t;
float load_density(__global const stored_t *f, const size_t at) {
    const uint bits = f[at], sign = (bits & 0x8000u) << 16;
    const uint exponent = (bits >> 11) & 15u, mantissa = (bits & 0x7FFu) << 12;
    const uint leading = as_uint((float)mantissa) >> 23;  // tells how far a denormal is shifted
    const uint normal = ((exponent + 112u) << 23) | mantissa;
    const uint denormal = ((leading - 37u) << 23) | ((mantissa << (150u - leading)) & 0x007FF000u);
    return as_float(sign | (exponent ? normal : mantissa ? denormal : 0u));
}
void store_density(const float value, __global stored_t *f, const size_t at) {
    const uint bits = as_uint(value) + 0x800u;  // rounds to the nearest
    const uint exponent = (bits >> 23) & 255u, mantissa = bits & 0x7FFFFFu;
    const uint normal = (((exponent - 112u) << 11) & 0x7800u) | (mantissa >> 12);
    const uint denormal = (((0x7FF800u + mantissa) >> (124u - exponent)) + 1u) >> 1;
    const uint size = exponent > 127u ? 0x7FFFu : exponent > 112u ? normal : exponent > 100u ? denormal : 0u;
    f[at] = (ushort)(((bits >> 16) & 0x8000u) | size);
}
""",
}
_SOURCE = """
#define CELLS (SIDE * SIDE * SIDE)
#define AT(direction, cell) ((size_t)(direction) * CELLS + (cell))

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void stream_collide(__global stored_t *f, __global const uchar *restrict flags, const uint step, const float rate) {
    const uint cell = get_global_id(0);
    if (cell >= CELLS) return;
    if (flags[cell]) return;
    const uint x = cell % SIDE, y = (cell / SIDE) % SIDE, z = cell / (SIDE * SIDE);
    const uint x_next = (x + 1) % SIDE, x_last = (x + SIDE - 1) % SIDE;
    const uint y0 = y * SIDE, y_next = (y + 1) % SIDE * SIDE, y_last = (y + SIDE - 1) % SIDE * SIDE;
    const uint z0 = z * SIDE * SIDE;
    const uint z_next = (z + 1) % SIDE * SIDE * SIDE, z_last = (z + SIDE - 1) % SIDE * SIDE * SIDE;
    // The neighbour in the first direction of each pair of opposite directions.
    const uint neighbour[9] = {
        x_next + y0 + z0, x + y_next + z0, x + y0 + z_next,
        x_next + y_next + z0, x_next + y0 + z_next, x + y_next + z_next,
        x_next + y_last + z0, x_next + y0 + z_last, x + y_next + z_last,
    };
    const uint odd = step & 1u;
    float d[19];
    d[0] = load_density(f, AT(0, cell));
    #pragma unroll
    for (uint i = 0; i < 9; ++i) {
        d[2 * i + 1] = load_density(f, AT(odd ? 2 * i + 1 : 2 * i + 2, cell));
        d[2 * i + 2] = load_density(f, AT(odd ? 2 * i + 2 : 2 * i + 1, neighbour[i]));
    }
    float density = 1.0f + d[0];
    #pragma unroll
    for (uint i = 1; i < 19; ++i) density += d[i];
    const float ux = (d[1] - d[2] + d[7] - d[8] + d[9] - d[10] + d[13] - d[14] + d[15] - d[16]) / density;
    const float uy = (d[3] - d[4] + d[7] - d[8] + d[11] - d[12] + d[14] - d[13] + d[17] - d[18]) / density;
    const float uz = (d[5] - d[6] + d[9] - d[10] + d[11] - d[12] + d[16] - d[15] + d[18] - d[17]) / density;
    const float still = 1.0f - 1.5f * (ux * ux + uy * uy + uz * uz);
    const float along[9] = {ux, uy, uz, ux + uy, ux + uz, uy + uz, ux - uy, ux - uz, uy - uz};
    d[0] += rate * ((1.0f / 3.0f) * (density * still - 1.0f) - d[0]);
    #pragma unroll
    for (uint i = 0; i < 9; ++i) {
        const float weight = i < 3 ? 1.0f / 18.0f : 1.0f / 36.0f;
        const float even = density * (still + 4.5f * along[i] * along[i]) - 1.0f, odd_part = 3.0f * density * along[i];
        d[2 * i + 1] += rate * (weight * (even + odd_part) - d[2 * i + 1]);
        d[2 * i + 2] += rate * (weight * (even - odd_part) - d[2 * i + 2]);
    }
    store_density(d[0], f, AT(0, cell));
    #pragma unroll
    for (uint i = 0; i < 9; ++i) {
        store_density(d[2 * i + 1], f, AT(odd ? 2 * i + 2 : 2 * i + 1, neighbour[i]));
        store_density(d[2 * i + 2], f, AT(odd ? 2 * i + 1 : 2 * i + 2, cell));
    }
}
"""


def lattice(row: PublicRow) -> PublicLaunch:
    """Return the launch of a row of the lattice-Boltzmann kernels.

    `settings` name the `storage` of the densities and the `side` of the cube in cells.
    """
    known = dict(row.settings)
    return of_size(known["storage"], int(known["side"]))


def of_size(storage: str, side: int) -> PublicLaunch:
    """Return the launch for one storage and size. Raises KeyError for a storage that is not known."""
    cells = side**3
    launch = Launch(
        (-(-cells // GROUP) * GROUP,),
        (GROUP,),
        scalars=(("step", 1), ("rate", 1.0)),
        buffers=(("f", DIRECTIONS * cells), ("flags", cells)),
        fills=(("flags", Fill("zeros")),),
    )
    options = BuildOptions((("SIDE", f"{side}u"), ("GROUP", str(GROUP))))
    return PublicLaunch(_STORED[storage] + _SOURCE, "stream_collide", options, launch)
