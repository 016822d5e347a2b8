"""Kernels of simulations that do everything at once: structs, helpers, tiles, tables, walks that data end."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import PROGRAM, Draft, Sized, Wish, family
from profiler.corpus.writing.programs import randint, sized, uniform, up_to, within, written

_PARTICLE = """
typedef struct {
    float4 place;
    float4 speed;
    float mass, reach;
    int kind, state;
} Agent;
"""


@family("agents_in_tiles", group="whole_programs", scale=PROGRAM)
def agents_in_tiles(draw: Draw) -> Draft:
    """Agents push each other: all pairs by tiles in local memory, as structs or as arrays, with helpers."""
    tile, structs = draw.choose((32, 64, 128), "tile"), draw.chance(0.5, "structs")
    kinds, law = draw.choose((1, 2, 4), "kinds"), draw.choose(("soft", "inverse", "spring"), "law")
    force = {
        "soft": "strength * exp(-square / (reach * reach))",
        "inverse": "strength * rsqrt(square + 0.01f) / (square + 0.01f)",
        "spring": "sqrt(square) < reach ? strength * (reach - sqrt(square)) : 0.0f",
    }[law]
    head = (
        "global const Agent *agents, global Agent *moved"
        if structs
        else "global const float4 *places, global const float4 *speeds, global const int *kinds, "
        "global float4 *new_places, global float4 *new_speeds"
    )
    source = written(
        """
        #define TILE $N
        $STRUCT
        inline float pull(const float square, const float reach, const float strength) {
            return $FORCE;
        }
        inline float4 kept_inside(float4 place, const float edge) {
            if (place.x < 0.0f) place.x += edge;
            if (place.x > edge) place.x -= edge;
            if (place.y < 0.0f) place.y += edge;
            if (place.y > edge) place.y -= edge;
            return place;
        }
        kernel __attribute__((reqd_work_group_size(TILE, 1, 1)))
        void agents_in_tiles($HEAD, const int count, const float step, const float edge) {
            local float4 near[TILE];
            local int near_kind[TILE];
            const int me = get_global_id(0), lane = get_local_id(0);
            $MINE
            float strengths[$K];
            for (int k = 0; k < $K; k++) strengths[k] = (k == kind ? -0.5f : 1.0f) / (1 + k);
            float4 push = (float4)(0.0f);
            for (int base = 0; base < count; base += TILE) {
                $LOAD
                barrier(CLK_LOCAL_MEM_FENCE);
                for (int j = 0; j < TILE; j++) {
                    const float4 apart = near[j] - place;
                    const float square = apart.x * apart.x + apart.y * apart.y + apart.z * apart.z;
                    push += apart * pull(square, 0.2f, strengths[near_kind[j]]);
                }
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            speed = 0.98f * speed + step * push;
            place = kept_inside(place + step * speed, edge);
            $STORE
        }
        """,
        N=tile, K=kinds, FORCE=force, HEAD=head, STRUCT=_PARTICLE if structs else "",
        MINE="float4 place = agents[me].place, speed = agents[me].speed; const int kind = agents[me].kind & ($K - 1);"
        .replace("$K", str(kinds))
        if structs
        else f"float4 place = places[me], speed = speeds[me]; const int kind = kinds[me] & ({kinds} - 1);",
        LOAD=f"near[lane] = agents[base + lane].place; near_kind[lane] = agents[base + lane].kind & ({kinds} - 1);"
        if structs
        else f"near[lane] = places[base + lane]; near_kind[lane] = kinds[base + lane] & ({kinds} - 1);",
        STORE="Agent mine = agents[me]; mine.place = place; mine.speed = speed; moved[me] = mine;"
        if structs
        else "new_places[me] = place; new_speeds[me] = speed;",
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        count = up_to(within(wish.data**0.5 * 8, tile, 1 << 15), tile)
        names = ("agents", "moved") if structs else ("places", "speeds", "kinds", "new_places", "new_speeds")
        return sized(
            24.0 * count * count, (count,), (tile,), dict.fromkeys(names, count),
            {"count": count, "step": 0.01, "edge": 1.0},
        )  # fmt: skip

    return Draft(source, "agents_in_tiles", launch)


@family("rays_through_cells", group="whole_programs", scale=PROGRAM)
def rays_through_cells(draw: Draw) -> Draft:
    """Rays walk through a volume cell by cell until they meet something, or are far enough."""
    shadows, kind = draw.chance(0.4, "shadows"), draw.choose(("hit", "gathered"), "what")
    meet = (
        "if (cell > limit) { met = cell; break; }"
        if kind == "hit"
        else "light += cell * gone; gone *= 1.0f - cell * 0.1f; if (gone < 0.01f) break;"
    )
    source = written(
        """
        typedef struct { float4 from; float4 way; } Ray;
        inline float cell_at(global const float *cells, const int3 at, const int side) {
            const int3 in = clamp(at, 0, side - 1);
            return cells[(in.z * side + in.y) * side + in.x];
        }
        inline Ray made(const int px, const int py, const int w, const int h, const int side) {
            Ray ray;
            ray.from = (float4)(px * (float)side / w, py * (float)side / h, 0.0f, 0.0f);
            ray.way = normalize((float4)((px - w / 2) / (float)w, (py - h / 2) / (float)h, 1.0f, 0.0f));
            return ray;
        }
        kernel void rays_through_cells(global const float *cells, global float4 *image, const int w, const int h,
                                       const int side, const int most, const float limit) {
            const int px = get_global_id(0), py = get_global_id(1);
            if (px >= w || py >= h) return;
            const Ray ray = made(px, py, w, h, side);
            float met = 0.0f, light = 0.0f, gone = 1.0f, far = 0.0f;
            float4 at = ray.from;
            for (int step = 0; step < most; step++) {
                const float cell = cell_at(cells, convert_int3(at.xyz), side);
                $MEET
                far += 1.0f;
                at += ray.way;
                if (at.z >= side || at.x < 0.0f || at.y < 0.0f || at.x >= side || at.y >= side) break;
            }
            $SHADOWS
            image[py * w + px] = (float4)(met, light, gone, far);
        }
        """,
        MEET=meet,
        SHADOWS="""for (int s = 1; s < 16; s++) {
                const float4 there = at + (float4)(0.3f * s, -0.5f * s, 0.1f * s, 0.0f);
                if (cell_at(cells, convert_int3(there.xyz), side) > limit) { light *= 0.5f; break; }
            }"""
        if shadows
        else "",
    )

    def launch(own: Draw, wish: Wish) -> Sized:
        cells = own.log_integer(16, 256)
        w, h = own.log_integer(32, 1024), own.log_integer(32, 1024)
        limit = 1 - 1 / own.log_real(2, 400)
        group = (8, 8) if wish.local else None
        return sized(
            30.0 * w * h * min(cells, 1 / (1 - limit)), (up_to(w, 8), up_to(h, 8)), group,
            {"cells": cells**3, "image": w * h}, {"w": w, "h": h, "side": cells, "most": 2 * cells, "limit": limit},
            {"cells": uniform()},
        )  # fmt: skip

    return Draft(source, "rays_through_cells", launch)


@family("lists_of_neighbours", group="whole_programs", scale=PROGRAM)
def lists_of_neighbours(draw: Draw) -> Draft:
    """Atoms with lists of neighbours: distances, a cut-off, tables by kind, forces and energies together."""
    kinds, slots = draw.choose((2, 4, 8), "kinds"), draw.choose((16, 32, 64), "neighbours at most")
    transposed = draw.chance(0.5, "lists interleaved")
    energy = draw.chance(0.5, "energy")
    source = written(
        """
        #define KINDS $K
        #define SLOTS $S
        kernel void lists_of_neighbours(global const float4 *atoms, global const int *lists, global const int *lengths,
                                        global float4 *forces, constant float2 *table, const int count,
                                        const float edge, const float cut) {
            local float2 laws[KINDS * KINDS];
            for (int k = get_local_id(0); k < KINDS * KINDS; k += get_local_size(0)) laws[k] = table[k];
            barrier(CLK_LOCAL_MEM_FENCE);
            const int me = get_global_id(0);
            if (me >= count) return;
            const float4 mine = atoms[me];
            const int kind = (int)mine.w & (KINDS - 1), many = min(lengths[me], SLOTS);
            float4 force = (float4)(0.0f);
            for (int j = 0; j < many; j++) {
                const float4 other = atoms[lists[$AT]];
                float4 apart = mine - other;
                apart.x -= edge * rint(apart.x / edge);
                apart.y -= edge * rint(apart.y / edge);
                apart.z -= edge * rint(apart.z / edge);
                const float square = apart.x * apart.x + apart.y * apart.y + apart.z * apart.z + 1e-4f;
                if (square < cut * cut) {
                    const float2 law = laws[kind * KINDS + ((int)other.w & (KINDS - 1))];
                    const float r2 = 1.0f / square, r6 = r2 * r2 * r2;
                    const float pull = r6 * (law.x * r6 - law.y) * r2;
                    force.xyz += pull * apart.xyz;
                    $ENERGY
                }
            }
            forces[me] = force;
        }
        """,
        K=kinds, S=slots, AT="j * count + me" if transposed else "me * SLOTS + j",
        ENERGY="force.w += r6 * (law.x * r6 / 12.0f - law.y / 6.0f);" if energy else "",
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        count, group = within(wish.data / 4, 64, (1 << 24) // slots), wish.local or 64
        return sized(
            count * slots * 18.0, (up_to(count, group),), (group,),
            {"atoms": count, "lists": count * slots, "lengths": count, "forces": count, "table": kinds * kinds},
            {"count": count, "edge": 8.0, "cut": own.real(0.5, 2.0)},
            {"lists": randint(0, count), "lengths": randint(slots // 4, slots + 1), "atoms": uniform(0.0, 8.0)},
        )  # fmt: skip

    return Draft(source, "lists_of_neighbours", launch)
