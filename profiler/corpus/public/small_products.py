"""Many products of small matrices, C += A B', from a stack of triples: which A, which B, which C, as DBCSR runs them.

Written from how its tuning script describes the parameters, not from its kernel. A group takes `batch` (BS) triples one
after the other; a work-item computes `rows` x `columns` (BM x BN) elements of C and keeps them while triples name
the same C, then adds them to it by atomic operations. Matrices are stored by columns, B transposed.
As in its benchmark there are
sixteen triples for each C on average, sorted by C, and ten times as many As and Bs, drawn at random.

What the parameters beyond these choose (local memory or registers for A, B or C, unrolling, how the stack is read) is
left to the compiler: an error that no prediction from this text can avoid.
"""

from __future__ import annotations

from model.launch.launch import Fill, Launch
from model.opencl.options import BuildOptions
from profiler.corpus.public.row import PublicLaunch, PublicRow

RUN = 16  # triples with the same C; here exactly, in the benchmark on average
DRAWN = 10  # As and Bs for each C
_SOURCE = """
#define ACROSS ((N + COLUMNS - 1) / COLUMNS)
#define DOWN ((M + ROWS - 1) / ROWS)
#if M % ROWS
#define IN_ROWS(i) (row0 + (i) < M)
#else
#define IN_ROWS(i) 1
#endif
#if N % COLUMNS
#define IN_COLUMNS(j) (column0 + (j) < N)
#else
#define IN_COLUMNS(j) 1
#endif
#ifndef ADD  // else for devices without atomic additions of floats
#define ADD(place, value) \\
    atomic_fetch_add_explicit((volatile __global atomic_number_t *)(place), value, memory_order_relaxed, \\
                              memory_scope_device)
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void small_products(__global number_t *c, __global const number_t *restrict a, __global const number_t *restrict b,
                    __global const int *restrict stack, const int triples) {
    const int item = get_local_id(0);
    const int column0 = item % ACROSS * COLUMNS, row0 = item / ACROSS * ROWS;
    const int first = get_group_id(0) * BATCH;
    if (item >= ACROSS * DOWN) return;
    number_t sum[COLUMNS][ROWS];
    #pragma unroll
    for (int j = 0; j < COLUMNS; ++j) {
        #pragma unroll
        for (int i = 0; i < ROWS; ++i) sum[j][i] = 0;
    }
    for (int at = first; at < first + BATCH && at < triples; ++at) {
        __global const number_t *own_a = a + stack[3 * at], *own_b = b + stack[3 * at + 1];
        for (int p = 0; p < K; ++p) {
            #pragma unroll
            for (int j = 0; j < COLUMNS; ++j) {
                const number_t factor = IN_COLUMNS(j) ? own_b[p * N + column0 + j] : 0;
                #pragma unroll
                for (int i = 0; i < ROWS; ++i) {
                    if (IN_ROWS(i)) sum[j][i] += own_a[p * M + row0 + i] * factor;
                }
            }
        }
        if (at % RUN == RUN - 1 || at == first + BATCH - 1 || at == triples - 1) {
            __global number_t *own_c = c + stack[3 * at + 2];
            #pragma unroll
            for (int j = 0; j < COLUMNS; ++j) {
                #pragma unroll
                for (int i = 0; i < ROWS; ++i) {
                    if (IN_ROWS(i) && IN_COLUMNS(j)) ADD(own_c + (column0 + j) * M + row0 + i, sum[j][i]);
                    sum[j][i] = 0;
                }
            }
        }
    }
}
"""
_TYPES = {
    "float": "typedef float number_t;\ntypedef atomic_float atomic_number_t;\n",
    "double": "typedef double number_t;\ntypedef atomic_double atomic_number_t;\n",
}


def small_products(row: PublicRow) -> PublicLaunch:
    """Return the launch of a row of small matrix products; its settings name sides and batches."""
    known = dict(row.settings)
    m, n, k, batch, triples, group = (int(known[name]) for name in ("m", "n", "k", "batch", "triples", "group"))
    targets = max(1, triples // RUN)
    launch = Launch(
        (-(-triples // batch) * group,),
        (group,),
        scalars=(("triples", triples),),
        buffers=(
            ("c", m * n * targets),
            ("a", m * k * DRAWN * targets),
            ("b", k * n * DRAWN * targets),
            ("stack", 3 * triples),
        ),
        fills=(("stack", Fill("randint", (0, m * n * targets))),),
    )
    macros = {"M": m, "N": n, "K": k, "BATCH": batch, "ROWS": known["rows"], "COLUMNS": known["columns"]}
    options = tuple((name, str(value)) for name, value in {**macros, "GROUP": group, "RUN": RUN}.items())
    return PublicLaunch(
        _TYPES[known["type"]] + _SOURCE, "small_products", BuildOptions(options, (), ("-cl-std=CL3.0",)), launch
    )
