"""The programs of four packages as their own hosts build them: the text, its path, and the build options.

How each host does it is read from its sources: silx concatenates files, pyclesperanto writes macros for the images that
it passes, darktable includes its own headers, hashcat describes device, attack and hash in some forty macros.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from model.opencl.options import BuildOptions
from tests.real_packages import unpacked


@dataclass(frozen=True)
class Source:
    """One program: what the compiler and the source analysis are both given."""

    package: str
    name: str
    text: str
    path: Path
    options: BuildOptions


def silx() -> Iterator[Source]:
    """`silx.opencl`: files concatenated, and each file that no host program names by itself."""
    root = unpacked("silx==3.1.3") / "silx/resources/opencl"
    in_use = set()
    for files, options in _SILX:
        paths = [root / f"{file}.cl" for file in files.split()]
        in_use |= set(paths)
        text = "\n".join(_without_includes(path) for path in paths)
        name = f"{files} {options}".strip()
        yield Source("silx", name, text, paths[0], _defines(options))
    for path in sorted({*root.rglob("*.cl")} - in_use):
        yield Source("silx", path.stem, _without_includes(path), path, BuildOptions())


def _without_includes(path: Path) -> str:
    """silx drops what its authors' editor wants to see."""
    return "\n".join(line for line in _text(path).splitlines() if not line.startswith("#include "))


_SIFT = "sift/sift sift/convolution sift/preprocess sift/algebra sift/image sift/gaussian sift/reductions sift/memset"
_SILX = (
    ("codec/bitshuffle_lz4", ""),
    ("codec/byte_offset", ""),
    ("image/cast image/map image/max_min image/histogram", "NB_COLOR=1"),
    ("image/cast image/map image/max_min image/histogram", "NB_COLOR=3"),
    (f"{_SIFT} sift/interpolation sift/orientation_cpu sift/descriptor_cpu", "WORKGROUP_SIZE=1"),
    (f"{_SIFT} sift/interpolation sift/orientation_gpu sift/descriptor_gpu1", "WORKGROUP_SIZE=128"),
    (f"{_SIFT} sift/interpolation sift/orientation_gpu sift/descriptor_gpu2", "WORKGROUP_SIZE=128"),
    ("sift/sift sift/memset sift/matching_cpu", "WORKGROUP_SIZE=1"),
    ("sift/sift sift/memset sift/matching_gpu", "WORKGROUP_SIZE=64"),
    ("sift/transform", ""),
    ("sparse", "IMAGE_WIDTH=512 DTYPE=float IDX_DTYPE=int"),
    ("sparse", "IMAGE_WIDTH=512 DTYPE=uchar IDX_DTYPE=short"),
    ("preprocess bitonic medfilt", "NIMAGE=1048576"),
    ("preprocess", "NIMAGE=1048576"),
    ("doubleword statistics", ""),
    ("doubleword", ""),
    ("kahan", ""),
    ("array_utils", ""),
    ("backproj array_utils", ""),
    ("backproj array_utils", "DONT_USE_TEXTURES"),
    ("proj array_utils", ""),
    ("proj array_utils", "DONT_USE_TEXTURES"),
    *(("convolution", f"USED_CONV_MODE={mode}") for mode in range(3)),
    *(
        ("convolution_textures", f"USED_CONV_MODE={mode} IMAGE_DIMS={image} FILTER_DIMS={kernel}")
        for mode, image, kernel in ((0, 1, 1), (1, 2, 1), (2, 2, 2), (1, 3, 1), (1, 3, 2), (2, 3, 3))
    ),
    ("linalg", ""),
)


def darktable() -> Iterator[Source]:
    """`darktable`: one file after another, with its headers beside it."""
    root = unpacked("darktable=4.2.1-4") / "usr/share/darktable/kernels"
    for path in sorted(root.glob("*.cl")):
        yield Source("darktable", path.stem, _text(path), path, BuildOptions((), (str(root),)))


def pyclesperanto() -> Iterator[Source]:
    """`pyclesperanto_prototype._tier0._opencl_execute`: macros for each image, a preamble, the file.

    Each file twice: with arrays in buffers and with images.
    """
    root = unpacked("pyclesperanto-prototype==0.24.6") / "pyclesperanto_prototype"
    preamble = _text(root / "_tier0/preamble.cl")
    for path in sorted(root.rglob("*.cl")):
        if path.name == "preamble.cl":
            continue
        own = _text(path)
        dimensions = 2 if "_2d" in path.name else 3
        keys = dict.fromkeys(re.findall(r"\bIMAGE_(\w+?)_(?:PIXEL_)?TYPE\b", own))
        for flavour, header in (("buffers", _array_header), ("images", _image_header)):
            defines = [*_CLESPERANTO, *(line for key in keys for line in header(key, dimensions))]
            text = "\n".join([*defines, preamble, own])
            yield Source("pyclesperanto", f"{path.stem} {flavour}", text, path, BuildOptions())


