from __future__ import annotations

from pathlib import Path

import pytest

from model.errors import ConfigError
from model.launch.config import Config, load_config, parse_config
from model.launch.launch import Origin

WHOLE = """\
include = ["inc"]
defines = { TILE = 16, REAL = "float" }
[device]
id = "pocl"
[hints]
enabled = false
[build]
options = "-cl-fast-relaxed-math -cl-mad-enable"
[[launch]]
kernel = "blur_*"
files = ["filters/*.cl"]
name = "big"
global = ["width", 512]
local = "auto"
args = { width = 1024, p = { x = 2 } }
buffers = { image = "width*512" }
local_bytes = { tmp = 64 }
images = { picture = [640, 480] }
fill = { image = "randint:0:width" }
[[launch]]
global = 5
"""


def config(text: str, folder: Path = Path("/work")) -> Config:
    return parse_config(text, folder / "kernelcast.toml")


def test_a_launch_is_read_with_everything_an_annotation_can_say() -> None:
    found = config(WHOLE)
    spec = found.launches[0].spec
    assert spec.name == "big"
    assert spec.origin is Origin.CONFIG
    assert spec.driver_chooses_local
    assert [e.text for e in spec.global_size or ()] == ["width", "512"]
    assert {name: "x".join(e.text for e in values) for name, values in spec.values} == {
        "width": "1024",
        "p.x": "2",
        "image": "width*512",
        "tmp": "64",
        "picture": "640x480",
    }
    assert str(dict(spec.fills)["image"]) == "randint:0:width"
    assert found.device_id == "pocl"
    assert found.hints_enabled is False
    options = found.options_for(Path("/work/a.cl"))
    assert options.defines == (("TILE", "16"), ("REAL", "float"))
    assert options.include_dirs == ("/work/inc",)
    assert options.flags == ("-cl-fast-relaxed-math", "-cl-mad-enable")


@pytest.mark.parametrize(
    ("kernel", "path", "launches"),
    [
        ("blur_x", "/work/filters/a.cl", 2),
        ("blur_x", "/work/a.cl", 1),
        ("sharpen", "/work/filters/a.cl", 1),
    ],
)
def test_a_launch_is_for_the_kernels_and_files_it_names(kernel: str, path: str, launches: int) -> None:
    assert len(config(WHOLE).specs_for(kernel, Path(path))) == launches


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("[[launch]]\nkernl = 'a'", 2, "Did you mean `kernel`?"),
        ("[[launch]]\nglobal = 1\n[[launch]]\n\nglobal = '9**'", 5, "stops short"),
        ("[[launch]]\nglobal = 1\n[launch.args]\nn = 1\n[[launch]]\nglobal = [1,2,3,4]", 6, "one to 3 sizes"),
        ("\nx = ", 2, "Invalid value"),
        ("a = 1\na = 2\nb = 3", 2, "Cannot overwrite"),
        ("launch = 3", 1, "write [[launch]]"),
        ("[[launch]]\nargs = { n = true }", 2, "`n` must be a number"),
        ("[[launch]]\nglobal = 3\nlocal = [1, 2]", 3, "2 local size(s) against 1 global"),
        ("[device]\nid = 3", 2, "text in quotes"),
        ("[hints]\nenabled = 'yes'", 2, "true or false"),
        ("[[launch]]\nfill = { A = 'foo' }", 2, "allowed are random"),
        ("\n\n[devise]\nid = 'a'", 3, "Did you mean `device`?"),
        ("[[launch]]\noptions = '\"'", 2, "`options`"),
        ("[build]\ndefines = { A = [1] }", 2, "text or a number"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_line(text: str, line: int, says: str) -> None:
    with pytest.raises(ConfigError) as refused:
        config(text)
    assert says in refused.value.message
    assert refused.value.line == line


def test_the_nearest_configuration_above_a_file_counts(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "kernelcast.toml").write_text("[device]\nid = 'outer'")
    (tmp_path / "a" / "kernelcast.toml").write_text("[device]\nid = 'inner'")
    found = load_config(tmp_path / "a" / "b" / "k.cl")
    assert found is not None
    assert found.device_id == "inner"
    outer = load_config(tmp_path / "k.cl")
    assert outer is not None
    assert outer.device_id == "outer"


def test_a_configuration_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kernelcast.toml").write_bytes(b"a = 1\n\xff\xfe")
    with pytest.raises(ConfigError, match="not UTF-8") as refused:
        load_config(tmp_path)
    assert refused.value.line == 2


def test_parts_of_buffers_have_fills_of_their_own() -> None:
    fills = 'fill = { rows = { start = "csr_rows:9" }, "rows.len" = "mask:0.5", "state[0]" = 1000, x = "choice:1@2,3" }'
    spec = config(f"[[launch]]\nglobal = 5\n{fills}\n").launches[0].spec
    assert {name: str(fill) for name, fill in spec.fills} == {
        "rows.start": "csr_rows:9", "rows.len": "mask:0.5", "state[0]": "const:1000", "x": "choice:1@2,3"
    }  # fmt: skip


@pytest.mark.parametrize("fill", ['"state[n]" = 1', "state = 1", '"state[0]" = true', '"state[0]" = []'])
def test_a_wrong_part_is_told_with_its_line(fill: str) -> None:
    with pytest.raises(ConfigError) as refused:
        config(f"[[launch]]\nglobal = 5\nfill = {{ {fill} }}\n")
    assert refused.value.line == 3
