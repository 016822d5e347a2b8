/* Income tax by brackets, with a helper that knows the rules of the year chosen at build time. */

#ifndef YEAR
#  define YEAR 2020
#endif

#if YEAR >= 2020
#  define FREE 9408.0f
#  if defined(MARRIED) && MARRIED
#    define SPLIT 2.0f
#  else
#    define SPLIT 1.0f
#  endif
#elif YEAR >= 2010
#  define FREE 8004.0f
#  define SPLIT 1.0f
#else
#  error "rates before 2010 are not known"
#endif

float tax_of(const float income)
{
    const float above = income - FREE;
    const float second = fmax(above - 20000.0f, 0.0f), third = fmax(above - 60000.0f, 0.0f);
    return 0.14f * fmax(above, 0.0f) + 0.1f * second + 0.08f * third;
}

// kernelcast: global=ceil_div(people,64)*64 local=64 people=1000 income=people tax=people -DYEAR=2021 -DMARRIED=1 fill.income=uniform:5000:90000 name=s1
// kernelcast: global=ceil_div(people,16)*16 local=16 people=123 income=people tax=people -DYEAR=2012 fill.income=uniform:5000:90000 name=s2
// kernelcast: global=4096 local=512 people=3700 income=people tax=people -DYEAR=2020 fill.income=uniform:5000:90000 name=s3
// kernelcast: global=ceil_div(people,64)*64 local=64 people=1000000 income=people tax=people -DYEAR=2021 -DMARRIED=1 fill.income=uniform:5000:90000 name=measure
__kernel void tax_brackets(__global const float *restrict income, __global float *restrict tax, const int people)
{
    const int i = get_global_id(0);
    if (i < people)
        tax[i] = SPLIT * tax_of(income[i] / SPLIT);
}