_CLESPERANTO = (
    "#define MAX_ARRAY_SIZE 1000",
    "#define GET_IMAGE_WIDTH(image_key) image_size_ ## image_key ## _width",
    "#define GET_IMAGE_HEIGHT(image_key) image_size_ ## image_key ## _height",
    "#define GET_IMAGE_DEPTH(image_key) image_size_ ## image_key ## _depth",
)


def _header(key: str, dimensions: int) -> list[str]:
    of_position = "int2" if dimensions < 3 else "int4"
    position = "(pos0, pos1)" if dimensions < 3 else "(pos0, pos1, pos2, 0)"
    return [
        f"#define CONVERT_{key}_PIXEL_TYPE clij_convert_float_sat",
        f"#define IMAGE_{key}_PIXEL_TYPE float",
        f"#define POS_{key}_TYPE {of_position}",
        f"#define POS_{key}_INSTANCE(pos0,pos1,pos2,pos3) ({of_position}){position}",
    ]


def _sizes(key: str) -> str:
    return ", ".join(f"int image_size_{key}_{extent}" for extent in ("width", "height", "depth"))


def _array_header(key: str, dimensions: int) -> list[str]:
    extents = "GET_IMAGE_WIDTH(a),GET_IMAGE_HEIGHT(a),GET_IMAGE_DEPTH(a),a,b,c"
    return [
        *_header(key, dimensions),
        f"#define IMAGE_{key}_TYPE {_sizes(key)},  __global float*",
        f"#define READ_{key}_IMAGE(a,b,c) read_buffer{dimensions}df({extents})",
        f"#define WRITE_{key}_IMAGE(a,b,c) write_buffer{dimensions}df({extents})",
    ]


def _image_header(key: str, dimensions: int) -> list[str]:
    access = "write" if any(word in key for word in ("destination", "output", "dst")) else "read"
    return [
        *_header(key, dimensions),
        f"#define IMAGE_{key}_TYPE {_sizes(key)},  __{access}_only image{dimensions}d_t ",
        f"#define READ_{key}_IMAGE(a,b,c) read_imagef(a,b,c)",
        f"#define WRITE_{key}_IMAGE(a,b,c) write_imagef(a,b,c)",
    ]


def hashcat() -> Iterator[Source]:
    """`hashcat`: one file a hash mode and attack. Files named `inc_` are included by the others."""
    root = unpacked("hashcat-data=6.2.6+ds1-1") / "usr/share/hashcat"
    for path in sorted((root / "OpenCL").glob("*.cl")):
        if path.name.startswith("inc_"):
            continue
        attack = re.search(r"_a(\d)", path.name)
        mode = re.match(r"m0*(\d+)", path.name)
        macros = {
            **_HASHCAT,
            "KERN_TYPE": mode[1] if mode else "0",
            "ATTACK_EXEC": "11" if attack else "10",
            "ATTACK_KERN": attack[1] if attack else "0",
            "ATTACK_MODE": attack[1] if attack else "0",
        }
        text = _text(path)
        if "SCRYPT" in text or "inc_hash_scrypt" in text:
            macros |= {"SCRYPT_N": "1024", "SCRYPT_R": "1", "SCRYPT_P": "1", "SCRYPT_TMP_ELEM": "1"}
        folders = (str(root), str(root / "OpenCL"))
        yield Source("hashcat", path.stem, text, path, BuildOptions(tuple(macros.items()), folders, ("-cl-std=CL1.2",)))


_ABSENT = (
    "ADD ADDC SUB SUBC VADD VADDC VADD_CO VADDC_CO VSUB VSUBB VSUB_CO VSUBB_CO "
    "VPERM VADD3 VBFE BFE LOP3 MOV64 PRMT SHFW"
)
_HASHCAT = {
    "KERNEL_STATIC": "1",
    "INCLUDE_PATH": "OpenCL",
    "XM2S(x)": "#x",
    "M2S(x)": "XM2S(x)",
    "MAX_THREADS_PER_BLOCK": "64",
    "VENDOR_ID": "64",  # PoCL's
    "CUDA_ARCH": "0",
    **{f"HAS_{name}": "0" for name in _ABSENT.split()},
    "VECT_SIZE": "4",
    "DEVICE_TYPE": "2",
    "LOCAL_MEM_TYPE": "2",
    "DGST_R0": "0",
    "DGST_R1": "3",
    "DGST_R2": "2",
    "DGST_R3": "1",
    "DGST_ELEM": "4",
    "FIXED_LOCAL_SIZE": "1",
}

PACKAGES: dict[str, Callable[[], Iterator[Source]]] = {
    "silx": silx,
    "pyclesperanto": pyclesperanto,
    "darktable": darktable,
    "hashcat": hashcat,
}


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _defines(words: str) -> BuildOptions:
    pairs = (word.partition("=") for word in words.split())
    return BuildOptions(tuple((name, value or "1") for name, _, value in pairs))
