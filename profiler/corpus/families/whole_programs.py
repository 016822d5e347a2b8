"""Kernels of programs that are long: straight code line after line, helpers, several memories at once."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import PROGRAM, Draft, Sized, Wish, family
from profiler.corpus.writing.programs import sized, uniform, up_to, within, written


@family("rate_table", group="whole_programs", scale=PROGRAM)
def rate_table(draw: Draw) -> Draft:
    """Rates of many reactions written out line by line, and what each species gains and loses by them."""
    species, reactions = draw.choose((8, 12, 20), "species"), draw.choose((30, 60, 110, 180), "reactions")
    real = draw.choose(("float", "double"), "type")
    end = "f" if real == "float" else ""
    lines = []
    for number in range(reactions):
        a, b, c = (draw.integer(0, species - 1) for _ in range(3))
        factor, power, barrier = draw.log_real(1e-3, 10.0), draw.choose((0.0, 0.5, 1.0, 1.7)), draw.real(0.0, 8.0)
        kind = draw.choose(("plain", "falloff", "reversed", "fixed"))
        law = f"{factor:.5f}{end} * exp({power}{end} * log_t - {barrier:.4f}{end} * inverse)"
        if kind == "fixed":
            law = f"{factor:.5f}{end} * t"
        if kind == "falloff":
            law = f"({law}) * density / ({draw.real(0.5, 2):.4f}{end} + density)"
        lines.append(f"    const {real} k{number} = {law};")
        back = f" - {draw.real(0.01, 0.3):.4f}{end} * k{number} * y{c}" if kind == "reversed" else ""
        lines.append(f"    const {real} r{number} = k{number} * y{a} * y{b}{back};")
        lines += [
            f"    d{a} -= r{number};",
            f"    d{b} -= r{number};",
            f"    d{c} += {draw.choose((1, 2))} * r{number};",
        ]
    source = written(
        """
        kernel void rate_table(global const $T *state, global $T *change, global const $T *heat, const uint cells) {
            const uint cell = get_global_id(0);
            if (cell >= cells) return;
            const $T t = heat[cell], inverse = 1 / t, log_t = log(t);
        $READ
            const $T density = $SUM;
        $LINES
        $WRITE
        }
        """,
        T=real,
        READ="\n".join(f"    const {real} y{s} = state[{s} * cells + cell]; {real} d{s} = 0;" for s in range(species)),
        SUM=" + ".join(f"y{s}" for s in range(species)),
        LINES="\n".join(lines),
        WRITE="\n".join(f"    change[{s} * cells + cell] = d{s};" for s in range(species)),
    )

    def launch(own: Draw, wish: Wish) -> Sized:
        cells = within(wish.data / 4, 64, 1 << 20)
        return sized(
            cells * reactions * 22.0, (up_to(cells, wish.local or 1),), (wish.local,) if wish.local else None,
            {"state": species * cells, "change": species * cells, "heat": cells}, {"cells": cells},
            {"state": uniform(0.01, 1.0), "heat": uniform(1.0, 3.0)},
        )  # fmt: skip

    return Draft(source, "rate_table", launch)


@family("block_cipher", group="whole_programs", scale=PROGRAM)
def block_cipher(draw: Draw) -> Draft:
    """Generate an invented cipher: rounds written out one after another, with a table or with rotations alone."""
    rounds, words = draw.choose((16, 32, 64), "rounds"), draw.choose((4, 8), "words")
    table = draw.chance(0.5, "table")
    word = draw.choose(("uint", "uint", "ulong"), "type")
    bits = 32 if word == "uint" else 64
    lines = []
    for number in range(rounds):
        for w in range(words):
            a, b = (w + draw.integer(1, words - 1)) % words, (w + draw.integer(1, words - 1)) % words
            turn = draw.integer(1, bits - 1)
            mixed = f"boxes[(s{a} >> {draw.integer(0, 24)}) & 255]" if table else f"(s{a} & ~s{b})"
            lines.append(f"    s{w} = rotate(s{w} ^ {mixed}, ({word}){turn}) + s{b} + key[{(number + w) % 16}];")
    source = written(
        """
        kernel void block_cipher(global const $T *text, global $T *secret, constant $T *key, constant $T *boxes,
                                 const uint blocks) {
            for (uint block = get_global_id(0); block < blocks; block += get_global_size(0)) {
        $READ
        $LINES
        $WRITE
            }
        }
        """,
        T=word,
        READ="\n".join(f"    {word} s{w} = text[block * {words} + {w}];" for w in range(words)),
        LINES="\n".join(lines),
        WRITE="\n".join(f"    secret[block * {words} + {w}] = s{w};" for w in range(words)),
    )

    def launch(own: Draw, wish: Wish) -> Sized:
        blocks, group = within(wish.data / words, 256, 1 << 22), wish.local or 64
        items = up_to(min(blocks, own.choose((1024, 1 << 14, 1 << 22))), group)
        return sized(
            7.0 * blocks * rounds * words, (items,), (group,),
            {"text": blocks * words, "secret": blocks * words, "key": 16, "boxes": 256}, {"blocks": blocks},
        )  # fmt: skip

    return Draft(source, "block_cipher", launch)


@family("block_statistics", group="whole_programs", scale=PROGRAM)
def block_statistics(draw: Draw) -> Draft:
    """Blocks of a picture: mean, spread and median by local and private arrays, then every value put in proportion."""
    group, kept = draw.choose((32, 64, 128), "group"), draw.choose((4, 8), "values an item")
    extra = draw.chance(0.5, "another kernel beside it")
    beside = """
        kernel void cleared(global float4 *summaries) {
            summaries[get_global_id(0)] = (float4)(0.0f);
        }
        """
    source = written(
        """
        #define GROUP $G
        #define KEPT $K
        #define SWAP(a, b) { const float lower = fmin(a, b); b = fmax(a, b); a = lower; }
        """
        + (beside if extra else "")
        + """
        inline void add_up(local float *parts, const int lane) {
            for (int gap = GROUP / 2; gap > 0; gap >>= 1) {
                barrier(CLK_LOCAL_MEM_FENCE);
                if (lane < gap) parts[lane] += parts[lane + gap];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
        void block_statistics(global const float *values, global float *scaled, global float4 *summaries,
                              const int rounds) {
            local float sums[GROUP], squares[GROUP], middles[GROUP];
            const int lane = get_local_id(0);
            for (int round = 0; round < rounds; round++) {
                const int base = (get_group_id(0) * rounds + round) * GROUP * KEPT;
                float own[KEPT], sorted[KEPT];
                float sum = 0.0f, square = 0.0f;
                for (int k = 0; k < KEPT; k++) {
                    own[k] = values[base + k * GROUP + lane];
                    sorted[k] = own[k];
                    sum += own[k];
                    square += own[k] * own[k];
                }
                for (int i = 0; i < KEPT; i++)
                    for (int j = i + 1; j < KEPT; j++) SWAP(sorted[i], sorted[j])
                sums[lane] = sum;
                squares[lane] = square;
                middles[lane] = sorted[KEPT / 2];
                add_up(sums, lane);
                add_up(squares, lane);
                add_up(middles, lane);
                const float mean = sums[0] / (GROUP * KEPT);
                const float spread = sqrt(fmax(squares[0] / (GROUP * KEPT) - mean * mean, 1e-6f));
                for (int k = 0; k < KEPT; k++) scaled[base + k * GROUP + lane] = (own[k] - mean) / spread;
                if (lane == 0)
                    summaries[get_group_id(0) * rounds + round] = (float4)(mean, spread, middles[0] / GROUP, 0.0f);
                barrier(CLK_LOCAL_MEM_FENCE);
            }
        }
        """,
        G=group, K=kept,
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        rounds = own.log_integer(1, 64)
        groups = within(4 * wish.data / (rounds * group * kept), 1, (32 << 20) // (rounds * group * kept))
        n = groups * rounds * group * kept
        return sized(
            n * (14.0 + kept + 90 / kept), (groups * group,), (group,),
            {"values": n, "scaled": n, "summaries": groups * rounds}, {"rounds": rounds}, {"values": uniform()},
        )  # fmt: skip

    return Draft(source, "block_statistics", launch)


@family("fitted_pieces", group="whole_programs", scale=PROGRAM)
def fitted_pieces(draw: Draw) -> Draft:
    """Generate a function by pieces, each a polynomial of its own in a helper, and a sum over many terms of it."""
    pieces, degree = draw.choose((4, 8, 16), "pieces"), draw.choose((4, 7, 11), "degree")
    real = draw.choose(("float", "double"), "type")
    end = "f" if real == "float" else ""
    helpers, chosen = [], []
    for piece in range(pieces):
        sum_ = f"{draw.real(-1, 1):.6f}{end}"
        body = "\n".join(f"    p = p * x + {draw.real(-1, 1):.6f}{end};" for _ in range(degree))
        helpers.append(
            f"inline {real} piece{piece}(const {real} x) {{\n    {real} p = {sum_};\n{body}\n    return p;\n}}"
        )
        other = "else " if piece else ""
        chosen.append(f"    {other}if (x < {(piece + 1) / pieces:.4f}{end}) y = piece{piece}(x);")
    source = written(
        """
        $HELPERS
        inline $T whole(const $T x) {
            $T y = 0;
        $CHOSEN
            return y;
        }
        kernel void fitted_pieces(global const $T *points, global const $T *weights, global $T *sums, const uint terms,
                                  const uint count) {
            const uint me = get_global_id(0);
            if (me >= count) return;
            const $T point = points[me];
            $T sum = 0;
            for (uint t = 0; t < terms; t++) {
                const $T x = fabs(point - weights[t]);
                sum += weights[t] * whole(x - floor(x));
            }
            sums[me] = sum;
        }
        """,
        HELPERS="\n".join(helpers), T=real, CHOSEN="\n".join(chosen),
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        count, terms = within(wish.data / 8, 64, 1 << 20), own.log_integer(1, 512)
        return sized(
            count * terms * (2.0 * degree + pieces + 8), (up_to(count, wish.local or 1),),
            (wish.local,) if wish.local else None, {"points": count, "weights": terms, "sums": count},
            {"terms": terms, "count": count}, {"points": uniform(), "weights": uniform()},
        )  # fmt: skip

    return Draft(source, "fitted_pieces", launch)
