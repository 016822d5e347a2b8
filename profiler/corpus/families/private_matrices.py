"""Small dense problems held by one work-item: inverses, determinants, solves, polynomials over private coefficients."""

from __future__ import annotations

from profiler.corpus.composing.coverage import draw_coverage
from profiler.corpus.composing.drafting import Buffer, Parameter, Parts, Scalar, drafted, each, flat, just, times
from profiler.corpus.composing.hand import Hand
from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, family


def _matrix(draw: Draw, x: str, i: str, n: int, a: str, count: str, shift: str) -> str:
    """Load n x n values of an element, in one of several layouts, with enough on the diagonal."""
    layout = draw.choose(("rows", "rows", "soa"), "layout") if count else "rows"
    j, k = "r2", "c2"
    at = f"{x}[{i} * {n * n} + {j} * {n} + {k}]" if layout == "rows" else f"{x}[({j} * {n} + {k}) * (int){count} + {i}]"
    diagonal = f"{a}[{j}][{j}] += {shift};"
    return (
        f"for (int {j} = 0; {j} < {n}; {j}++) {{\n"
        f"for (int {k} = 0; {k} < {n}; {k}++) {a}[{j}][{k}] = {at};\n{diagonal}\n}}"
    )


@family("small_solve", group="private_arrays")
def small_solve(draw: Draw) -> Draft:
    """Linear systems of 2 to 8 unknowns, one for each item: by elimination, LU, Cholesky, Jacobi or Gauss-Seidel."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    real = draw.weighted({"float": 3.0, "double": 1.0}, "type")
    zero, one = hand.literal(0, real), hand.literal(1, real)
    cover = draw_coverage(draw, hand)
    n = draw.choose((2, 3, 4, 5, 6, 8), "unknowns")
    m, rhs, out, i = hand.name("matrices"), hand.name("right sides"), hand.name("output"), cover.index
    size = hand.constant("order", str(n))
    shift = hand.literal(float(2 * n), real)
    load = _matrix(draw, m, i, n, "a", cover.count, shift)
    ahead = (
        f"for (int p2 = 0; p2 < {size}; p2++) {{\nconst {real} inv2 = {one} / a[p2][p2];\n"
        f"for (int r2 = p2 + 1; r2 < {size}; r2++) {{\n"
        f"const {real} f2 = a[r2][p2] * inv2;\n"
        f"for (int c2 = p2; c2 < {size}; c2++) a[r2][c2] -= f2 * a[p2][c2];\nb[r2] -= f2 * b[p2];\n}}\n}}"
    )
    back = (
        f"for (int r2 = {size} - 1; r2 >= 0; r2--) {{\n{real} t2 = b[r2];\n"
        f"for (int c2 = r2 + 1; c2 < {size}; c2++) t2 -= a[r2][c2] * b[c2];\nb[r2] = t2 / a[r2][r2];\n}}"
    )
    jordan = (
        f"for (int p2 = 0; p2 < {size}; p2++) {{\nconst {real} inv2 = {one} / a[p2][p2];\n"
        f"for (int c2 = p2; c2 < {size}; c2++) a[p2][c2] *= inv2;\nb[p2] *= inv2;\n"
        f"for (int r2 = 0; r2 < {size}; r2++) {{\nif (r2 == p2) continue;\nconst {real} f2 = a[r2][p2];\n"
        f"for (int c2 = p2; c2 < {size}; c2++) a[r2][c2] -= f2 * a[p2][c2];\nb[r2] -= f2 * b[p2];\n}}\n}}"
    )
    pivot = (
        "int best = p2;\n"
        f"for (int r2 = p2 + 1; r2 < {size}; r2++) if (fabs(a[r2][p2]) > fabs(a[best][p2])) best = r2;\n"
        f"if (best != p2) {{\n"
        f"for (int c2 = 0; c2 < {size}; c2++) {{ {real} t2 = a[p2][c2]; a[p2][c2] = a[best][c2]; a[best][c2] = t2; }}\n"
        f"{real} t2 = b[p2];\nb[p2] = b[best];\nb[best] = t2;\n}}\n"
    )
    cholesky = (
        f"for (int r2 = 0; r2 < {size}; r2++) {{\nfor (int c2 = 0; c2 <= r2; c2++) {{\n"
        f"{real} t2 = (a[r2][c2] + a[c2][r2]) * {hand.literal(0.5, real)};\n"
        "if (r2 == c2) t2 = a[r2][r2];\n"
        "for (int k2 = 0; k2 < c2; k2++) t2 -= l2[r2][k2] * l2[c2][k2];\n"
        f"l2[r2][c2] = (r2 == c2) ? sqrt(fmax(t2, {one})) : t2 / l2[c2][c2];\n}}\n}}\n"
        f"for (int r2 = 0; r2 < {size}; r2++) {{\n"
        f"for (int k2 = 0; k2 < r2; k2++) b[r2] -= l2[r2][k2] * b[k2];\nb[r2] /= l2[r2][r2];\n}}\n"
        f"for (int r2 = {size} - 1; r2 >= 0; r2--) {{\n"
        f"for (int k2 = r2 + 1; k2 < {size}; k2++) b[r2] -= l2[k2][r2] * b[k2];\nb[r2] /= l2[r2][r2];\n}}"
    )
    sweeps = draw.choose((4, 8, 16, 40))
    relax = f"{real} t2 = b[r2];\nfor (int c2 = 0; c2 < {size}; c2++) if (c2 != r2) t2 -= a[r2][c2] * y[c2];"
    seidel = (
        f"for (int s2 = 0; s2 < {sweeps}; s2++)\nfor (int r2 = 0; r2 < {size}; r2++) {{\n{relax}\n"
        f"y[r2] = t2 / a[r2][r2];\n}}"
    )
    jacobi = (
        f"{real} z2[{size}];\nfor (int s2 = 0; s2 < {sweeps}; s2++) {{\n"
        f"for (int r2 = 0; r2 < {size}; r2++) {{\n{relax}\nz2[r2] = t2 / a[r2][r2];\n}}\n"
        f"for (int r2 = 0; r2 < {size}; r2++) y[r2] = z2[r2];\n}}"
    )
    methods = {
        "elimination": f"{ahead}\n{back}",
        "pivoting": ahead.replace(f"const {real} inv2", f"{pivot}const {real} inv2", 1) + f"\n{back}",
        "gauss_jordan": jordan,
        "cholesky": f"{real} l2[{size}][{size}];\n{cholesky}",
        "seidel": f"{real} y[{size}];\nfor (int r2 = 0; r2 < {size}; r2++) y[r2] = {zero};\n{seidel}",
        "jacobi": f"{real} y[{size}];\nfor (int r2 = 0; r2 < {size}; r2++) y[r2] = {zero};\n{jacobi}",
    }
    method = draw.choose(tuple(methods), "method")
    answer = "y" if method in {"seidel", "jacobi"} else "b"
    rights = f"{real} b[{size}];\nfor (int r2 = 0; r2 < {size}; r2++) b[r2] = {rhs}[{i} * {size} + r2];"
    sink = draw.choose(("all", "all", "norm", "first"), "result")
    stores = {
        "all": f"for (int r2 = 0; r2 < {size}; r2++) {out}[{i} * {size} + r2] = {answer}[r2];",
        "norm": (
            f"{real} s2 = {zero};\nfor (int r2 = 0; r2 < {size}; r2++) s2 += {answer}[r2] * {answer}[r2];\n"
            f"{out}[{i}] = sqrt(s2);"
        ),
        "first": f"{out}[{i}] = {answer}[0] + {answer}[{n - 1}];",
    }
    body = f"{real} a[{size}][{size}];\n{load}\n{rights}\n{methods[method]}\n{stores[sink]}"
    parameters: list[Parameter] = [
        Buffer(m, real, times(n * n)),
        Buffer(rhs, real, times(n)),
        Buffer(out, real, times(n if sink == "all" else 1), None, True),
    ]
    work = flat(n * n * (3.0 * sweeps if answer == "y" else n * 1.2 + 4))
    parts = Parts((method, f"{n}x{n}"), cover, parameters, body, work, data_per_element=lambda _: float(n * n))
    return drafted(draw, hand, parts)


@family("matrix_inverse_small", group="private_arrays")
def matrix_inverse_small(draw: Draw) -> Draft:
    """Inverses, determinants, products and powers of 2x2, 3x3 and 4x4 matrices written out."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    real = draw.weighted({"float": 3.0, "double": 1.0}, "type")
    cover = draw_coverage(draw, hand)
    n = draw.choose((2, 3, 4), "order")
    source, other, out, i = hand.name("matrices"), hand.name("second input"), hand.name("output"), cover.index
    shift = hand.literal(3.0, real)
    vectors = draw.chance(0.4, "as_vectors") and n == 4
    names = [[f"{'abcd'[r]}{c}" for c in range(n)] for r in range(n)]
    layout = (
        draw.choose(("rows", "soa", "pointer"), "layout") if cover.count else draw.choose(("rows", "pointer"), "layout")
    )
    lines = []
    for r in range(n):
        for c in range(n):
            k = r * n + c
            at = {
                "rows": f"{source}[{i} * {n * n} + {k}]",
                "soa": f"{source}[{k} * (int){cover.count} + {i}]",
                "pointer": f"mat[{k}]",
            }[layout]
            lines.append(f"const {real} {names[r][c]} = {at}{f' + {shift}' if r == c else ''};")
    if layout == "pointer":
        lines.insert(0, f"{hand.globally} const {real} *mat = {source} + (size_t){i} * {n * n};")
    if vectors:
        lines = []
        for r in range(4):
            diagonal = ", ".join(shift if c == r else hand.literal(0, real) for c in range(4))
            lines.append(f"const {real}4 row{r} = vload4({i} * 4 + {r}, {source}) + ({real}4)({diagonal});")
            lines += [f"const {real} {names[r][c]} = row{r}.s{c};" for c in range(4)]

    def minor(rows: list[int], columns: list[int]) -> str:
        """Generate a determinant, expanded along its first row."""
        if len(rows) == 1:
            return names[rows[0]][columns[0]]
        terms = []
        for k, column in enumerate(columns):
            inner = minor(rows[1:], [c for c in columns if c != column])
            wrapped = inner if len(rows) == 2 else f"({inner})"
            terms.append(f"{'-' if k % 2 else '+'} {names[rows[0]][column]} * {wrapped}")
        return " ".join(terms).removeprefix("+ ")

    everything = list(range(n))
    determinant = minor(everything, everything)
    kind = draw.choose(
        ("inverse", "inverse", "determinant", "adjugate", "apply_inverse", "square", "trace_power"), "what"
    )
    store = []
    parameters: list[Parameter] = [Buffer(source, real, times(n * n))]
    per = n * n
    if kind in {"inverse", "adjugate", "apply_inverse"}:
        lines.append(f"const {real} det = {determinant};")
        lines.append(
            f"const {real} inv2 = {hand.literal(1, real)} / (fabs(det) + {hand.literal(0.01, real)});"
            if kind != "adjugate"
            else f"const {real} inv2 = {hand.literal(1, real)};"
        )
        cells = {}
        for r in range(n):
            for c in range(n):
                m = minor([q for q in everything if q != c], [q for q in everything if q != r])
                sign = "-" if (r + c) % 2 else ""
                cells[r, c] = f"{sign}({m}) * inv2"
        if kind == "apply_inverse":
            per = n
            parameters.append(Buffer(other, real, times(n)))
            lines += [f"const {real} v{r} = {other}[{i} * {n} + {r}];" for r in range(n)]
            store = [
                f"{out}[{i} * {n} + {r}] = " + " + ".join(f"{cells[r, c]} * v{c}" for c in range(n)) + ";"
                for r in range(n)
            ]
        else:
            store = [f"{out}[{i} * {n * n} + {r * n + c}] = {cells[r, c]};" for r in range(n) for c in range(n)]
    elif kind == "determinant":
        per = 1
        store = [f"{out}[{i}] = {determinant};"]
    elif kind == "square":
        store = [
            f"{out}[{i} * {n * n} + {r * n + c}] = "
            + " + ".join(f"{names[r][k]} * {names[k][c]}" for k in everything)
            + ";"
            for r in everything
            for c in everything
        ]
    else:
        per = 1
        trace = " + ".join(f"{names[r][k]} * {names[k][r]}" for r in everything for k in everything)
        store = [f"{out}[{i}] = {trace};"]
    parameters.append(Buffer(out, real, times(per), None, True))
    text = "\n".join([*lines, *store])
    work = flat({2: 20.0, 3: 60.0, 4: 250.0}[n])
    return drafted(
        draw, hand, Parts((kind, f"{n}x{n}"), cover, parameters, text, work, data_per_element=lambda _: float(n * n))
    )


