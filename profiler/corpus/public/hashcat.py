"""hashcat's own kernels, as its benchmark launches them: one work-item a base word, `loops` candidates or rounds each.

Unlike those of the other rows these programs are not ours: they are read where a Debian package puts them, and nothing
of them is kept but numbers (`kept_facts`). How they are built and launched was read from hashcat's host program (MIT)
and from what its kernels expect of their macros and parameters:

- `hash`: modes whose candidates are made inside the kernel; optimised kernel of attack 3 for a single hash and words
  of fewer than 16 bytes (`_s04`). A launch tries `loops` candidates a work-item, `vector` at a time.
- `hash iterated`: modes with many rounds; the `_loop` kernel, with `loops` rounds a work-item.

Only modes whose kernel file has the mode's own number. The files of `hash` modes are the same in 6.2.6 and in the
version that was measured; of the others two (3200, 22000) differ in a line, most were not compared, and the included
files changed. Left out are bitsliced modes, modes with several kinds of loop kernels, `hash` modes without an optimised
kernel, and modes whose work depends on the hash that is attacked. Words have seven bytes, as the benchmark's mask.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from pathlib import Path

from model.launch.launch import Fill, Launch
from model.opencl.options import BuildOptions
from profiler.corpus.origins.origin import read_origins
from profiler.corpus.origins.sources import sources
from profiler.corpus.public.row import PublicLaunch, PublicRow

FAMILY, ITERATED_FAMILY = "hash", "hash iterated"
MODES = (
    0, 10, 20, 30, 50, 60, 70, 100, 110, 120, 150, 160, 200, 300, 600, 900, 1000, 1100, 1300, 1400, 1410, 1420, 1450,
    1460, 1700, 1710, 1720, 1750, 1760, 2400, 2410, 3710, 4400, 4500, 4700, 4800, 5100, 6000, 6100, 6900, 7300,
    7500, 8000, 8400, 8700, 9900, 10800, 11200, 11500, 11700, 17300, 17400, 17600, 17800, 18000,
)  # fmt: skip
ITERATED_MODES = (
    2100, 3200, 6800, 7900, 8800, 9100, 9400, 9500, 11300, 12200, 12300, 13400, 15100, 18400, 22000,
)  # fmt: skip
PACKAGE = "hashcat-data"
WORD_BYTES = 7
CACHE = Path(sys.prefix) / "real-packages"  # beside all else that set-up downloads

_INSTRUCTIONS = (
    "ADD ADDC SUB SUBC VADD VADDC VADD_CO VADDC_CO VSUB VSUBB VSUB_CO VSUBB_CO "
    "VPERM VADD3 VBFE BFE LOP3 MOV64 PRMT SHFW"
)
_MACROS = {
    "KERNEL_STATIC": "1",
    "INCLUDE_PATH": "OpenCL",
    "XM2S(x)": "#x",
    "M2S(x)": "XM2S(x)",
    "MAX_THREADS_PER_BLOCK": "1024",
    "VENDOR_ID": "32",  # NVIDIA's
    "CUDA_ARCH": "0",
    **{f"HAS_{name}": "0" for name in _INSTRUCTIONS.split()},  # no assembly: what OpenCL C says
    "DEVICE_TYPE": "4",  # a GPU
    "LOCAL_MEM_TYPE": "1",
    "DGST_R0": "0",
    "DGST_R1": "3",
    "DGST_R2": "2",
    "DGST_R3": "1",
    "DGST_ELEM": "4",
}
_GROUP_MACRO = "FIXED_LOCAL_SIZE"
_ANY_GROUP = "256"  # for programs that do not depend on it: one analysis then serves all launches
_INCLUDED = re.compile(r"INCLUDE_PATH/(\w+\.(?:cl|h))")


def hashcat(row: PublicRow) -> PublicLaunch:
    """Return the launch of a row of hashcat.

    `settings` name the `mode`, `items`, `group`, `loops` and `vector`. Raises Unreachable where the package is neither
    there nor to be downloaded.
    """
    known = {name: int(value) for name, value in row.settings}
    folder = kernels_folder()
    is_iterated = row.family == ITERATED_FAMILY
    name = f"m{known['mode']:05d}"
    path = folder / (f"{name}-pure.cl" if is_iterated else f"{name}_a3-optimized.cl")
    text = path.read_text("utf-8", errors="replace")
    group = str(known["group"]) if _depends_on_group(path) else _ANY_GROUP
    macros = {
        **_MACROS,
        _GROUP_MACRO: group,
        "VECT_SIZE": str(known["vector"]),
        "KERN_TYPE": str(known["mode"]),
        "ATTACK_EXEC": "10" if is_iterated else "11",
        "ATTACK_KERN": "0" if is_iterated else "3",
        "ATTACK_MODE": "3",
    }
    options = BuildOptions(tuple(macros.items()), (str(folder.parent), str(folder)), ("-cl-std=CL1.2",))
    return PublicLaunch(text, f"{name}_loop" if is_iterated else f"{name}_s04", options, _launch(known))


def mode_of(row: PublicRow) -> int:
    """Return the hash mode of a row of these families: which program is run."""
    return int(dict(row.settings)["mode"])


def kernels_folder() -> Path:
    """Return the folder of the package's OpenCL files, downloaded when first asked for. Raises Unreachable."""
    origin = next(each for each in read_origins() if each.place == PACKAGE)
    return sources(origin, CACHE) / "usr/share/hashcat/OpenCL"


def _launch(known: dict[str, int]) -> Launch:
    """Return one hash, one salt, and parameters as they are for it; candidates are `vector` words wide."""
    items, loops = known["items"], known["loops"]
    words = ("words_buf_r", "words_buf_s", "bfs_buf")
    single = ("digests_buf", "salt_bufs", "esalt_bufs", "hashes_shown", "kernel_param")
    parameters = {
        "il_cnt": loops, "loop_cnt": loops, "loop_pos": 0, "gid_max": items, "digests_cnt": 1, "pws_pos": 0,
        "digests_offset_host": 0, "salt_pos_host": 0, "salt_repeat": 0, "combs_mode": 0,
    }  # fmt: skip
    return Launch(
        (items,),
        (known["group"],),
        buffers=(
            ("pws", items),
            ("tmps", items),
            *((name, -(-loops // known["vector"])) for name in words),
            *((name, 1) for name in single),
        ),
        fills=(
            ("pws.pw_len", Fill("const", (WORD_BYTES,))),
            *((f"kernel_param.{name}", Fill("const", (value,))) for name, value in parameters.items()),
        ),
    )


@lru_cache(maxsize=256)
def _depends_on_group(path: Path) -> bool:
    """Return whether the program or a file that it includes asks for the work-group's size."""
    text = path.read_text("utf-8", errors="replace")
    if _GROUP_MACRO in text:
        return True
    included = (path.parent / name for name in _INCLUDED.findall(text))
    return any(each.suffix == ".cl" and each.exists() and _depends_on_group(each) for each in included)
