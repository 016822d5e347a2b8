"""Groups that work together: reductions and scans in stages, digits counted and placed, queues, sorted blocks."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.draw import Draw
from profiler.corpus.family import PROGRAM, Draft, Sized, Wish, family
from profiler.corpus.writing.programs import randint, sized, uniform, up_to, within, written


@family("staged_sum", group="cooperation", scale=PROGRAM)
def staged_sum(draw: Draw) -> Draft:
    """Generate a reduction as libraries write it: strided sums, a tree in local memory, the last steps written out."""
    group, loads = draw.choose((64, 128, 256), "group"), draw.choose((1, 2, 4), "loads a round")
    real = draw.choose(("float", "double", "int", "uint"), "type")
    what = draw.choose(("sum", "least", "squares"), "what")
    joined = {"sum": "{0} + {1}", "least": "min({0}, {1})", "squares": "{0} + {1}"}[what]
    value = "v * v" if what == "squares" else "v"
    reads = "\n".join(
        f"        {{ const {real} v = values[i + {k} * get_global_size(0)]; sum = {joined.format('sum', value)}; }}"
        for k in range(loads)
    )
    tail = "\n".join(
        f"    if (lane < {half}) parts[lane] = {joined.format('parts[lane]', f'parts[lane + {half}]')};\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);"
        for half in (16, 8, 4, 2, 1)
    )
    source = written(
        """
        #define GROUP $G
        kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
        void staged_sum(global const $T *values, global $T *sums, const uint n) {
            local $T parts[GROUP];
            const uint lane = get_local_id(0), stride = $L * get_global_size(0);
            $T sum = values[get_global_id(0)];
            for (uint i = get_global_id(0); i + $REST * get_global_size(0) < n; i += stride) {
        $READS
            }
            parts[lane] = sum;
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint gap = GROUP / 2; gap > 16; gap >>= 1) {
                if (lane < gap) parts[lane] = $JOINED;
                barrier(CLK_LOCAL_MEM_FENCE);
            }
        $TAIL
            if (lane == 0) sums[get_group_id(0)] = parts[0];
        }
        """,
        G=group, T=real, L=loads, REST=loads - 1, READS=reads, TAIL=tail,
        JOINED=joined.format("parts[lane]", "parts[lane + gap]"),
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        n = within(8 * wish.data, 1 << 14, 60 << 20)
        items = up_to(within(own.log_real(group, n / loads), group, 1 << 20), group)
        return sized(
            3.0 * n + 12.0 * items, (items,), (group,), {"values": max(n, items), "sums": items // group}, {"n": n},
        )  # fmt: skip

    return Draft(source, "staged_sum", launch)


@family("swept_scan", group="cooperation", scale=PROGRAM)
def swept_scan(draw: Draw) -> Draft:
    """Prefix sums of blocks, up and down a tree in local memory; the sums of blocks go to the next stage."""
    group, pad = draw.choose((64, 128, 256), "group"), draw.choose((0, 5), "shift against banks")
    real = draw.choose(("int", "float", "uint"), "type")
    source = written(
        """
        #define GROUP $G
        #define BLOCK (2 * GROUP)
        #define AT(i) ((i)$PAD)
        kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
        void swept_scan(global const $T *input, global $T *output, global $T *totals) {
            local $T tree[BLOCK + BLOCK / 32 + 1];
            const int lane = get_local_id(0), base = get_group_id(0) * BLOCK;
            tree[AT(lane)] = input[base + lane];
            tree[AT(lane + GROUP)] = input[base + lane + GROUP];
            int reach = 1;
            for (int count = GROUP; count > 0; count >>= 1) {
                barrier(CLK_LOCAL_MEM_FENCE);
                if (lane < count) {
                    const int low = reach * (2 * lane + 1) - 1, high = low + reach;
                    tree[AT(high)] += tree[AT(low)];
                }
                reach *= 2;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (lane == 0) {
                totals[get_group_id(0)] = tree[AT(BLOCK - 1)];
                tree[AT(BLOCK - 1)] = 0;
            }
            for (int count = 1; count <= GROUP; count *= 2) {
                reach >>= 1;
                barrier(CLK_LOCAL_MEM_FENCE);
                if (lane < count) {
                    const int low = reach * (2 * lane + 1) - 1, high = low + reach;
                    const $T kept = tree[AT(low)];
                    tree[AT(low)] = tree[AT(high)];
                    tree[AT(high)] += kept;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            output[base + lane] = tree[AT(lane)];
            output[base + lane + GROUP] = tree[AT(lane + GROUP)];
        }
        """,
        G=group, T=real, PAD=f" + ((i) >> {pad})" if pad else "",
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        blocks = within(4 * wish.data / (2 * group), 1, (50 << 20) // (2 * group))
        n = blocks * 2 * group
        return sized(
            20.0 * n, (blocks * group,), (group,), {"input": n, "output": n, "totals": blocks}, None,
            {"input": randint(0, 10)} if real != "float" else {"input": uniform()},
        )  # fmt: skip

    return Draft(source, "swept_scan", launch)


@family("flagged_scan", group="cooperation", scale=PROGRAM)
def flagged_scan(draw: Draw) -> Draft:
    """Prefix sums that begin anew at flags, by doubling distances; each group works through several blocks."""
    group = draw.choose((32, 64, 128, 256), "group")
    real = draw.choose(("float", "int"), "type")
    source = written(
        """
        #define GROUP $G
        kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
        void flagged_scan(global const $T *values, global const uchar *flags, global $T *sums, const int blocks) {
            local $T held[2][GROUP];
            local uchar ends[2][GROUP];
            local $T carried;
            const int lane = get_local_id(0);
            if (lane == 0) carried = 0;
            for (int block = 0; block < blocks; block++) {
                const int at = (get_group_id(0) * blocks + block) * GROUP + lane;
                held[0][lane] = values[at];
                ends[0][lane] = flags[at];
                int now = 0;
                for (int reach = 1; reach < GROUP; reach <<= 1) {
                    barrier(CLK_LOCAL_MEM_FENCE);
                    $T v = held[now][lane];
                    uchar e = ends[now][lane];
                    if (lane >= reach) {
                        if (!e) v += held[now][lane - reach];
                        e |= ends[now][lane - reach];
                    }
                    now = 1 - now;
                    held[now][lane] = v;
                    ends[now][lane] = e;
                }
                barrier(CLK_LOCAL_MEM_FENCE);
                const $T sum = held[now][lane] + (ends[now][lane] ? 0 : carried);
                sums[at] = sum;
                barrier(CLK_LOCAL_MEM_FENCE);
                if (lane == GROUP - 1) carried = sum;
                barrier(CLK_LOCAL_MEM_FENCE);
            }
        }
        """,
        G=group, T=real,
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        blocks = own.log_integer(1, 256)
        groups = within(4 * wish.data / (blocks * group), 1, (32 << 20) // (blocks * group))
        n = groups * blocks * group
        return sized(
            14.0 * n * group.bit_length(), (groups * group,), (group,), {"values": n, "flags": n, "sums": n},
            {"blocks": blocks}, {"flags": Fill("mask", (own.real(0.001, 0.2),))},
        )  # fmt: skip

    return Draft(source, "flagged_scan", launch)


@family("digit_pass", group="cooperation", scale=PROGRAM)
def digit_pass(draw: Draw) -> Draft:
    """One pass of a sort by digits: each group counts its block's digits, scans the counts, and places its keys."""
    group, bits = draw.choose((64, 128, 256), "group"), draw.choose((2, 4), "bits")
    each = draw.choose((1, 2, 4), "keys an item")
    source = written(
        """
        #define GROUP $G
        #define DIGITS (1 << $B)
        #define EACH $E
        kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
        void digit_pass(global const uint *keys, global uint *placed, global uint *counts, const uint shift) {
            local ushort table[DIGITS][GROUP];
            local uint starts[DIGITS];
            const uint lane = get_local_id(0), base = get_group_id(0) * GROUP * EACH;
            uint own[EACH];
            for (uint d = 0; d < DIGITS; d++) table[d][lane] = 0;
            for (uint e = 0; e < EACH; e++) {
                own[e] = keys[base + lane * EACH + e];
                table[(own[e] >> shift) & (DIGITS - 1)][lane]++;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (lane < DIGITS) {
                ushort sum = 0;
                for (uint i = 0; i < GROUP; i++) {
                    const ushort here = table[lane][i];
                    table[lane][i] = sum;
                    sum += here;
                }
                starts[lane] = sum;
                counts[lane * get_num_groups(0) + get_group_id(0)] = sum;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (lane == 0) {
                uint sum = 0;
                for (uint d = 0; d < DIGITS; d++) {
                    const uint here = starts[d];
                    starts[d] = sum;
                    sum += here;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint e = 0; e < EACH; e++) {
                const uint d = (own[e] >> shift) & (DIGITS - 1);
                placed[base + starts[d] + table[d][lane]++] = own[e];
            }
        }
        """,
        G=group, B=bits, E=each,
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        block = group * each
        groups = within(4 * wish.data / block, 1, (50 << 20) // block)
        n = groups * block
        return sized(
            n * (12.0 + 4 * 2**bits / each), (groups * group,), (group,),
            {"keys": n, "placed": n, "counts": groups << bits}, {"shift": own.choose((0, 4, 8, 16))},
            {"keys": randint(0, 1 << own.choose((8, 20, 31)))},
        )  # fmt: skip

    return Draft(source, "digit_pass", launch)


@family("task_queue", group="cooperation", scale=PROGRAM)
def task_queue(draw: Draw) -> Draft:
    """Work-items take tasks of uneven length from one counter until there are none."""
    batch = draw.choose((1, 4, 16), "tasks at once")
    work = draw.choose(("sqrt(v * v + 0.5f)", "v * 0.99f + 0.3f", "sin(v) + 0.1f"), "step")
    source = written(
        """
        kernel void task_queue(global uint *next, global const uint *lengths, global const float *starts,
                               global float *results, const uint tasks) {
            for (;;) {
                const uint first = atomic_add(next, $B);
                if (first >= tasks) break;
                const uint last = min(first + $B, tasks);
                for (uint task = first; task < last; task++) {
                    float v = starts[task];
                    const uint steps = lengths[task];
                    for (uint s = 0; s < steps; s++) v = $WORK;
                    results[task] = v;
                }
            }
        }
        """,
        B=batch, WORK=work,
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        tasks, longest = within(wish.data, 256, 1 << 20), own.log_integer(8, 4096)
        items = up_to(own.log_real(8, 4096), 8)
        return sized(
            tasks * longest * (12.0 if "sin" in work else 4.0) / 2, (items,), None,
            {"next": 1, "lengths": tasks, "starts": tasks, "results": tasks}, {"tasks": tasks},
            {"next": Fill("zeros"), "lengths": randint(0, longest), "starts": uniform()},
        )  # fmt: skip

    return Draft(source, "task_queue", launch, in_place=("next",))


@family("sorted_blocks", group="cooperation", scale=PROGRAM)
def sorted_blocks(draw: Draw) -> Draft:
    """Blocks sorted in local memory by a network of comparisons, keys alone or with what belongs to them."""
    group = draw.choose((32, 64, 128, 256), "group")
    key, pairs = draw.choose(("uint", "float", "int"), "type"), draw.chance(0.5, "pairs")
    source = written(
        """
        #define GROUP $G
        #define BLOCK (2 * GROUP)
        kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
        void sorted_blocks(global $T *keys$ARGUMENT, const uint descends) {
            local $T k[BLOCK];
            $HELD
            const uint lane = get_local_id(0), base = get_group_id(0) * BLOCK;
            for (uint h = 0; h < BLOCK; h += GROUP) {
                k[lane + h] = keys[base + lane + h];
                $IN
            }
            for (uint size = 2; size <= BLOCK; size <<= 1)
                for (uint reach = size / 2; reach > 0; reach >>= 1) {
                    barrier(CLK_LOCAL_MEM_FENCE);
                    const uint low = 2 * lane - (lane & (reach - 1)), high = low + reach;
                    const bool up = ((low & size) == 0) != (descends != 0);
                    if ((k[low] > k[high]) == up) {
                        const $T kept = k[low];
                        k[low] = k[high];
                        k[high] = kept;
                        $SWAP
                    }
                }
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint h = 0; h < BLOCK; h += GROUP) {
                keys[base + lane + h] = k[lane + h];
                $OUT
            }
        }
        """,
        G=group, T=key, ARGUMENT=", global uint *values" if pairs else "",
        HELD="local uint v[BLOCK];" if pairs else "", IN="v[lane + h] = values[base + lane + h];" if pairs else "",
        SWAP="const uint moved = v[low]; v[low] = v[high]; v[high] = moved;" if pairs else "",
        OUT="values[base + lane + h] = v[lane + h];" if pairs else "",
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        block = 2 * group
        groups = within(2 * wish.data / block, 1, (24 << 20) // block)
        n, stages = groups * block, block.bit_length()
        more = {"values": n} if pairs else {}
        return sized(
            5.0 * n * stages * stages / 2, (groups * group,), (group,), {"keys": n, **more}, {"descends": 0},
            {"keys": uniform() if key == "float" else randint(0, 1 << 30)},
        )  # fmt: skip

    return Draft(source, "sorted_blocks", launch, in_place=("keys",))


@family("shared_counts", group="cooperation", scale=PROGRAM)
def shared_counts(draw: Draw) -> Draft:
    """Generate counts of a picture's values, first in a group's own copies, then added up in global memory."""
    bins, copies = draw.choose((16, 64, 256), "bins"), draw.choose((1, 2, 4), "copies")
    channels = draw.choose((1, 3, 4), "channels")
    source = written(
        """
        #define BINS $B
        #define COPIES $C
        kernel void shared_counts(global const uchar *picture, global uint *counts, const uint pixels) {
            local uint own[COPIES * BINS];
            for (uint b = get_local_id(0); b < COPIES * BINS; b += get_local_size(0)) own[b] = 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            const uint copy = (get_local_id(0) % COPIES) * BINS;
            for (uint i = get_global_id(0); i < pixels; i += get_global_size(0)) {
                uint light = 0;
                for (uint c = 0; c < $H; c++) light += picture[i * $H + c];
                atomic_inc(&own[copy + (light / $H) * BINS / 256]);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint b = get_local_id(0); b < BINS; b += get_local_size(0)) {
                uint sum = 0;
                for (uint c = 0; c < COPIES; c++) sum += own[c * BINS + b];
                if (sum) atomic_add(&counts[b], sum);
            }
        }
        """,
        B=bins, C=copies, H=channels,
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        pixels, group = within(4 * wish.data, 1 << 12, 40 << 20), wish.local or 128
        items = up_to(within(own.log_real(group, pixels / 4), group, 1 << 18), group)
        return sized(
            pixels * (12.0 + 2 * channels) + items / group * copies * bins * 4, (items,), (group,),
            {"picture": pixels * channels, "counts": bins}, {"pixels": pixels},
            {"picture": randint(0, own.choose((4, 64, 256))), "counts": Fill("zeros")},
        )  # fmt: skip

    return Draft(source, "shared_counts", launch)
