"""Small systems, one an item, and Kronecker products."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out, literal
from profiler.corpus.writing.ndrange import affordable, line, plane, sized, slack
from profiler.corpus.writing.types import bytes_of

KINDS = {"float": 5.0, "double": 2.0}


@family("small_dense_solve", group="dense")
def small_dense_solve(draw: Draw) -> Draft:
    """Each item solves a system of its own in private arrays; a heavy diagonal keeps the results small."""
    hand = Hand(draw)
    kind = draw.weighted(KINDS, "type")
    method = draw.choose(("elimination", "pivoting", "cholesky", "sweeps", "three diagonals", "inverse"), "method")
    order = draw.choose((4, 8, 16, 32) if method == "three diagonals" else (2, 3, 4, 5, 6, 8, 10), "order")
    n = draw.choose((str(order), "ORDER"))
    is_soa = draw.chance(0.5, "structure of arrays")
    one, zero, heavy = literal(kind, 1), literal(kind, 0), literal(kind, 2 * order)
    elements = 3 * order if method == "three diagonals" else order * order
    at = "a[({e}) * count + s]" if is_soa else f"a[s * {elements} + {{e}}]"
    right = "b[i * count + s]" if is_soa else f"b[s * {n} + i]"
    out = "x[i * count + s]" if is_soa else f"x[s * {n} + i]"
    rounds = draw.choose((2, 4, 8, 16))
    load = f"""{kind} m[{n}][{n}], v[{n}];
    for (int i = 0; i < {n}; ++i) {{
    for (int j = 0; j < {n}; ++j) {{
    m[i][j] = {at.format(e=f"i * {n} + j")};
    }}
    m[i][i] += {heavy};
    v[i] = {right};
    }}"""
    pivot = f"""int best = c;
    for (int r = c + 1; r < {n}; ++r) {{
    if (fabs(m[r][c]) > fabs(m[best][c])) {{
    best = r;
    }}
    }}
    if (best != c) {{
    for (int j = 0; j < {n}; ++j) {{
    const {kind} kept = m[c][j];
    m[c][j] = m[best][j];
    m[best][j] = kept;
    }}
    const {kind} kept = v[c];
    v[c] = v[best];
    v[best] = kept;
    }}"""
    eliminate = f"""for (int c = 0; c < {n}; ++c) {{
    {pivot if method == "pivoting" else ""}
    for (int r = c + 1; r < {n}; ++r) {{
    const {kind} factor = m[r][c] / m[c][c];
    for (int j = c; j < {n}; ++j) {{
    m[r][j] -= factor * m[c][j];
    }}
    v[r] -= factor * v[c];
    }}
    }}
    for (int i = {n} - 1; i >= 0; --i) {{
    for (int j = i + 1; j < {n}; ++j) {{
    v[i] -= m[i][j] * v[j];
    }}
    v[i] /= m[i][i];
    }}"""
    cholesky = f"""for (int c = 0; c < {n}; ++c) {{
    for (int r = c; r < {n}; ++r) {{
    {kind} sum = {literal(kind, 0.5)} * (m[r][c] + m[c][r]);
    for (int k = 0; k < c; ++k) {{
    sum -= m[r][k] * m[c][k];
    }}
    m[r][c] = r == c ? sqrt(fmax(sum, {literal(kind, 0.01)})) : sum / m[c][c];
    }}
    }}
    for (int i = 0; i < {n}; ++i) {{
    for (int k = 0; k < i; ++k) {{
    v[i] -= m[i][k] * v[k];
    }}
    v[i] /= m[i][i];
    }}
    for (int i = {n} - 1; i >= 0; --i) {{
    for (int k = i + 1; k < {n}; ++k) {{
    v[i] -= m[k][i] * v[k];
    }}
    v[i] /= m[i][i];
    }}"""
    sweeps = f"""{kind} w[{n}];
    for (int i = 0; i < {n}; ++i) {{
    w[i] = {zero};
    }}
    for (int sweep = 0; sweep < {rounds}; ++sweep) {{
    for (int i = 0; i < {n}; ++i) {{
    {kind} sum = v[i];
    for (int j = 0; j < {n}; ++j) {{
    sum -= j == i ? {zero} : m[i][j] * w[j];
    }}
    w[i] = sum / m[i][i];
    }}
    }}
    for (int i = 0; i < {n}; ++i) {{
    v[i] = w[i];
    }}"""
    inverse = f"""for (int c = 0; c < {n}; ++c) {{
    const {kind} scale = {one} / m[c][c];
    m[c][c] = {one};
    for (int j = 0; j < {n}; ++j) {{
    m[c][j] *= scale;
    }}
    for (int r = 0; r < {n}; ++r) {{
    if (r != c) {{
    const {kind} factor = m[r][c];
    m[r][c] = {zero};
    for (int j = 0; j < {n}; ++j) {{
    m[r][j] -= factor * m[c][j];
    }}
    }}
    }}
    }}
    {kind} w[{n}];
    for (int i = 0; i < {n}; ++i) {{
    w[i] = {zero};
    for (int j = 0; j < {n}; ++j) {{
    {hand.add_product("w[i]", "m[i][j]", "v[j]", kind)}
    }}
    }}
    for (int i = 0; i < {n}; ++i) {{
    v[i] = w[i];
    }}"""
    low, middle, high = (at.format(e=f"i * 3 + {k}") for k in range(3))
    diagonals = f"""{kind} c[{n}], v[{n}];
    {kind} before = {zero}, known = {zero};
    for (int i = 0; i < {n}; ++i) {{
    const {kind} left = i > 0 ? {low} : {zero};
    const {kind} pivot = {middle} + {literal(kind, 4)} - left * before;
    c[i] = {high} / pivot;
    v[i] = ({right} - left * known) / pivot;
    before = c[i];
    known = v[i];
    }}
    for (int i = {n} - 2; i >= 0; --i) {{
    v[i] -= c[i] * v[i + 1];
    }}"""
    solve = {"cholesky": cholesky, "sweeps": sweeps, "inverse": inverse}.get(method, eliminate)
    store = f"for (int i = 0; i < {n}; ++i) {{\n{out} = v[i];\n}}"
    body = f"{diagonals}\n{store}" if method == "three diagonals" else f"{load}\n{solve}\n{store}"
    cover = hand.cover("s", "count", lambda _: body)
    head = hand.signature(
        "solve_small", [hand.reads(kind, "a"), hand.reads(kind, "b"), hand.writes(kind, "x"), *hand.counts("count")]
    )
    define = f"#define ORDER {order}\n" if n == "ORDER" else ""

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind) * (elements + 2 * order)
        size = line(wish, each)
        (count,) = cover.fit(size, affordable(max(1, wish.data // elements), each))
        lengths = {"a": count * elements, "b": slack(draw, count * order), "x": count * order}
        cubes = {"sweeps": 4.0 * rounds * order**2, "three diagonals": 30.0 * order, "inverse": 4.0 * order**3}
        work = cubes.get(method, 1.6 * order**3) + 12 * order**2
        return sized(size, cover.done(size, (count,)) * work + size.items, lengths, {"count": count})

    return Draft(lay_out(f"{define}{head}\n{{\n{cover.text}\n}}"), "solve_small", launch)


@family("kronecker_product", group="dense")
def kronecker_product(draw: Draw) -> Draft:
    """Every element of one matrix times all of another, from either side's indices; or the sum of both on diagonals."""
    hand = Hand(draw)
    kind = draw.weighted({**KINDS, "int": 1.0, "short": 0.4, "float2": 0.8}, "type")
    form = draw.choose(("product", "sum", "column pairs", "blend"), "form")
    mapped = hand.mapping(kind, 0.35)
    turned, uses_powers = draw.chance(0.3, "turned"), draw.chance(0.3, "powers of two")
    rows_b, columns_b = ("1 << log_rows", "1 << log_columns") if uses_powers else ("rows_b", "columns_b")
    split = draw.choose(("division", "remainder from division"), "split") if not uses_powers else "shift"
    cut = {
        "shift": ("{v} >> {l}", "{v} & ((1 << {l}) - 1)"),
        "division": ("{v} / {n}", "{v} % {n}"),
        "remainder from division": ("{v} / {n}", "{v} - {v} / {n} * {n}"),
    }[split]

    def declare(v: str, n: str, shift: str, names: tuple[str, str]) -> str:
        parts = zip(names, cut, strict=True)
        return "\n".join(f"const {hand.index} {name} = {text.format(v=v, n=n, l=shift)};" for name, text in parts)

    left = "a[ja * rows_a + ia]" if turned else "a[ia * columns_a + ja]"
    right = f"b[ib * ({columns_b}) + jb]"
    zero = literal(kind, 0)

    def cell(j: str, i: str) -> str:
        indices = (
            declare(i, rows_b, "log_rows", ("ia", "ib")) + "\n" + declare(j, columns_b, "log_columns", ("ja", "jb"))
        )
        to = f"c[{i} * columns_a * ({columns_b}) + {j}]"
        value = {
            "product": mapped(f"{left} * {right}"),
            "sum": f"(ib == jb ? {left} : {zero}) + (ia == ja ? {right} : {zero})",
            "column pairs": f"ja == jb ? {left} * {right} : {zero}",
            "blend": f"{left} * {right} + {to} * {literal(kind.rstrip('2'), 0.5)}",
        }[form]
        return f"{indices}\n{to} = {value};"

    ends = ("j", f"(columns_a * ({columns_b}))"), ("i", f"(rows_a * ({rows_b}))")
    cover = hand.cover_plane(*ends, cell, may_be_exact=False)
    extra = ["log_rows", "log_columns"] if uses_powers else ["rows_b", "columns_b"]
    buffers = [hand.reads(kind, "a"), hand.reads(kind, "b"), hand.writes(kind, "c")]
    head = hand.signature("kronecker", [*buffers, *hand.counts("rows_a", "columns_a", *extra)])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = (plane if cover.dimensions == 2 else line)(wish)
        left_over = affordable(wish.data, 1.2 * each)
        counts = []
        for _ in range(4):
            counts.append(draw.log_integer(1, max(1, min(512, left_over))))
            left_over //= counts[-1]
        rows_a, columns_a, rows, columns = draw.shuffled(counts)
        logs = rows.bit_length() - 1, columns.bit_length() - 1
        if uses_powers:
            rows, columns = 1 << logs[0], 1 << logs[1]
        scalars = {"rows_a": rows_a, "columns_a": columns_a}
        scalars |= dict(zip(extra, logs if uses_powers else (rows, columns), strict=True))
        wide, high = columns_a * columns, rows_a * rows
        lengths = {"a": rows_a * columns_a, "b": rows * columns, "c": wide * high}
        return sized(size, cover.done(size, (wide, high)) * 14 + size.items, lengths, scalars)

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "kronecker", launch)
