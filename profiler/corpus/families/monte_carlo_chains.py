"""Chains, queues and resampling, one an item."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.monte_carlo import generator, trials_size
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import finish_value, hand, loop
from profiler.corpus.writing.sizes import Fills, draft, sized
from profiler.corpus.writing.walk import walk


@family("resampling", "monte_carlo")
def resampling(draw: Draw) -> Draft:
    """Bootstrap statistics, reservoirs, shuffles and draws by weight."""
    habits, random = hand(draw), generator(draw)
    way = walk(draw, habits)
    u, b = random.uniform, random.bits
    pick = draw.choose((f"{b} % (uint)samples", f"(uint)({u} * (float)samples)", f"mul_hi({b}, (uint)samples)"), "pick")
    pick = f"min({pick}, (uint)samples - 1u)"
    form = draw.choose(
        ("mean", "variance", "max", "correlation", "weights_linear", "weights_search", "alias", "reservoir", "shuffle"),
        "form",
    )
    small = draw.choose((8, 16, 32), "private")
    search = f"""const float wanted = {u} * 100.0f;
int low = 0, high = samples;
while (low < high) {{
    const int middle = (low + high) / 2;
    if (sums[middle] < wanted) low = middle + 1;
    else high = middle;
}}
sum += others[min(low, samples - 1)];"""
    each = {
        "mean": f"sum += values[{pick}];",
        "variance": f"const float v = values[{pick}];\nsum += v;\nsquares = mad(v, v, squares);",
        "max": f"sum = fmax(sum, values[{pick}]);",
        "correlation": f"const uint at = {pick};\nsum += values[at] * others[at];",
        "weights_search": search,
        "alias": f"const uint at = {pick};\nsum += {u} < values[at] - 0.5f ? others[at] : others[alias[at]];",
        "reservoir": f"if ({u} * (float)(t + 1) < 1.0f)\n    sum = values[t % samples];",
    }.get(form, "")
    if form == "weights_linear":
        body = f"""float left = {u} * limit * 100.0f;
int k = 0;
while (k < samples - 1 && left > 0.0f && k < trials) {{
    left -= values[k];
    k++;
}}
out[i] = others[k];"""
    elif form == "shuffle":
        body = f"""uchar order[{small}];
for (int k = 0; k < {small}; k++)
    order[k] = k;
for (int k = {small - 1}; k > 0; k--) {{
    const uint j = {b} % (uint)(k + 1);
    const uchar held = order[k];
    order[k] = order[j];
    order[j] = held;
}}
float sum = 0.0f;
for (int k = 0; k < {small}; k++)
    sum += values[order[k] % samples] * (float)k;
