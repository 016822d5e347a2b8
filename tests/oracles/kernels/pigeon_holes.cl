/* Puts letters into bins by postcode: every letter draws its place in its bin from one of many counters. */

// kernelcast: global=ceil_div(letters,32)*32 local=32 letters=300 bins=64 room=300 code=letters next=bins holes=bins*room fill.code=randint:0:99999 fill.next=zeros name=s1
// kernelcast: global=ceil_div(letters,64)*64 local=64 letters=1000 bins=10 room=1000 code=letters next=bins holes=bins*room fill.code=randint:0:99999 fill.next=zeros name=s2
// kernelcast: global=512 local=128 letters=400 bins=37 room=400 code=letters next=bins holes=bins*room fill.code=iota fill.next=zeros name=s3
// kernelcast: global=ceil_div(letters,64)*64 local=64 letters=100000 bins=1000 room=1000 code=letters next=bins holes=bins*room fill.code=randint:0:99999 fill.next=zeros name=measure
__kernel void pigeon_holes(__global const uint *restrict code,
                           volatile __global uint *next,
                           __global uint *restrict holes,
                           const uint letters,
                           const uint bins,
                           const uint room)
{
    const uint letter = get_global_id(0);
    if (letter >= letters)
        return;
    const uint bin = code[letter] % bins;
    const uint place = atomic_inc(&next[bin]);
    if (place < room)
        holes[bin * room + place] = letter;
}
