/* Counts ballots by party: one atomic a ballot on a handful of counters, invalid ones on a counter of their own. */

// kernelcast: global=ceil_div(ballots,64)*64 local=64 ballots=1000 marks=ballots tally=13 spoilt=1 parties=12 fill.marks=randint:0:12 fill.tally=zeros fill.spoilt=zeros name=s1
// kernelcast: global=ceil_div(ballots,16)*16 local=16 ballots=90 marks=ballots tally=6 spoilt=1 parties=5 fill.marks=const:3 fill.tally=zeros fill.spoilt=zeros name=s2
// kernelcast: global=2048 local=256 ballots=2000 marks=ballots tally=17 spoilt=1 parties=16 fill.marks=randint:0:32 fill.tally=zeros fill.spoilt=zeros name=s3
// kernelcast: global=ceil_div(ballots,64)*64 local=64 ballots=300000 marks=ballots tally=13 spoilt=1 parties=12 fill.marks=randint:0:12 fill.tally=zeros fill.spoilt=zeros name=measure
__kernel void vote_count(__global const uchar *restrict marks,
                         __global uint *tally,
                         __global uint *spoilt,
                         const uint ballots,
                         const uint parties)
{
    const uint i = get_global_id(0);
    if (i >= ballots)
        return;
    const uchar mark = marks[i];
    if (mark < parties)
        atomic_add(tally + mark, 1u);
    else
        atomic_inc(spoilt);
}
