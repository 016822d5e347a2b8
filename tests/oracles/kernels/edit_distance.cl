/* How many letters differ between a word and each entry of a word list, insertions and deletions included. */

#define MAX_LENGTH 16

// kernelcast: global=words local=16 words=32 length=8 wanted=length list=words*length distances=words fill.wanted=randint:97:123 fill.list=randint:97:123 name=s1
// kernelcast: global=words local=5 words=20 length=12 wanted=length list=words*length distances=words fill.wanted=randint:97:123 fill.list=randint:97:123 name=s2
// kernelcast: global=words local=64 words=128 length=5 wanted=length list=words*length distances=words fill.wanted=randint:97:123 fill.list=randint:97:123 name=s3
// kernelcast: global=words local=64 words=32768 length=10 wanted=length list=words*length distances=words fill.wanted=randint:97:123 fill.list=randint:97:123 name=measure
__kernel void edit_distance(__constant char *wanted,
                            __global const char *list,
                            __global int *distances,
                            const int length)
{
    const int word = get_global_id(0);
    int row[MAX_LENGTH + 1];
    for (int j = 0; j <= length; ++j)
        row[j] = j;
    for (int i = 1; i <= length; ++i) {
        const char letter = list[word * length + i - 1];
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= length; ++j) {
            const int changed = diagonal + (letter != wanted[j - 1]);
            diagonal = row[j];
            row[j] = min(changed, min(row[j], row[j - 1]) + 1);
        }
    }
    distances[word] = row[length];
}
