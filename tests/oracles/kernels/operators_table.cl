/* A small calculator for spreadsheets: an X-macro lists the operations, each becomes a function and a case. */

#define OPERATIONS(APPLY) \
    APPLY(add, a + b) \
    APPLY(less, a - b) \
    APPLY(times, a * b) \
    APPLY(over, b != 0.0f ? a / b : 0.0f) \
    APPLY(larger, fmax(a, b))

#define DEFINE(name, expression) \
    float do_##name(const float a, const float b) { return expression; }
OPERATIONS(DEFINE)

enum operation {
#define LIST(name, expression) OP_##name,
    OPERATIONS(LIST)
#undef LIST
    OP_COUNT
};

// kernelcast: global=ceil_div(cells,32)*32 local=32 cells=300 left=cells right=cells result=cells operation=2 name=s1
// kernelcast: global=ceil_div(cells,64)*64 local=64 cells=1000 left=cells right=cells result=cells operation=3 name=s2
// kernelcast: global=512 local=16 cells=510 left=cells right=cells result=cells operation=0 name=s3
// kernelcast: global=ceil_div(cells,64)*64 local=64 cells=1000000 left=cells right=cells result=cells operation=3 name=measure
__kernel void operators_table(__global const float *restrict left,
                              __global const float *restrict right,
                              __global float *restrict result,
                              const int cells,
                              const int operation)
{
    const int i = get_global_id(0);
    if (i >= cells)
        return;
    switch (operation) {
#define CASE(name, expression) \
    case OP_##name: \
        result[i] = do_##name(left[i], right[i]); \
        break;
        OPERATIONS(CASE)
#undef CASE
    default:
        result[i] = NAN;
    }
}
