/* Passengers claim seats: everyone tries the wish first and then the seats behind it, until one was free. */

// kernelcast: global=ceil_div(people,16)*16 local=16 people=100 seats=256 taken=seats wish=people got=people fill.taken=zeros fill.wish=iota name=s1
// kernelcast: global=ceil_div(people,32)*32 local=32 people=300 seats=512 taken=seats wish=people got=people fill.taken=zeros fill.wish=iota name=s2
// kernelcast: global=ceil_div(people,8)*8 local=8 people=50 seats=64 taken=seats wish=people got=people fill.taken=const:9 fill.wish=iota name=s3
// kernelcast: global=ceil_div(people,64)*64 local=64 people=100000 seats=262144 taken=seats wish=people got=people fill.taken=zeros fill.wish=randint:0:seats name=measure
__kernel void claim_seats(volatile __global int *taken,
                          __global const int *wish,
                          __global int *got,
                          const int people,
                          const int seats)
{
    const int me = get_global_id(0);
    if (me >= people)
        return;
    int seat = wish[me] & (seats - 1), tries = 8;
    int answer = -1;
    while (tries-- > 0) {
        if (atomic_cmpxchg(&taken[seat], 0, me + 1) == 0) {
            answer = seat;
            break;
        }
        seat = (seat + 1) & (seats - 1);
    }
    got[me] = answer;
}
