"""Searches through long data that end at what they find: scans, matches, look-ups, probes."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.draw import Draw
from profiler.corpus.family import PROGRAM, Draft, Sized, Wish, family
from profiler.corpus.writing.programs import randint, sized, uniform, up_to, within, written


@family("first_above", group="searches", scale=PROGRAM)
def first_above(draw: Draw) -> Draft:
    """Each work-item looks through a stretch of its own for the first value above a limit."""
    real = draw.choose(("float", "double", "int"), "type")
    strided = draw.chance(0.4, "interleaved")
    source = written(
        """
        kernel void first_above(global const $T *values, global uint *found, const uint span, const $T limit) {
            const uint me = get_global_id(0), everyone = get_global_size(0);
            uint at = $NONE;
            for (uint i = 0; i < span; i++) {
                const uint place = $PLACE;
                if (values[place] > limit) {
                    at = place;
                    break;
                }
            }
            found[me] = at;
        }
        """,
        T=real,
        NONE="0xffffffffu",
        PLACE="i * everyone + me" if strided else "me * span + i",
    )

    def launch(own: Draw, wish: Wish) -> Sized:
        items = up_to(within(wish.data / 64, 64, 1 << 17), 64)
        span = within(4 * wish.data / items, 16, (1 << 26) // items)
        rank = own.log_real(8, 4 * span)  # where the first one is met, about
        limit, fill = (
            (1 - 1 / rank, uniform()) if real != "int" else (1 << 20, randint(0, int((1 << 20) / (1 - 1 / rank)) + 2))
        )
        return sized(
            4 * items * min(span, rank), (items,), (64,) if wish.local else None,
            {"values": items * span, "found": items}, {"span": span, "limit": limit}, {"values": fill},
        )  # fmt: skip

    return Draft(source, "first_above", launch)


@family("text_match", group="searches", scale=PROGRAM)
def text_match(draw: Draw) -> Draft:
    """Generate the places of a pattern in a text: characters are compared until one differs."""
    wanted, letters = draw.choose((3, 8, 16, 31), "pattern"), draw.choose((2, 4, 26, 200), "letters")
    keeps_local = draw.chance(0.5, "pattern in local memory")
    load = (
        """
            local uchar wanted[$M];
            for (uint k = get_local_id(0); k < $M; k += get_local_size(0)) wanted[k] = pattern[k];
            barrier(CLK_LOCAL_MEM_FENCE);"""
        if keeps_local
        else """
            global const uchar *wanted = pattern;"""
    )
    source = written(
        """
        kernel void text_match(global const uchar *text, global const uchar *pattern, global uint *counts,
                               const uint n) {
        """
        + load
        + """
            uint matches = 0, longest = 0;
            for (uint start = get_global_id(0); start + $M <= n; start += get_global_size(0)) {
                uint k = 0;
                while (k < $M && text[start + k] == wanted[k]) k++;
                matches += k == $M;
                longest = max(longest, k);
            }
            counts[2 * get_global_id(0)] = matches;
            counts[2 * get_global_id(0) + 1] = longest;
        }
        """,
        M=wanted,
    )

    def launch(own: Draw, wish: Wish) -> Sized:
        n, group = within(16 * wish.data, 1 << 14, 200 << 20), wish.local or 64
        items = up_to(min(n / 16, own.choose((1024, 8192, 65536))), group)
        return sized(
            5 * n * (1 + 1 / letters), (items,), (group,), {"text": n, "pattern": 32, "counts": 2 * items}, {"n": n},
            {"text": randint(97, 97 + min(letters, 99)), "pattern": randint(97, 97 + min(letters, 99))},
        )  # fmt: skip

    return Draft(source, "text_match", launch)


@family("sorted_lookup", group="searches", scale=PROGRAM)
def sorted_lookup(draw: Draw) -> Draft:
    """Generate queries looked up in a sorted table: first among splitters in local memory, then by halving."""
    splitters = draw.choose((32, 64, 256), "splitters")
    key = draw.choose(("uint", "ulong", "float"), "type")
    source = written(
        """
        #define SPLITTERS $S
        kernel void sorted_lookup(global const $T *table, global const $T *queries, global uint *places,
                                  const uint n, const uint asked) {
            local $T heads[SPLITTERS];
            const uint step = n / SPLITTERS;
            for (uint k = get_local_id(0); k < SPLITTERS; k += get_local_size(0)) heads[k] = table[k * step];
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint q = get_global_id(0); q < asked; q += get_global_size(0)) {
                const $T wanted = queries[q];
                uint part = 0;
                while (part + 1 < SPLITTERS && heads[part + 1] <= wanted) part++;
                uint low = part * step, high = part + 1 == SPLITTERS ? n : low + step;
                while (low < high) {
                    const uint middle = low + (high - low) / 2;
                    if (table[middle] < wanted) low = middle + 1;
                    else high = middle;
                }
                places[q] = low;
            }
        }
        """,
        S=splitters,
        T=key,
    )

    def launch(own: Draw, wish: Wish) -> Sized:
        n, group = within(wish.data, 4096, 40 << 20), wish.local or 128
        asked = within(own.log_real(1024, 1 << 23), 1024, 1 << 23)
        items = up_to(min(asked, own.choose((2048, 16384, 1 << 18))), group)
        return sized(
            asked * (2.0 * splitters + 60), (items,), (group,), {"table": n, "queries": asked, "places": asked},
            {"n": n, "asked": asked}, {"table": Fill("sorted", (0, 1 << 30)), "queries": randint(0, 1 << 30)},
        )  # fmt: skip

    return Draft(source, "sorted_lookup", launch)


@family("probed_table", group="searches", scale=PROGRAM)
def probed_table(draw: Draw) -> Draft:
    """Keys looked up in a hash table with open addressing, probe by probe until a free or equal slot."""
    step = draw.choose(("linear", "quadratic"), "probing")
    layout = draw.choose(("pairs", "arrays"), "layout")
    source = written(
        """
        typedef struct { uint key; uint value; } Slot;
        inline uint scrambled(uint x) {
            x ^= x >> 15;
            x *= $A;
            x ^= x >> 13;
            x *= $B;
            return x ^ (x >> 16);
        }
        kernel void probed_table($TABLE, global const uint *keys, global uint *answers, const uint mask,
                                 const uint asked) {
            for (uint q = get_global_id(0); q < asked; q += get_global_size(0)) {
                const uint key = keys[q];
                uint slot = scrambled(key) & mask, answer = 0;
                for (uint probe = 1; probe <= 64; probe++) {
                    const uint there = $KEY;
                    if (there == key) { answer = $VALUE; break; }
                    if (there == 0) break;
                    slot = (slot + $STEP) & mask;
                }
                answers[q] = answer;
            }
        }
        """,
        A=f"0x{draw.integer(1 << 28, 1 << 31) | 1:x}u",
        B=f"0x{draw.integer(1 << 28, 1 << 31) | 1:x}u",
        TABLE="global const Slot *slots" if layout == "pairs" else "global const uint *slots, global const uint *held",
        KEY="slots[slot].key" if layout == "pairs" else "slots[slot]",
        VALUE="slots[slot].value" if layout == "pairs" else "held[slot]",
        STEP="1" if step == "linear" else "probe",
    )

    def launch(own: Draw, wish: Wish) -> Sized:
        bits = within(wish.data.bit_length(), 10, 24)
        asked = within(own.log_real(4096, 1 << 23), 4096, 1 << 23)
        items = up_to(min(asked, own.choose((4096, 65536))), wish.local or 64)
        free = own.real(0.2, 0.9)
        fill = Fill("choice", (0, free, 7, 1 - free))
        slots = {"slots": 1 << bits} if layout == "pairs" else {"slots": 1 << bits, "held": 1 << bits}
        named = "slots.key" if layout == "pairs" else "slots"
        return sized(
            asked * (20 + 10 / free), (items,), (wish.local,) if wish.local else None,
            {**slots, "keys": asked, "answers": asked}, {"mask": (1 << bits) - 1, "asked": asked},
            {named: fill, "keys": randint(8, 1 << 30)},
        )  # fmt: skip

    return Draft(source, "probed_table", launch)


@family("nearest_record", group="searches", scale=PROGRAM)
def nearest_record(draw: Draw) -> Draft:
    """Generate the nearest of many records, given up dimension by dimension once it is farther than the best so far."""
    dims, tile = draw.choose((4, 8, 16, 32), "dimensions"), draw.choose((16, 32, 64), "tile")
    check = draw.choose((2, 4, 8), "look every")
    source = written(
        """
        #define DIMS $D
        #define TILE $N
        kernel void nearest_record(global const float *records, global const float *queries, global uint *nearest,
                                   global float *distances, const uint count) {
            local float held[TILE * DIMS];
            float mine[DIMS];
            for (int d = 0; d < DIMS; d++) mine[d] = queries[get_global_id(0) * DIMS + d];
            float best = MAXFLOAT;
            uint at = 0;
            for (uint base = 0; base < count; base += TILE) {
                barrier(CLK_LOCAL_MEM_FENCE);
                for (uint k = get_local_id(0); k < TILE * DIMS; k += get_local_size(0))
                    held[k] = records[base * DIMS + k];
                barrier(CLK_LOCAL_MEM_FENCE);
                for (uint r = 0; r < TILE; r++) {
                    float sum = 0.0f;
                    for (int d = 0; d < DIMS; d += $C) {
                        for (int e = 0; e < $C && e + d < DIMS; e++) {
                            const float apart = held[r * DIMS + d + e] - mine[d + e];
                            sum += apart * apart;
                        }
                        if (sum >= best) break;
                    }
                    if (sum < best) { best = sum; at = base + r; }
                }
            }
            nearest[get_global_id(0)] = at;
            distances[get_global_id(0)] = best;
        }
        """,
        D=dims,
        N=tile,
        C=check,
    )

    def launch(own: Draw, wish: Wish) -> Sized:
        group = wish.local or 64
        items = up_to(within(own.log_real(64, 1 << 16), 64, 1 << 16), group)
        count = up_to(within(wish.data / dims, tile, 1 << 18), tile)
        return sized(
            items * count * (3.0 * check + 4), (items,), (group,),
            {"records": count * dims, "queries": items * dims, "nearest": items, "distances": items},
            {"count": count}, {"records": uniform(), "queries": uniform()},
        )  # fmt: skip

    return Draft(source, "nearest_record", launch)


@family("longest_run", group="searches", scale=PROGRAM)
def longest_run(draw: Draw) -> Draft:
    """Generate the longest stretch of equal values: one a work-item, then the longest of each group."""
    group = draw.choose((32, 64, 128, 256), "group")
    value = draw.choose(("uchar", "int", "ushort"), "type")
    source = written(
        """
        #define GROUP $G
        kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
        void longest_run(global const $T *values, global uint2 *longest, const uint span) {
            local uint lengths[GROUP], starts[GROUP];
            const uint lane = get_local_id(0), first = get_global_id(0) * span;
            uint best = 0, where = first, run = 0;
            for (uint i = first; i < first + span; i++) {
                run = i > first && values[i] == values[i - 1] ? run + 1 : 1;
                if (run > best) { best = run; where = i + 1 - run; }
            }
            lengths[lane] = best;
            starts[lane] = where;
            for (uint gap = GROUP / 2; gap > 0; gap >>= 1) {
                barrier(CLK_LOCAL_MEM_FENCE);
                if (lane < gap && lengths[lane + gap] > lengths[lane]) {
                    lengths[lane] = lengths[lane + gap];
                    starts[lane] = starts[lane + gap];
                }
            }
            if (lane == 0) longest[get_group_id(0)] = (uint2)(lengths[0], starts[0]);
        }
        """,
        G=group,
        T=value,
    )

    def launch(own: Draw, wish: Wish) -> Sized:
        items = up_to(within(own.log_real(group, 1 << 15), group, 1 << 15), group)
        span = within(8 * wish.data / items, 8, (1 << 27) // items)
        return sized(
            6.0 * items * span, (items,), (group,), {"values": items * span, "longest": items // group},
            {"span": span}, {"values": randint(0, own.choose((2, 3, 10)))},
        )  # fmt: skip

    return Draft(source, "longest_run", launch)


@family("nonce_search", group="searches", scale=PROGRAM)
def nonce_search(draw: Draw) -> Draft:
    """Candidates are mixed until one has its low bits zero, or the tries are used up."""
    rounds, bits = draw.choose((4, 8, 20), "rounds"), draw.choose((6, 8, 10, 14), "bits")
    turns = [draw.integer(3, 29) for _ in range(4)]
    source = written(
        """
        kernel void nonce_search(global const uint4 *seeds, global uint *hits, const uint tries) {
            const uint4 seed = seeds[get_global_id(0)];
            uint hit = 0;
            for (uint nonce = 0; nonce < tries; nonce++) {
                uint4 s = seed;
                s.x ^= nonce;
                #pragma unroll
                for (int r = 0; r < $R; r++) {
                    s.x += s.y; s.w = rotate(s.w ^ s.x, (uint)$A);
                    s.z += s.w; s.y = rotate(s.y ^ s.z, (uint)$B);
                    s.x += s.y ^ r; s.w = rotate(s.w ^ s.x, (uint)$C);
                    s.z += s.w; s.y = rotate(s.y ^ s.z, (uint)$D);
                }
                if (((s.x ^ s.z) & $MASK) == 0) { hit = nonce + 1; break; }
            }
            hits[get_global_id(0)] = hit;
        }
        """,
        R=rounds,
        MASK=f"{(1 << bits) - 1}u",
        **dict(zip("ABCD", turns, strict=True)),
    )

    def launch(own: Draw, wish: Wish) -> Sized:
        items = up_to(within(wish.items, 64, 1 << 20), 64)
        tries = own.log_integer(16, 1 << 14)
        return sized(
            items * min(tries, 1 << bits) * (14.0 * rounds + 6), (items,), (64,) if wish.local else None,
            {"seeds": items, "hits": items}, {"tries": tries}, {"seeds": randint(0, 1 << 31)},
        )  # fmt: skip

    return Draft(source, "nonce_search", launch)