out[i] = sum;"""
    else:
        squares = "squares / (float)trials - sum * sum / ((float)trials * (float)trials)"
        last = {"variance": squares, "max": "sum", "reservoir": "sum"}.get(form, "sum / (float)trials")
        variables = "float sum = 0.0f, squares = 0.0f;\n" if form == "variance" else "float sum = 0.0f;\n"
        body = f"{variables}{loop(draw, 't', '0', 'trials', each)}out[i] = {last};"
    names = [
        habits.takes("float", "values"),
        habits.takes("float", "others"),
        habits.takes("float", "sums"),
        habits.takes("int", "alias"),
    ]
    names += [
        habits.gives("float", "out"),
        habits.number("samples", "int"),
        habits.number("trials", "int"),
        habits.number("limit", "float"),
    ]
    names += [habits.number("seed", "uint"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(w, 4, min(w.data, d.log_integer(1, 1 << 22)))
        samples = d.log_integer(1, 1 << 22)
        trials = d.log_integer(1, 2000)
        scalars = {"samples": samples, "trials": trials, "limit": 0.5, "seed": d.integer(1, 1 << 30), "n": size.count}
        fills: Fills = {"sums": ("sorted", 0.0, 100.0), "alias": ("randint", 0, samples)}
        buffers = dict.fromkeys(("values", "others", "sums", "alias"), samples) | {"out": size.count}
        times = {"shuffle": small, "weights_linear": min(trials, 25)}.get(form, trials)
        cost = random.cost + 6 + (5 * samples.bit_length() if form == "weights_search" else 0)
        return sized(size.global_size, size.local_size, size.done * (6 + times * cost), buffers, scalars, fills)

    return draft(habits, "resample", names, way.write(f"{random.begin}\n{body}"), launch, before=random.before)


@family("markov_chains", "monte_carlo")
def markov_chains(draw: Draw) -> Draft:
    """Metropolis chains, queues, rejection sampling and annealing, one chain an item."""
    habits, random = hand(draw), generator(draw)
    way = walk(draw, habits)
    u, b = random.uniform, random.bits
    form = draw.choose(
        ("metropolis", "metropolis2", "queue", "rejection", "annealing", "gibbs", "gillespie", "table"), "form"
    )
    shape = finish_value(draw, "y", "float", 3)
    body = {
        "metropolis": (f"float x = 0.5f, p = 0.5f, sum = 0.0f;\nfor (int t = 0; t < trials; t++) {{\n"
f"const float y = clamp(x + limit * (2.0f * {u} - 1.0f), 0.05f, 4.0f);\n"
f"const float q = fabs({shape}) + 0.05f;\nif ({u} * p < q) {{\n"
f"    x = y;\n    p = q;\n}}\nsum += x;\n}}\nout[i] = sum / (float)trials;"),
        "metropolis2": (f"float2 x = (float2)(0.0f);\nint taken = 0;\nfor (int t = 0; t < trials; t++) {{\n"
f"const float2 y = x + (float2)({u} - 0.5f, {u} - 0.5f);\n"
f"if (log({u} + 1e-6f) < 0.5f * (dot(x, x) - dot(y, y))) {{\n    x = y;\n    taken++;\n}}\n}}\nout[i] = (float)taken;"),
        "queue": ("float clock = 0.0f, free = 0.0f, waited = 0.0f;\n"
f"for (int t = 0; t < trials; t++) {{\nclock += -log({u} + 1e-6f);\n"
"const float start = fmax(clock, free);\nwaited += start - clock;\n"
f"free = start - limit * log({u} + 1e-6f);\n}}\nout[i] = waited / (float)trials;"),
        "rejection": (f"float sum = 0.0f;\nfor (int t = 0; t < trials; t++) {{\nfloat y = {u};\nint tries = 0;\n"
f"while ({u} > fabs({shape}) && tries < 20) {{\n    y = {u};\n"
f"    tries++;\n}}\nsum += y;\n}}\nout[i] = sum / (float)trials;"),
        "annealing": (f"float x = 1.0f, heat = 1.0f, best = 1000.0f;\nfor (int t = 0; t < trials; t++) {{\n"
f"const float y = x + heat * (2.0f * {u} - 1.0f);\nconst float gain = fabs(y - limit) - fabs(x - limit);\n"
f"if (gain < 0.0f || {u} < exp(-fmin(gain / heat, 20.0f)))\n    x = y;\n"
f"best = fmin(best, fabs(x - limit) + 0.001f);\nheat = fmax(heat * 0.99f, 0.01f);\n}}\nout[i] = best;"),
        "gibbs": (f"float x = 0.5f, y = 0.5f;\nfor (int t = 0; t < trials; t++) {{\n"
f"x = limit * y + sqrt(-log({u} + 1e-6f));\n"
f"y = limit * x - sqrt(-log({u} + 1e-6f));\nx = clamp(x, -8.0f, 8.0f);\n"
f"y = clamp(y, -8.0f, 8.0f);\n}}\nout[i] = x + y;"),
        "gillespie": (f"float clock = 0.0f;\nint a = 100, c = 0;\nfor (int t = 0; t < trials && a > 0; t++) {{\n"
"const float rate = (float)a * limit + (float)c * 0.1f + 0.1f;\n"
f"clock += -log({u} + 1e-6f) / rate;\nif ({u} * rate < (float)a * limit) {{\n    a--;\n"
f"    c++;\n}} else if (c > 0) {{\n    c--;\n    a++;\n}}\n}}\nout[i] = clock;"),
        "table": (f"int at = (int)({b} % 8u);\nint visits = 0;\n"
f"for (int t = 0; t < trials; t++) {{\nconst float x = {u};\nint next = 0;\n"
"while (next < 7 && x > moves[at * 8 + next])\n    next++;\n"
f"at = next;\nvisits += at == 3;\n}}\nout[i] = (float)visits;"),
    }[form]  # fmt: skip
    names = [
        habits.gives("float", "out"),
        f"{habits.fixed} float *moves",
        habits.number("trials", "int"),
        habits.number("limit", "float"),
    ]
    names += [habits.number("seed", "uint"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        made = trials_size(d, w, way, 4, 2 * random.cost + 35)
        kept = made.launch
        buffers = {**dict(kept.buffers), "moves": 64}
        return sized(
            kept.global_size,
            kept.local_size,
            made.operations,
            buffers,
            dict(kept.scalars),
            {"moves": ("uniform", 0.0, 1.0)},
        )

    return draft(habits, "run_chain", names, way.write(f"{random.begin}\n{body}"), launch, before=random.before)
