/* Bytes and their neighbours: matches, runs, tokens. */

#define COUNT(place)

// kernelcast: global=ceil_div(n-m,64)*64 local=64 n=8000 m=12 letters=n pattern=m matches=1 fill.letters=randint:97:101 fill.pattern=randint:97:101 name=four
// kernelcast: global=ceil_div(n-m,64)*64 local=64 n=4000 m=8 letters=n pattern=m matches=1 name=plain
__kernel void match_pattern(__global const uchar *letters, __constant uchar *pattern, __global int *matches, const int n, const int m)
{
    const int i = get_global_id(0);
    if (i > n - m)
        return;
    int k = 0;
    while (k < m && letters[i + k] == pattern[k]) {
        COUNT(match_pattern_letter);
        k++;
    }
    if (k == m)
        atomic_inc(matches);
}

#define WINDOW 48
#define LONGEST 16

// kernelcast: global=n local=32 n=1024 padding=32 bytes=n+padding best=n fill.bytes=randint:0:3 name=three
__kernel void longest_match(__global const uchar *bytes, __global short2 *best)
{
    const int at = get_global_id(0);
    short2 found = (short2)(0, 0);
    for (int from = max(0, at - WINDOW); from < at; from++) {
        COUNT(longest_match_candidate);
        int length = 0;
        while (length < LONGEST && bytes[from + length] == bytes[at + length]) {
            COUNT(longest_match_byte);
            length++;
        }
        if (length > found.y) {
            found = (short2)(at - from, length);
            if (length == LONGEST)
                break;
        }
    }
    best[at] = found;
}

// kernelcast: global=n local=64 n=6016 values=n lengths=n fill.values=randint:0:3 name=three
// kernelcast: global=n local=64 n=6016 values=n lengths=n fill.values=clustered:0:50:2 name=near
__kernel void lengths_of_runs(__global const int *values, __global int *lengths)
{
    const int i = get_global_id(0), n = get_global_size(0), value = values[i];
    if (i > 0 && values[i - 1] == value)
        return;
    int end = i + 1;
    while (end < n && values[end] == value) {
        COUNT(lengths_of_runs_more);
        end++;
    }
    lengths[i] = end - i;
}

// kernelcast: global=n local=64 n=4096 symbols=n histogram=16 fill.symbols=randint:0:4 name=four
// kernelcast: global=n local=64 n=4096 symbols=n histogram=16 name=plain
__kernel void starts_of_runs(__global const uchar *symbols, __global int *histogram)
{
    __local int counts[16];
    const int i = get_global_id(0), lane = get_local_id(0);
    if (lane < 16)
        counts[lane] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0 || symbols[i] != symbols[i - 1]) {
        COUNT(starts_of_runs_start);
        atomic_inc(&counts[symbols[i] & 15]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < 16 && counts[lane]) {
        COUNT(starts_of_runs_used);
        atomic_add(&histogram[lane], counts[lane]);
    }
}

enum { BETWEEN, IN_WORD, IN_NUMBER, IN_COMMENT };

// kernelcast: global=lines local=16 lines=256 width=80 letters=lines*width tokens=lines fill.letters=randint:32:123 name=printable
__kernel void tokens_of_lines(__global const uchar *letters, __global int *tokens, const int width)
{
    const int line = get_global_id(0);
    int state = BETWEEN, found = 0;
    for (int k = 0; k < width; k++) {
        COUNT(tokens_of_lines_letter);
        const uchar c = letters[line * width + k];
        const int is_digit = c >= '0' && c <= '9', is_letter = c >= 'a' && c <= 'z';
        switch (state) {
        case BETWEEN:
            if (is_digit || is_letter) {
                COUNT(tokens_of_lines_begin);
                state = is_digit ? IN_NUMBER : IN_WORD;
                atomic_inc(&tokens[line]);
            } else if (c == '#')
                state = IN_COMMENT;
            break;
        case IN_NUMBER:
            if (!is_digit)
                state = is_letter ? IN_WORD : BETWEEN;
            break;
        case IN_WORD:
            if (!is_letter && !is_digit)
                state = BETWEEN;
            break;
        default:
            found++;
        }
        if (state == IN_COMMENT && found > 3)
            break;
    }
    atomic_add(&tokens[line], found);
}

// kernelcast: global=n local=32 n=1024 stride=8 bytes=n*stride numbers=n fill.bytes=randint:0:256 name=halves
__kernel void variable_length(__global const uchar *bytes, __global ulong *numbers)
{
    const int i = get_global_id(0);
    __global const uchar *next = bytes + 8 * i;
    ulong number = 0;
    int shift = 0;
    while ((*next & 0x80) && shift < 49) {
        COUNT(variable_length_byte);
        number |= (ulong)(*next++ & 0x7f) << shift;
        shift += 7;
    }
    numbers[i] = number | (ulong)(*next & 0x7f) << shift;
}

// kernelcast: global=n local=32 n=512 width=24 first=n*width second=n*width order=n fill.first=randint:0:2 fill.second=randint:0:2 name=binary
// kernelcast: global=n local=32 n=512 width=24 first=n*width second=n*width order=n fill.first=const:1 fill.second=const:1 name=same
__kernel void compare_rows(__global const char *first, __global const char *second, __global int *order, const int width)
{
    const int i = get_global_id(0);
    int k = 0;
    while (k < width) {
        COUNT(compare_rows_letter);
        if (first[i * width + k] != second[i * width + k])
            break;
        ++k;
    }
    order[i] = k == width ? 0 : first[i * width + k] - second[i * width + k];
}
