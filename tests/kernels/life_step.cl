/* One generation of Conway's life on a torus. A work-group loads its tile and a rim of one cell into local memory. */

#define TILE 16
#define RIM (TILE + 2)

// kernelcast: global=(N, N) local=(16, 16) N=1024 now=N*N next=N*N width=N height=N fill.now=randint:0:2
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void life_step(__global const uchar *restrict now,
               __global uchar *restrict next,
               const int width,
               const int height)
{
    __local uchar cells[RIM][RIM];
    const int x = get_global_id(0), y = get_global_id(1);
    const int left = get_group_id(0) * TILE - 1;
    const int top = get_group_id(1) * TILE - 1;

    for (int i = get_local_id(1) * TILE + get_local_id(0); i < RIM * RIM; i += TILE * TILE) {
        const int column = (left + i % RIM + width) % width;
        const int row = (top + i / RIM + height) % height;
        cells[i / RIM][i % RIM] = now[row * width + column];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    const int cx = get_local_id(0) + 1, cy = get_local_id(1) + 1;
    int neighbours = -cells[cy][cx];
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            neighbours += cells[cy + dy][cx + dx];
    next[y * width + x] = neighbours == 3 || (neighbours == 2 && cells[cy][cx]);
}
