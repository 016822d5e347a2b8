"""Distances between points and centres."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out, literal
from profiler.corpus.writing.ndrange import affordable, line, plane, sized, slack
from profiler.corpus.writing.types import bytes_of

KINDS = {"float": 5.0, "double": 2.0}


@family("nearest_centre", group="dense")
def nearest_centre(draw: Draw) -> Draft:
    """Distances or similarities of points to centres: all of them, or the nearest one's number."""
    hand = Hand(draw)
    kind = draw.weighted({**KINDS, "int": 0.7, "float4": 1.5}, "type")
    scalar = kind.rstrip("4")
    measures = (
        ("square", "absolute", "largest", "cosine", "product") if scalar == kind else ("square", "cosine", "product")
    )
    measure = draw.choose(measures if kind != "int" else ("square", "absolute", "largest", "product"), "measure")
    wants = draw.choose(("nearest", "nearest", "nearest and count", "all"), "wants")
    by_feature = draw.chance(0.4, "features apart")
    point = "x[{d} * points + i]" if by_feature else "x[i * features + {d}]"
    centre = "centres[c * features + {d}]"
    zero, small = literal(scalar, 0), literal(scalar, 0.001)

    def both(p: str, q: str) -> str:
        return f"dot({p}, {q})" if scalar != kind else f"{p} * {q}"

    fast = draw.chance(0.3, "leaves early") and measure in ("square", "absolute") and wants != "all"

    def term(d: str) -> str:
        p, q = point.format(d=d), centre.format(d=d)
        magnitude = f"abs_diff({p}, {q})" if kind == "int" else f"fabs({p} - {q})"
        return {
            "square": f"const {kind} e = {p} - {q};\nsum += {both('e', 'e')};",
            "absolute": f"sum += {magnitude};",
            "largest": f"sum = max(sum, ({scalar}){magnitude});",
            "product": f"sum -= {both(p, q)};",
            "cosine": f"const {kind} p = {p};\nconst {kind} q = {q};\nsum -= {both('p', 'q')};\n"
            f"pp += {both('p', 'p')};\nqq += {both('q', 'q')};",
        }[measure]

    norms = f"\n{scalar} pp = {zero}, qq = {zero};" * (measure == "cosine")
    loop = hand.loop("d", "0", "features", term)
    if fast:
        loop = f"for ({hand.index} d = 0; d < features; ++d) {{\n{term('d')}\nif (sum > best) {{\nbreak;\n}}\n}}"
    score = f"sum / sqrt(pp * qq + {small})" if measure == "cosine" else "sum"
    distance = f"{scalar} sum = {zero};{norms}\n{loop}\nconst {scalar} score = {score};\n"
    if wants == "all":
        body = f"{distance}out[i * clusters + c] = score;"
        cover = hand.cover_plane(("c", "clusters"), ("i", "points"), lambda c, i: body, may_be_exact=False)
    else:
        better = draw.choose(("if", "ternary"))
        pick = "if (score < best) {\nbest = score;\nown = c;\n}"
        if better == "ternary":
            pick = "own = score < best ? (int)c : own;\nbest = min(best, score);"
        scan = f"for ({hand.index} c = 0; c < clusters; ++c) {{\n{distance}{pick}\n}}"
        count = "\natomic_inc(&members[own]);" if "count" in wants else ""
        body = f"{scalar} best = {literal(scalar, 1_000_000_000)};\nint own = 0;\n{scan}\nlabel[i] = own;{count}"
        cover = hand.cover("i", "points", lambda _: body)
    buffers = [hand.reads(kind, "x"), hand.reads(kind, "centres")]
    buffers.append(hand.writes(scalar, "out") if wants == "all" else hand.writes("int", "label"))
    buffers += [hand.writes("int", "members")] * ("count" in wants)
    head = hand.signature("nearest", [*buffers, *hand.counts("points", "clusters", "features")])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = (plane if cover.dimensions == 2 else line)(wish, each + 4)
        data = affordable(wish.data, 1.4 * each)
        features = draw.log_integer(1, min(data, 256))
        points = max(1, data // features)
        clusters = draw.log_integer(1, min(1024, affordable(1024, bytes_of(scalar) * points, 40_000_000)))
        if cover.is_exact:
            (points,) = cover.fit(size, points)
            features = max(1, min(features, 120_000_000 // (each * points)))
        done = cover.done(size, (clusters, points)) if wants == "all" else cover.done(size, (points,)) * clusters
        lengths = {"x": slack(draw, points * features), "centres": clusters * features}
        lengths |= {"out": points * clusters} if wants == "all" else {"label": points}
        lengths |= {"members": clusters} if "count" in wants else {}
        cost = (10 if measure == "cosine" else 5) * each / 4
        scalars = {"points": points, "clusters": clusters, "features": features}
        return sized(size, done * (features * cost * (0.6 if fast else 1) + 8) + size.items, lengths, scalars)

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "nearest", launch)
