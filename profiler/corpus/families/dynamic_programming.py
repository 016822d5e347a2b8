"""Steps of tables in which each entry follows from earlier ones."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import hand, literal, loop
from profiler.corpus.writing.sizes import Fills, draft, sized, within_memory
from profiler.corpus.writing.walk import walk


@family("alignment_diagonals", "dynamic_programming")
def alignment_diagonals(draw: Draw) -> Draft:
    """One anti-diagonal of a table that compares two sequences: edits, common subsequences, alignments, warping."""
    habits = hand(draw)
    kind = draw.weighted({"int": 4.0, "float": 2.0, "short": 1.0}, "type")
    way = walk(draw, habits, exact=False)
    goal = draw.choose(("edits", "common", "global", "local", "warp", "affine", "substring"), "goal")
    stored = draw.choose(("table", "three_lines", "skewed"), "stored")
    if kind == "float" and goal in ("edits", "common", "substring"):
        goal = "warp"
    if kind != "float" and goal == "warp":
        goal = "edits"
    letter = draw.choose(("uchar", "int", "char"), "letters") if goal != "warp" else "float"
    row = "const int r = first + (int)i + 1, c = d - r + 1;\n"
    reads = {
        "table": (
            "h[(r - 1) * pitch + c - 1]",
            "h[(r - 1) * pitch + c]",
            "h[r * pitch + c - 1]",
            "h[r * pitch + c] = best;",
        ),
        "three_lines": ("before2[r - 1]", "before1[r - 1]", "before1[r]", "now[r] = best;"),
        "skewed": (
            "h[(d % 3) * pitch + r - 1]",
            "h[((d + 1) % 3) * pitch + r - 1]",
            "h[((d + 1) % 3) * pitch + r]",
            "now[r] = best;",
        ),
    }[stored]
    corner, above, left, store = reads
    load = f"const {kind} corner = {corner}, above = {above}, left = {left};\n"
    same = "a[r - 1] == b[c - 1]"
    zero, one, two = literal(0, kind), literal(1, kind), literal(2, kind)
    low, high = ("fmin", "fmax") if kind == "float" else ("min", "max")
    cast = f"({kind})" if kind == "short" else ""
    table = draw.chance(0.3, "scores_table") and goal in ("global", "local", "affine") and letter != "float"
    score = "scores[(a[r - 1] & 15) * 16 + (b[c - 1] & 15)]" if table else f"({same} ? {two} : -{one})"
    best = {
        "edits": f"{low}({cast}({low}(above, left) + {one}), {cast}(corner + ({same} ? {zero} : {one})))",
        "common": f"({same} ? corner + {one} : {high}(above, left))",
        "substring": f"({same} ? corner + {one} : {zero})",
        "global": f"{high}({cast}(corner + {score}), {cast}({high}(above, left) - {one}))",
        "local": f"{high}(({kind}){zero}, {cast}{high}({cast}(corner + {score}), {cast}({high}(above, left) - {one})))",
        "warp": f"{literal(0.5, kind)} * fmin(corner, fmin(above, left)) + fabs(a[r - 1] - b[c - 1])",
        "affine": f"{high}({cast}(corner + {score}), {cast}{high}(gap_a[r], gap_b[r]))",
    }[goal]
    if draw.chance(0.4, "branches") and goal in ("edits", "common"):
        text = (
            f"{row}{load}{kind} best;\nif ({same})\n    best = corner{' + 1' if goal == 'common' else ''};\nelse\n"
            f"    best = {f'{high}(above, left)' if goal == 'common' else f'1 + {low}(corner, {low}(above, left))'}"
            f";\n{store}"
        )
    else:
        text = f"{row}{load}const {kind} best = {best};\n{store}"
    if goal == "affine":
        text += (
            f"\ngap_a[r] = {cast}{high}(gap_a[r] - {one}, above - {two});\n"
            f"gap_b[r] = {cast}{high}(gap_b[r] - {one}, left - {two});"
        )
        text = text.replace(
            f"gap_a[r] = {cast}{high}(gap_a[r] - {one}", f"gap_a[r] = {cast}{high}({cast}(gap_a[r] / 2)"
        ).replace(f"{high}(gap_b[r] - {one}", f"{high}({cast}(gap_b[r] / 2)")
        text = text.replace(f", above - {two})", f", {cast}(above - {two}))").replace(
            f", left - {two})", f", {cast}(left - {two}))"
        )
    if draw.chance(0.25, "traced"):
        text += "\ntrace[r] = best == corner ? 0 : best == above ? 1 : 2;"
    names = [
        habits.takes(letter, "a"),
        habits.takes(letter, "b"),
        f"{habits.space} {kind} *h",
        habits.takes(kind, "before1"),
        habits.takes(kind, "before2"),
    ]
    names += [
        habits.gives(kind, "now"),
        f"{habits.space} {kind} *gap_a",
        f"{habits.space} {kind} *gap_b",
        habits.gives("uchar", "trace"),
    ]
    names += [
        f"{habits.fixed} {kind} *scores",
        habits.number("d", "int"),
        habits.number("first", "int"),
        habits.number("pitch", "int"),
        habits.number("n"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        side = max(2, int(within_memory(w.data, 6) ** 0.5)) if stored == "table" else within_memory(w.data, 30)
        length = max(1, int(side * d.log_real(0.2, 1)))
        size = way.size(w, 1, min(length, side))
        count = size.count
        # The cells (first + i + 1, d - first - i) lie on the diagonal; columns are at least 1.
        first = d.integer(0, 10) if d.chance(0.3) else 0
        diagonal = first + count
        pitch = diagonal + 2
        rows = first + count + 1
        lines = dict.fromkeys(("before1", "before2", "now", "gap_a", "gap_b", "trace"), rows + 1)
        buffers = {
            "a": rows,
            "b": diagonal + 1,
            "h": (rows + 1) * pitch if stored == "table" else 3 * pitch + 1,
            "scores": 256,
        } | lines
        letters: Fills = {} if letter == "float" else {"a": ("randint", 0, 4), "b": ("randint", 0, 4)}
        if kind != "float":
            letters["scores"] = ("randint", -2, 5)
        return sized(
            size.global_size,
            size.local_size,
            size.done * 16.0,
            buffers,
            {"d": diagonal, "first": first, "pitch": pitch, "n": count},
            letters,
        )

    return draft(habits, "diagonal", names, way.write(text), launch)


@family("intervals_and_bands", "dynamic_programming")
def intervals_and_bands(draw: Draw) -> Draft:
    """Tables over intervals, a diagonal at a time; whole small tables in private arrays; bands of long ones."""
    habits = hand(draw)
    kind = draw.weighted({"int": 3.0, "float": 2.0}, "type")
    way = walk(draw, habits, exact=draw.chance(0.3))
    goal = draw.choose(
        (
            "chain",
            "chain",
            "tree",
            "private_edits",
            "private_common",
            "band_warp",
            "increasing",
            "palindrome",
            "stones",
        ),
        "goal",
    )
    side = draw.choose((8, 16, 32), "side")
    low, high = ("fmin", "fmax") if kind == "float" else ("min", "max")
    shift = " * 0.5f" if kind == "float" else " / 2"
    if goal in ("chain", "tree", "stones"):
        term = {
            "chain": "m[a * pitch + s] + m[(s + 1) * pitch + b] + p[a] * p[s + 1] * p[b + 1]",
            "tree": "m[a * pitch + s] + m[(s + 1) * pitch + b] + p[s]",
            "stones": "m[a * pitch + s] + m[(s + 1) * pitch + b]",
        }[goal]
        test = draw.choose(
            (f"best = {low}(best, {term});", f"const {kind} c = {term};\nif (c < best)\n    best = c;"), "test"
        )
        first = (
            term.replace("(s + 1)", "(a + 1)")
            .replace("p[s + 1]", "p[a + 1]")
            .replace("+ s]", "+ a]")
            .replace("p[s]", "p[a]")
        )
        last = "best" if goal == "chain" else "best + (p[b + 1] > p[a] ? p[b + 1] - p[a] : p[a])"
        body = (
            f"const int a = i, b = i + span;\n{kind} best = {first};\n"
            f"{loop(draw, 's', 'a + 1', 'b', test)}out[a * (size_t)pitch + b] = ({last}){shift};"
        )
    elif goal in ("private_edits", "private_common"):
        other = "x != y[(size_t)i * W + c - 1]"
        step = (
            f"const {kind} t = row[c];\nrow[c] = {low}({low}(row[c], row[c - 1]) + 1, corner + ({other}));\ncorner = t;"
        )
        if goal == "private_common":
            step = (
                f"const {kind} t = row[c];\n"
                f"row[c] = x == y[(size_t)i * W + c - 1] ? corner + 1 : {high}(row[c], row[c - 1]);\ncorner = t;"
            )
        begin = "c" if goal == "private_edits" else "0"
        body = (
            f"{kind} row[W + 1];\nfor (int c = 0; c <= W; c++)\n    row[c] = {begin};\n"
            f"for (int r = 0; r < length; r++) {{\n    const int x = word[r];\n"
            f"    {kind} corner = row[0];\n    row[0] = {'r + 1' if goal == 'private_edits' else '0'};\n"
            f"{loop(draw, 'c', '1', 'W + 1', step)}}}\nline[i] = row[W];"
        )
    elif goal == "band_warp":
        body = (
            f"{kind} band[W];\nfor (int c = 0; c < W; c++)\n    band[c] = 0;\nfor (int r = 0; r < length; r++) {{\n"
            f"    {kind} left = 1000;\n    for (int c = 0; c < W; c++) {{\n"
            f"        const {kind} d = p[r] - q[(size_t)i + r + c];\n"
            f"        const {kind} up = c + 1 < W ? band[c + 1] : 1000;\n"
            f"        left = {low}({low}(left, up), band[c]){shift} + (d < 0 ? -d : d);\n"
            f"        band[c] = left;\n    }}\n}}\nline[i] = band[W / 2];"
        )
    elif goal == "increasing":
        body = (
            "int tops[W];\nint size = 0;\nfor (int r = 0; r < length; r++) {\n"
            "    const int v = (int)(q[(size_t)i + r] * 16);\n    int at = 0;\n"
            "    while (at < size && tops[at] < v)\n        at++;\n    if (at < W) {\n"
            "        tops[at] = v;\n        size = max(size, at + 1);\n    }\n}\nline[i] = size;"
        )
    else:
        body = (
            "int best = 0;\nfor (int even = 0; even < 2; even++) {\n    int reach = 0;\n"
            "    while (reach < length && (int)i - reach >= 0 && i + reach + "
            "even < (int)letters && text[i - reach] == text[i + reach + even])\n"
            "        reach++;\n    best = max(best, reach);\n}\nline[i] = best;"
        )
        body = body.replace("i + reach", "(int)i + reach").replace("i - reach]", "(int)i - reach]")
    names = [
        habits.takes(kind, "m"),
        habits.takes(kind, "p"),
        habits.takes(kind, "q"),
        habits.gives(kind, "out"),
        habits.gives(kind, "line"),
    ]
    names += [
        habits.takes("uchar", "word"),
        habits.takes("uchar", "y"),
        habits.takes("uchar", "text"),
        habits.number("span", "int"),
        habits.number("pitch", "int"),
    ]
    names += [habits.number("length", "int"), habits.number("letters", "int"), habits.number("n")]
    spans = goal in ("chain", "tree", "stones")

    def launch(d: Draw, w: Wish) -> Sized:
        if spans:
            pitch = max(3, int(within_memory(w.data, 10) ** 0.5))
            span = d.integer(1, max(1, pitch // 2))
            size = way.size(
                Wish(min(w.items, 2000), w.data, w.local) if way.kind == "exact" else w, 16, pitch - span - 1
            )
            pitch = size.count + span + 1
            table = pitch * pitch
            scalars = {"span": span, "pitch": pitch, "n": size.count}
            return sized(
                size.global_size,
                size.local_size,
                size.done * (8.0 + 9 * span),
                {"m": table, "out": table, "p": pitch + 1},
                scalars,
            )
        width = side if goal.startswith("private") else 1
        size = way.size(w, 12.0 + width, max(1, w.data // width))
        length = d.log_integer(1, 300)
        buffers = {
            "word": length,
            "y": size.count * side,
            "line": size.count,
            "p": length,
            "q": size.count + length + side,
            "text": size.count,
        }
        fills: Fills = {
            "word": ("randint", 0, 4),
            "y": ("randint", 0, 4),
            "text": ("randint", 0, d.choose((1, 2, 4)) + 1) if d.chance(0.8) else ("const", 1),
        }
        scalars = {"length": length, "letters": size.count, "n": size.count}
        cost = {"palindrome": 20.0, "increasing": 8.0 * length * min(side, 6)}.get(goal, 10.0 * length * side)
        return sized(size.global_size, size.local_size, size.done * cost, buffers, scalars, fills)

    return draft(
        habits, "fill_table", names, way.write(body), launch, before=f"#define W {side}" if "W" in body else ""
    )
