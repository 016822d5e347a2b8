/* Rays through a stack of thin lenses: two-by-two matrices in a struct, multiplied along the stack, then applied. */

typedef struct {
    float a, b, c, d;
} matrix_t;

matrix_t times(const matrix_t left, const matrix_t right)
{
    matrix_t product;
    product.a = left.a * right.a + left.b * right.c;
    product.b = left.a * right.b + left.b * right.d;
    product.c = left.c * right.a + left.d * right.c;
    product.d = left.c * right.b + left.d * right.d;
    return product;
}

matrix_t lens(const float power, const float gap)
{
    const matrix_t through = {1.0f, 0.0f, -power, 1.0f};
    const matrix_t along = {1.0f, gap, 0.0f, 1.0f};
    return times(along, through);
}

// kernelcast: global=stacks local=16 stacks=64 lenses=6 powers=stacks*lenses gaps=stacks*lenses focus=stacks name=s1
// kernelcast: global=stacks local=50 stacks=150 lenses=2 powers=stacks*lenses gaps=stacks*lenses focus=stacks name=s2
// kernelcast: global=stacks local=8 stacks=24 lenses=25 powers=stacks*lenses gaps=stacks*lenses focus=stacks name=s3
// kernelcast: global=stacks local=64 stacks=65536 lenses=6 powers=stacks*lenses gaps=stacks*lenses focus=stacks name=measure
__kernel void lens_stack(__global const float *powers, __global const float *gaps, __global float *focus, const int lenses)
{
    const int stack = get_global_id(0);
    matrix_t whole = {1.0f, 0.0f, 0.0f, 1.0f};
    for (int k = 0; k < lenses; ++k)
        whole = times(lens(powers[stack * lenses + k], gaps[stack * lenses + k]), whole);
    focus[stack] = -whole.a / whole.c;
}
