"""Searches that end early: in sorted tables, along rows, in text."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.composing.coverage import draw_coverage
from profiler.corpus.composing.drafting import Buffer, Parameter, Parts, Scalar, drafted, each, flat
from profiler.corpus.composing.hand import Hand
from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.types import is_real


@family("binary_search", group="divergence")
def binary_search(draw: Draw) -> Draft:
    """Where each query belongs in a sorted table."""
    hand = Hand(draw)
    type_ = draw.choose(("float", "int", "uint", "double", "long", "ushort"), "type")
    cover = draw_coverage(draw, hand)
    table, size, query, out = hand.name("table"), hand.name("table size"), hand.name("input"), hand.name("output")
    lo, hi, mid = draw.choose((("lo", "hi", "mid"), ("left", "right", "middle"), ("low", "high", "m"), ("b", "e", "c")))
    key = draw.choose(("key", "wanted", "needle"))
    less = draw.choose((f"{table}[{mid}] < {key}", f"{table}[{mid}] <= {key}"))
    centre = draw.choose((f"({lo} + {hi}) / 2", f"({lo} + {hi}) >> 1", f"{lo} + (({hi} - {lo}) >> 1)"))
    bounds = f"int {lo} = 0, {hi} = {size};"
    narrow = f"if ({less}) {lo} = {mid} + 1;\nelse {hi} = {mid};"
    forms = {
        "while": f"{bounds}\nwhile ({lo} < {hi}) {{\nint {mid} = {centre};\n{narrow}\n}}",
        "exact": f"{bounds}\nint found = -1;\nwhile ({lo} < {hi} && found < 0) {{\nint {mid} = {centre};\n"
        f"if ({table}[{mid}] == {key}) found = {mid};\nelse {narrow}\n}}",
        "closed": f"int {lo} = 0, {hi} = {size} - 1, found = -1;\nwhile ({lo} <= {hi}) {{\n"
        f"const int {mid} = {centre};\n"
        f"if ({table}[{mid}] == {key}) {{ found = {mid}; break; }}\n"
        f"if ({less}) {lo} = {mid} + 1;\nelse {hi} = {mid} - 1;\n}}",
        "halving": f"int {lo} = 0;\nfor (int left_over = {size}; left_over > 1; ) {{\nint part2 = left_over / 2;\n"
        f"{lo} += ({table}[{lo} + part2 - 1] < {key}) ? part2 : 0;\nleft_over -= part2;\n}}",
        "powers": f"int {lo} = -1;\nfor (int bit = 1 << (31 - clz({size})); bit; bit >>= 1) {{\n"
        f"if ({lo} + bit < {size} && {table}[{lo} + bit] < {key}) {lo} += bit;\n}}",
        "fixed": f"{bounds}\nfor (int round = 0; round < 26; round++) {{\nif ({lo} >= {hi}) break;\n"
        f"int {mid} = {centre};\n"
        f"{narrow}\n}}",
        "interpolated": f"{bounds}\nint tries = 0;\nwhile ({hi} - {lo} > 4 && tries < 8) {{\n"
        f"int {mid} = {lo} + ({hi} - {lo}) / 4;\n"
        f"{narrow}\ntries++;\n}}\nwhile ({lo} < {hi} && {table}[{lo}] < {key}) {lo}++;",
    }
    form = draw.choose(tuple(forms), "form")
    answer = "found" if "found" in forms[form] else lo
    kinds: dict[str, tuple[str, str]] = {"position": ("int", answer), "flag": ("uchar", f"{answer} > 0 ? 1 : 0")}
    if form not in {"exact", "closed"}:
        previous = f"{table}[max({lo} - 1, 0)]"
        kinds["neighbour"] = (type_, f"{table}[clamp({lo}, 0, {size} - 1)]")
        kinds["previous"] = (type_, previous)
        if is_real(type_):
            one = hand.literal(1, type_)
            above = f"{table}[clamp({lo}, 0, {size} - 1)]"
            kinds["interpolated"] = (type_, f"({key} - {previous}) / (fabs({above} - {previous}) + {one})")
    result_type, value = kinds[draw.choose(tuple(kinds), "result")]
    top = 1 << (15 if type_ == "ushort" else draw.choose((8, 16, 20)))
    order = draw.choose(("random", "sorted", "clustered"), "queries")
    reach = (0.0, float(top)) if is_real(type_) else (0, top)
    queries = {"random": Fill("uniform" if is_real(type_) else "randint", reach), "sorted": Fill("sorted", reach)}
    queries["clustered"] = queries["random"] if is_real(type_) else Fill("clustered", (0, top, 64))
    is_helper = draw.chance(0.35, "helper")
    search = f"const {type_} {key} = {query}[{cover.index}];\n{forms[form]}"
    helper = ""
    if is_helper:
        pointer = f"{hand.globally} const {type_} *{table}"
        helper = (
            f"{hand.inline}int lookup({pointer}, const int {size}, const {type_} {key})\n{{\n"
            f"{forms[form]}\nreturn {answer};\n}}"
        )
        search = f"const {type_} {key} = {query}[{cover.index}];\nint {answer} = lookup({table}, {size}, {key});"
        if not hand.is_const:
            search = search.replace(f"lookup({table}", f"lookup(({pointer.rsplit(table, 1)[0]}){table}")
    body = f"{search}\n{out}[{cover.index}] = {value};"
    parameters: list[Parameter] = [
        Buffer(table, type_, lambda s: s.of(size), Fill("sorted", reach)),
        Buffer(query, type_, each, queries[order]),
        Buffer(out, result_type, each, is_written=True),
        Scalar(size, "int", lambda d: d.log_integer(2, 1 << 22)),
    ]
    return drafted(draw, hand, Parts(("search", form), cover, parameters, body, flat(60), helpers=helper))


@family("row_first_match", group="divergence")
def row_first_match(draw: Draw) -> Draft:
    """Along each row until something is found: the first above a threshold, or equal to it."""
    hand = Hand(draw)
    type_ = draw.choose(("float", "int", "uchar", "uint", "short"), "type")
    cover = draw_coverage(draw, hand)
    x, out, width, i, j = (hand.name(r) for r in ("input", "output", "row length", "index", "loop"))
    limit = hand.name("threshold")
    layout = draw.choose(("rows", "columns"), "layout")
    at = f"{i} * {width} + {j}" if layout == "rows" else f"{j} * {hand.name('pitch')} + {i}"
    here = f"{x}[{at}]"
    if layout == "rows" and draw.chance(0.4, "row_pointer"):
        pointer = f"{hand.globally} const {type_} *line = {x} + (size_t){i} * {width};\n"
        here = f"line[{j}]"
    else:
        pointer = ""
    top = 1.499 if type_ == "float" else 15
    rarity = draw.choose(("never", "often", "seldom"), "found")
    threshold = {"never": top + 1, "often": 1.2 if type_ == "float" else 12, "seldom": top}[rarity]
    test = draw.choose((f"{here} >= {limit}", f"{here} > {limit}"))
    if type_ != "float":
        test = draw.choose((test, f"{here} == {limit}", f"({here} & 15) >= {limit}"))
    miss = draw.choose(("-1", width))
    acc = hand.name("sum")
    gather = draw.choose(("", "", f"{acc} += {here};", f"{acc} = {acc} * 0.5f + {here};"))
    loops = {
        "break": (
            f"int hit = {miss};\nfor (int {j} = 0; {j} < {width}; {j}++) {{\n{gather}\n"
            f"if ({test}) {{\nhit = {j};\nbreak;\n}}\n}}"
        ),
        "condition": f"int {j} = 0;\nwhile ({j} < {width} && !({test})) {{\n{gather}\n{j}++;\n}}\nint hit = {j};",
        "flag": (
            f"int hit = {miss};\nint is_done = 0;\n"
            f"for (int {j} = 0; {j} < {width} && !is_done; {j}++) {{\n{gather}\n"
            f"if ({test}) {{ hit = {j}; is_done = 1; }}\n}}"
        ),
        "last": f"int hit = {miss};\nfor (int {j} = 0; {j} < {width}; {j}++) {{\n{gather}\nif ({test}) hit = {j};\n}}",
        "backward": (
            f"int hit = {miss};\nfor (int {j} = {width} - 1; {j} >= 0; {j}--) {{\n{gather}\n"
            f"if ({test}) {{ hit = {j}; break; }}\n}}"
        ),
    }
    form = draw.choose(tuple(loops), "loop")
    text = loops[form]
    keep = f"float {acc} = 0.0f;\n" if gather else ""
    parameters: list[Parameter] = [
        Buffer(x, type_, lambda s: (s.bound + 64) * s.of(width)),
        Buffer(out, "int", each, None, True),
    ]
    store = f"{out}[{i}] = hit;"
    if gather:
        other = hand.name("second output")
        parameters.append(Buffer(other, "float", each, is_written=True))
        store += f"\n{other}[{i}] = {acc};"
    if layout == "columns":
        pitch = hand.name("pitch")
        text = text.replace(f"* {pitch} +", f"* {_pitch(cover.form, cover.count, cover.width, cover.height)} +")
    parameters += [Scalar(width, "int", lambda d: d.log_integer(2, 2000)), Scalar(limit, type_, lambda _: threshold)]
    body = f"{pointer}{keep}{text}\n{store}"
    return drafted(
        draw,
        hand,
        Parts(
            ("first", draw.choose(("match", "above", "hit"))),
            cover,
            parameters,
            body,
            lambda s: s.of(width) * (0.15 if rarity == "often" else 2.0) + 2,
            data_per_element=lambda scalars: float(scalars[width]),
        ),
    )


def _pitch(form: str, count: str, width: str, height: str) -> str:
    """Return how many elements there are, as the kernel knows it."""
    if form == "plane":
        return f"({width} * {height})"
    return f"(int){count}" if count else "(int)get_global_size(0)"


@family("pattern_search", group="divergence")
def pattern_search(draw: Draw) -> Draft:
    """Generate a short pattern against each position of a text, given up at the first difference."""
    hand = Hand(draw)
    type_ = draw.choose(("uchar", "char", "uint", "ushort"), "type")
    cover = draw_coverage(draw, hand)
    text, pattern, length, out = (
        hand.name("text"),
        hand.name("pattern"),
        hand.name("pattern length"),
        hand.name("output"),
    )
    i, j = cover.index, hand.name("loop")
    letters = draw.choose((2, 4, 26), "letters")
    same = f"{text}[{i} + {j}] == {pattern}[{j}]"
    unlike = f"{text}[{i} + {j}] != {pattern}[{j}]"
    wild = draw.chance(0.25, "wildcard")
    if wild:
        unlike = f"{pattern}[{j}] != 1 && {unlike}"
        same = f"({pattern}[{j}] == 1 || {same})"
    most = draw.choose((1, 2, 3))
    forms = {
        "break": f"int ok = 1;\nfor (int {j} = 0; {j} < {length}; {j}++) {{\nif ({unlike}) {{\nok = 0;\nbreak;\n}}\n}}",
        "while": f"int {j} = 0;\nwhile ({j} < {length} && {same}) {j}++;\nint ok = {j} == {length};",
        "mismatches": f"int misses = 0;\nfor (int {j} = 0; {j} < {length} && misses <= {most}; {j}++)\n"
        f"if ({unlike}) misses++;\nint ok = misses <= {most};",
        "prefix": f"int {j} = 0;\nfor (; {j} < {length}; {j}++) {{\nif ({unlike}) break;\n}}\nint ok = {j};",
        "all": f"int ok = 1;\nfor (int {j} = 0; {j} < {length}; ++{j}) ok &= ({same});",
        "last_first": f"int ok = {text}[{i} + {length} - 1] == {pattern}[{length} - 1];\n"
        f"for (int {j} = 0; ok && {j} < {length} - 1; {j}++) ok = ({same});",
    }
    form = draw.choose(tuple(forms), "form")
    parameters: list[Parameter] = [
        Buffer(text, type_, lambda s: s.bound + s.of(length), Fill("randint", (0, letters))),
        Buffer(pattern, type_, lambda s: s.of(length), Fill("randint", (0, 2)), is_constant=draw.chance(0.3)),
        Scalar(length, "int", lambda d: d.log_integer(1, 64)),
    ]
    sink = draw.choose(("flag", "flag", "counted", "position"), "result")
    if sink == "flag":
        parameters.append(Buffer(out, draw.choose(("int", "uchar")), each, is_written=True))
        store = f"{out}[{i}] = ok;"
    elif sink == "counted":
        parameters.append(Buffer(out, "int", lambda _: 4, Fill("zeros"), is_written=True))
        store = f"if (ok > 0) atomic_inc({out});"
    else:
        parameters.append(Buffer(out, "int", lambda _: 4, Fill("zeros"), is_written=True))
        store = f"if (ok > 0) atomic_{draw.choose(('min', 'max'))}({out}, (int){i});"
    body = f"{forms[form]}\n{store}"
    return drafted(draw, hand, Parts(("match", "pattern"), cover, parameters, body, flat(12)))
