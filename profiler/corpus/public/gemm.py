"""C = alpha A B + beta C by tiles, stored as `a[k][m]`, `b[k][n]` and `c[n][m]`.

A work-group computes MWG x NWG with MDIMC x NDIMC work-items, KWG of the inner dimension at a time. A and C are read
in vectors of VWM, B in vectors of VWN. With SA (SB) the tile of A (B) goes through local memory, loaded by the group
as MDIMA (NDIMB) columns of work-items. STRM (STRN) sets the vectors of one work-item a group apart, else side by side.
"""

from __future__ import annotations

from model.launch.launch import Launch
from model.opencl.options import BuildOptions
from profiler.corpus.public.row import PublicLaunch, PublicRow

SIDE = 4096
MACROS = (
    "MWG", "NWG", "KWG", "MDIMC", "NDIMC", "MDIMA", "NDIMB", "KWI", "VWM", "VWN", "STRM", "STRN", "SA", "SB",
)  # fmt: skip
_SOURCE = """
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#if VWM == 1
typedef float rows_t;
#else
typedef JOIN(float, VWM) rows_t;
#endif
#if VWN == 1
typedef float columns_t;
#else
typedef JOIN(float, VWN) columns_t;
#endif
#define ITEMS (MDIMC * NDIMC)
#define ROWS (MWG / MDIMC / VWM)
#define COLUMNS (NWG / NDIMC / VWN)
#define GROUP_ROWS (MWG / VWM)
#define GROUP_COLUMNS (NWG / VWN)
#if STRM
#define ROW(i) (get_local_id(0) + (i) * MDIMC)
#else
#define ROW(i) (get_local_id(0) * ROWS + (i))
#endif
#if STRN
#define COLUMN(j) (get_local_id(1) + (j) * NDIMC)
#else
#define COLUMN(j) (get_local_id(1) * COLUMNS + (j))
#endif

__kernel __attribute__((reqd_work_group_size(MDIMC, NDIMC, 1)))
void gemm(const int m, const int n, const int k, const float alpha, const float beta,
          __global const rows_t *restrict a, __global const columns_t *restrict b, __global rows_t *restrict c) {
    const int row0 = get_group_id(0) * GROUP_ROWS, column0 = get_group_id(1) * GROUP_COLUMNS;
    const int item = get_local_id(1) * MDIMC + get_local_id(0);
#if SA
    __local rows_t a_tile[KWG][GROUP_ROWS];
#endif
#if SB
    __local columns_t b_tile[KWG][GROUP_COLUMNS];
#endif
    rows_t sum[COLUMNS * VWN][ROWS];
    #pragma unroll
    for (int j = 0; j < COLUMNS * VWN; ++j) {
        #pragma unroll
        for (int i = 0; i < ROWS; ++i) sum[j][i] = 0.0f;
    }
    for (int first = 0; first < k; first += KWG) {
#if SA
        for (int p = item / MDIMA; p < KWG; p += ITEMS / MDIMA) {
            for (int i = item % MDIMA; i < GROUP_ROWS; i += MDIMA) {
                a_tile[p][i] = a[(first + p) * (m / VWM) + row0 + i];
            }
        }
#endif
#if SB
        for (int p = item / NDIMB; p < KWG; p += ITEMS / NDIMB) {
            for (int j = item % NDIMB; j < GROUP_COLUMNS; j += NDIMB) {
                b_tile[p][j] = b[(first + p) * (n / VWN) + column0 + j];
            }
        }
#endif
#if SA || SB
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        for (int p0 = 0; p0 < KWG; p0 += KWI) {
            #pragma unroll
            for (int p1 = 0; p1 < KWI; ++p1) {
                const int p = p0 + p1;
                rows_t own_a[ROWS];
                #pragma unroll
                for (int i = 0; i < ROWS; ++i) {
#if SA
                    own_a[i] = a_tile[p][ROW(i)];
#else
                    own_a[i] = a[(first + p) * (m / VWM) + row0 + ROW(i)];
#endif
                }
                #pragma unroll
                for (int j = 0; j < COLUMNS; ++j) {
#if SB
                    const columns_t own_b = b_tile[p][COLUMN(j)];
#else
                    const columns_t own_b = b[(first + p) * (n / VWN) + column0 + COLUMN(j)];
#endif
                    #pragma unroll
                    for (int i = 0; i < ROWS; ++i) {
#if VWN == 1
                        sum[j][i] += own_a[i] * own_b;
#else
                        sum[j * VWN][i] += own_a[i] * own_b.s0;
                        sum[j * VWN + 1][i] += own_a[i] * own_b.s1;
#endif
#if VWN >= 4
                        sum[j * VWN + 2][i] += own_a[i] * own_b.s2;
                        sum[j * VWN + 3][i] += own_a[i] * own_b.s3;
#endif
#if VWN >= 8
                        sum[j * VWN + 4][i] += own_a[i] * own_b.s4;
                        sum[j * VWN + 5][i] += own_a[i] * own_b.s5;
                        sum[j * VWN + 6][i] += own_a[i] * own_b.s6;
                        sum[j * VWN + 7][i] += own_a[i] * own_b.s7;
#endif
                    }
                }
            }
        }
#if SA || SB
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    #pragma unroll
    for (int j = 0; j < COLUMNS; ++j) {
        #pragma unroll
        for (int v = 0; v < VWN; ++v) {
            #pragma unroll
            for (int i = 0; i < ROWS; ++i) {
                const int at = ((column0 + COLUMN(j)) * VWN + v) * (m / VWM) + row0 + ROW(i);
                c[at] = alpha * sum[j * VWN + v][i] + beta * c[at];
            }
        }
    }
}
"""


def gemm(row: PublicRow) -> PublicLaunch:
    return of_size(row, SIDE)


def of_size(row: PublicRow, side: int) -> PublicLaunch:
    """Of square matrices; `side` is a multiple of MWG, NWG and KWG."""
    known = dict(row.settings)
    number = {name: int(known[name]) for name in MACROS}
    launch = Launch(
        (side // number["MWG"] * number["MDIMC"], side // number["NWG"] * number["NDIMC"]),
        (number["MDIMC"], number["NDIMC"]),
        scalars=(("m", side), ("n", side), ("k", side), ("alpha", 1.0), ("beta", 0.5)),
        buffers=(
            ("a", side * side // number["VWM"]),
            ("b", side * side // number["VWN"]),
            ("c", side * side // number["VWM"]),
        ),
    )
    options = BuildOptions(tuple((name, known[name]) for name in MACROS))
    return PublicLaunch(_SOURCE, "gemm", options, launch)
