/* Stock after orders, never below nothing nor above what the shelf holds: saturating arithmetic on bytes. */

// kernelcast: global=ceil_div(shelves,64)*64 local=64 shelves=700 stock=shelves ordered=shelves delivered=shelves fill.stock=randint:0:256 fill.ordered=randint:0:256 fill.delivered=randint:0:64 name=s1
// kernelcast: global=ceil_div(shelves,32)*32 local=32 shelves=99 stock=shelves ordered=shelves delivered=shelves fill.stock=randint:0:256 fill.ordered=randint:0:256 fill.delivered=randint:0:64 name=s2
// kernelcast: global=2048 local=256 shelves=2001 stock=shelves ordered=shelves delivered=shelves fill.stock=randint:0:256 fill.ordered=randint:0:256 fill.delivered=randint:0:64 name=s3
// kernelcast: global=ceil_div(shelves,128)*128 local=128 shelves=1000000 stock=shelves ordered=shelves delivered=shelves fill.stock=randint:0:256 fill.ordered=randint:0:256 fill.delivered=randint:0:64 name=measure
__kernel void stock_levels(__global uchar *stock, __global const uchar *ordered, __global const uchar *delivered, const uint shelves)
{
    const uint shelf = get_global_id(0);
    if (shelf >= shelves)
        return;
    stock[shelf] = add_sat(sub_sat(stock[shelf], ordered[shelf]), delivered[shelf]);
}