@family("polynomial_private", group="private_arrays")
def polynomial_private(draw: Draw) -> Draft:
    """Polynomials over coefficients that each item holds: by Horner, in pairs, with derivatives, by Chebyshev."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    real = draw.weighted({"float": 3.0, "double": 1.0}, "type")
    cover = draw_coverage(draw, hand)
    n = draw.choose((4, 5, 6, 8, 12, 16, 24), "coefficients")
    source, where, out, points, i = (hand.name(r) for r in ("coefficients", "points", "output", "point count", "index"))
    own = draw.chance(0.5, "own_coefficients")
    at = f"{source}[{i} * {n} + k2]" if own else f"{source}[k2]"
    load = f"{real} c2[{n}];\n" + hand.loop("k2", "0", str(n), f"c2[k2] = {at};", unroll=draw.choose((0, 0, n)))
    half, one, two = (hand.literal(v, real) for v in (0.5, 1, 2))
    product = hand.add_product("p2", "t2", "c2[k2]")
    forms = {
        "horner": f"{real} p2 = c2[{n - 1}];\nfor (int k2 = {n - 2}; k2 >= 0; k2--) p2 = {product};",
        "derivative": (
            f"{real} p2 = c2[{n - 1}], d2 = 0;\nfor (int k2 = {n - 2}; k2 >= 0; k2--) {{\nd2 = d2 * t2 + p2;\n"
            f"p2 = {product};\n}}\np2 += d2 * {half};"
        ),
        "powers": (
            f"{real} p2 = c2[0], q2 = t2;\nfor (int k2 = 1; k2 < {n}; k2++) {{\np2 += c2[k2] * q2;\nq2 *= t2;\n}}"
        ),
        "chebyshev": (
            f"{real} e2 = 0, f2 = 0;\nfor (int k2 = {n - 1}; k2 > 0; k2--) {{\n"
            f"const {real} g2 = {two} * t2 * e2 - f2 + c2[k2];\nf2 = e2;\ne2 = g2;\n}}\n"
            f"{real} p2 = t2 * e2 - f2 + c2[0] * {half};"
        ),
        "even_odd": (
            f"const {real} s2 = t2 * t2;\n{real} e2 = 0, o2 = 0;\n"
            f"for (int k2 = {n // 2 * 2 - 2}; k2 >= 0; k2 -= 2) {{\ne2 = e2 * s2 + c2[k2];\n"
            f"o2 = o2 * s2 + c2[k2 + 1];\n}}\n{real} p2 = e2 + t2 * o2;"
        ),
        "casteljau": (
            f"{real} w2[{n}];\nfor (int k2 = 0; k2 < {n}; k2++) w2[k2] = c2[k2];\n"
            f"for (int q2 = {n - 1}; q2 > 0; q2--)\n"
            f"for (int k2 = 0; k2 < q2; k2++) w2[k2] = w2[k2] * ({one} - t2) + w2[k2 + 1] * t2;\n"
            f"{real} p2 = w2[0];"
        ),
        "rational": (
            f"{real} p2 = 0, q2 = 0;\nfor (int k2 = {n - 1}; k2 >= {n // 2}; k2--) p2 = p2 * t2 + c2[k2];\n"
            f"for (int k2 = {n // 2 - 1}; k2 >= 0; k2--) q2 = q2 * t2 + c2[k2];\np2 = p2 / (fabs(q2) + {one});"
        ),
    }
    form = draw.choose(tuple(forms), "form")
    many = draw.chance(0.5, "many_points")
    dear = n * n if form == "casteljau" else n
    parameters: list[Parameter] = [
        Buffer(source, real, times(n) if own else just(n), is_constant=not own and draw.chance(0.3))
    ]
    if many:
        turn = f"const {real} t2 = j2 / ({real})({points}) * {draw.choose((one, half))};"
        body = (
            f"{load}\n{real} total = 0;\nfor (int j2 = 0; j2 < {points}; j2++) {{\n{turn}\n{forms[form]}\n"
            f"total += p2;\n}}\n{out}[{i}] = total / {points};"
        )
        parameters.append(Scalar(points, "int", lambda d: d.log_integer(1, 256)))
        work = lambda s: 3.0 * dear * s.of(points)  # noqa: E731
    else:
        parameters.append(Buffer(where, real, each))
        body = f"{load}\nconst {real} t2 = {where}[{i}] * {half};\n{forms[form]}\n{out}[{i}] = p2;"
        work = flat(4.0 * dear)
    parameters.append(Buffer(out, real, each, None, True))
    parts = Parts(("poly", form), cover, parameters, body, work, data_per_element=lambda _: float(n) if own else 1.0)
    return drafted(draw, hand, parts)
