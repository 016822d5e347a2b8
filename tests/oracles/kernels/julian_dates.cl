/* Calendar dates from Julian day numbers, in integers: divisions by constants, as almanacs have them. */

// kernelcast: global=ceil_div(n,64)*64 local=64 n=1000 days=n dates=n fill.days=randint:2400000:2500000 name=s1
// kernelcast: global=ceil_div(n,32)*32 local=32 n=500 days=n dates=n fill.days=randint:2400000:2500000 name=s2
// kernelcast: global=4096 local=128 n=3000 days=n dates=n fill.days=randint:2400000:2500000 name=s3
// kernelcast: global=ceil_div(n,128)*128 local=128 n=1000000 days=n dates=n fill.days=randint:2400000:2500000 name=measure
__kernel void julian_dates(__global const int *restrict days, __global short4 *restrict dates, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    const int day = days[i];
    int l = day + 68569;
    const int century = 4 * l / 146097;
    l -= (146097 * century + 3) / 4;
    const int year = 4000 * (l + 1) / 1461001;
    l = l - 1461 * year / 4 + 31;
    const int month = 80 * l / 2447;
    const int left = l - 2447 * month / 80;
    l = month / 11;
    dates[i] = (short4)(100 * (century - 49) + year + l, month + 2 - 12 * l, left, (day + 1) % 7);
}
