"""What the name of an integer argument says of its value, where the code itself says nothing."""

from __future__ import annotations

import re
from enum import Enum


class Meaning(Enum):
    """What programmers name so."""

    WIDTH = "width"
    HEIGHT = "height"
    DEPTH = "depth"
    COUNT = "count"  # of what the launch goes through
    START = "start"
    RADIUS = "radius"
    LEAST = "least"  # of what values lie between
    MOST = "most"
    BINS = "bins"  # of a histogram
    FACTOR = "factor"  # between sizes
    WINDOW = "window"  # the side of what is moved over each element
    LIMIT = "limit"  # how often something is repeated at most: it ends earlier where it can


# Of names' last telling words, in lower case.
_WORDS: dict[str, Meaning] = {
    **dict.fromkeys(("width", "w", "wd", "cols", "columns", "ncols", "nx", "sx", "pitch", "stride"), Meaning.WIDTH),
    **dict.fromkeys(("sizex", "xsize", "dimx", "xdim", "iwidth", "owidth", "lda", "ldb", "ldc", "ld"), Meaning.WIDTH),
    **dict.fromkeys(("height", "heigth", "h", "ht", "rows", "nrows", "ny", "sy"), Meaning.HEIGHT),
    **dict.fromkeys(("sizey", "ysize", "dimy", "ydim", "iheight", "oheight"), Meaning.HEIGHT),
    **dict.fromkeys(("depth", "nz", "sz", "slices", "nslices", "sizez", "zsize", "dimz", "zdim"), Meaning.DEPTH),
    **dict.fromkeys(("n", "size", "length", "len", "count", "total", "elements", "numel"), Meaning.COUNT),
    **dict.fromkeys(("end", "stop"), Meaning.COUNT),
    **dict.fromkeys(("offset", "start", "begin", "first", "shift", "origin", "off", "base"), Meaning.START),
    **dict.fromkeys(("left", "top"), Meaning.START),
    **dict.fromkeys(("bins", "nbins", "nbin", "buckets", "levels"), Meaning.BINS),
    **dict.fromkeys(("radius", "rad", "halfwidth", "halo"), Meaning.RADIUS),
}
# What these have a size of is small, whatever the launch.
_WINDOWS = frozenset({"kernel", "filter", "window", "patch", "mask", "stencil", "neighborhood", "neighbourhood"})
_FACTORS = frozenset({"scale", "factor", "zoom", "ratio", "binning", "upsampling", "downsampling", "magnification"})
_UNITS = frozenset({"item", "step", "word", "block", "tile", "group", "local", "bin", "type"})
_COUNTING = frozenset({"n", "nb", "num", "number", "max"})  # `nb_points`, `numBins`
_REPEATED = frozenset(
    {
        *("iter", "iters", "niter", "iteration", "iterations", "steps", "nsteps", "timesteps", "substeps", "samples"),
        *(
            "nsamples",
            "bounces",
            "rounds",
            "trials",
            "attempts",
            "tries",
            "epochs",
            "sweeps",
            "repeats",
            "hops",
            "reps",
        ),
    }
)
_LIMITING = frozenset({"max", "maximum", "limit", "cap", "most"})
_AXES = {"x": Meaning.WIDTH, "y": Meaning.HEIGHT, "z": Meaning.DEPTH}
_SIZES = frozenset({"size", "sizes", "dim", "dims", "n", "len", "extent", "extents", "shape", "resolution"})


_LEAST = frozenset({"min", "mini", "minimum", "lower", "low", "lo", "least"})
_MOST = frozenset({"max", "maxi", "maximum", "upper", "high", "hi", "most", "sup"})


def meaning_of_float(name: str) -> Meaning | None:
    """`minIntensity`, `range_max`; None for names that are no end of a range."""
    words = set(_words(name))
    if words & _LEAST and not words & _MOST:
        return Meaning.LEAST
    return Meaning.MOST if words & _MOST and not words & _LEAST else None


def _words(name: str) -> list[str]:
    """`imgWidth2` is `img`, `width`."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def meaning_of(name: str) -> Meaning | None:
    """`image_width`, `imgWidth`, `nx`, `size.y`, `nb_points` ...; None for names that tell nothing."""
    # A vector's component, or a dimension: `global_size_dim1`.
    name = re.sub(r"(\.s|(?<=dim)_?)([0-2])$", lambda number: f".{'xyz'[int(number[2])]}", name)
    words = _words(name)
    if not words:
        return None
    if len(words) > 1 and _WINDOWS & set(words[:-1]) and words[-1] not in ("radius", "offset", "start", "begin"):
        return Meaning.WINDOW
    if _FACTORS & set(words):
        return Meaning.FACTOR
    if len(words) == 2 and words[0] in _LIMITING and words[1] in _AXES:
        return _AXES[words[1]]
    if _is_limit(words):
        return Meaning.LIMIT
    if len(words) > 1 and _UNITS & set(words):
        return None
    if len(words) > 1 and words[-1] in _AXES and words[-2] in _SIZES:
        return _AXES[words[-1]]
    if (known := _WORDS.get(words[-1])) is not None:
        return known
    if len(words) > 1 and words[0] in _COUNTING:
        return Meaning.COUNT
    return next((_WORDS[word] for word in reversed(words) if word in _WORDS and len(word) > 3), None)


def _is_limit(words: list[str]) -> bool:
    """`max_iter`, `iterations`, `n_steps`, `limit`, `maxDepth`; not `max_width` or `num_points`, which are sizes."""
    if words[0] in ("offset", "start", "begin", "first") or words[-1] in ("offset", "start", "begin", "first"):
        return False
    others = [word for word in words if word not in _LIMITING]
    if _REPEATED & set(words):
        return len(others) <= 2
    if len(others) == len(words):
        return False
    return all(_WORDS.get(word) in (None, Meaning.DEPTH, Meaning.BINS) and word not in _AXES for word in others)
