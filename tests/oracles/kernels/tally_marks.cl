/* Two passes in one: lines of a text that are blank, and letters of either case, with short-circuit tests. */

#define IS_SPACE(c) ((c) == ' ' || (c) == '\t' || (c) == '\r')
#define IS_LOWER(c) ((c) >= 'a' && (c) <= 'z')
#define IS_UPPER(c) ((c) >= 'A' && (c) <= 'Z')

// kernelcast: global=lines local=16 lines=48 width=32 text=lines*width letters=lines blank=lines fill.text=const:32 name=s1
// kernelcast: global=lines local=20 lines=100 width=16 text=lines*width letters=lines blank=lines fill.text=const:97 name=s2
// kernelcast: global=lines local=32 lines=64 width=40 text=lines*width letters=lines blank=lines fill.text=randint:32:127 name=s3
// kernelcast: global=lines local=64 lines=32768 width=40 text=lines*width letters=lines blank=lines fill.text=randint:32:127 name=measure
__kernel void tally_marks(__global const char *restrict text,
                          __global int2 *restrict letters,
                          __global char *restrict blank,
                          const int width)
{
    const size_t line = get_global_id(0);
    int lower = 0, upper = 0;
    bool is_blank = true;
    for (int k = 0; k < width; k++) {
        const char c = text[line * width + k];
        if (!IS_SPACE(c))
            is_blank = false;
        lower += IS_LOWER(c);
        upper += IS_UPPER(c);
    }
    letters[line] = (int2)(lower, upper);
    blank[line] = is_blank;
}
