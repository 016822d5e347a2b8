/* Counts where a word stands in a text and keeps the first so many places. */

// kernelcast: global=n local=128 n=2097152 text=n word=4 places=1024 hits=1 text_length=n word_length=4 capacity=1024 fill.text=randint:97:123 fill.word=randint:97:123 fill.hits=zeros
__kernel void find_word(__global const char *restrict text,
                        __constant char *word,
                        __global uint *restrict places,
                        volatile __global uint *hits,
                        const uint text_length,
                        const uint word_length,
                        const uint capacity)
{
    const uint start = get_global_id(0);
    if (start + word_length > text_length)
        return;

    for (uint k = 0; k < word_length; ++k) {
        if (text[start + k] != word[k])
            return;
    }
    const uint hit = atomic_inc(hits);
    if (hit < capacity)
        places[hit] = start;
}
