"""Somebody else's folder is opened: nothing of it reads beyond it, hangs the server, or chooses what is run."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.device_catalog import find_builtin
from model.engine import Engine
from model.errors import ConfigError
from model.forecast import FileForecast
from model.launch.build_options import harmful
from model.launch.config import load_config, parse_config
from model.opencl.include_policy import Reach
from model.opencl.options import BuildOptions
from server.client.settings import Settings
from server.client.trust import Trust, reach_of
from server.documents import Document
from server.positions import IndexedText
from server.prefilter import may_contain_kernel

Start = Callable[..., Any]
KERNEL = "__kernel void fill(__global int *a) { a[get_global_id(0)] = SECRET; }\n"
SECRET = "#define SECRET 4242\n#error the password is swordfish\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/secret.h").write_text(SECRET)
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "own.h").write_text("#define SECRET 1\n")
    return folder


def forecast(folder: Path, text: str) -> FileForecast:
    device = find_builtin("generic-cpu")
    assert device is not None
    return Engine().forecast(text, folder / "k.cl", device, reach=Reach.of([folder]))


def told(found: FileForecast) -> str:
    return " ".join([p.message for p in (*found.problems, *found.annotation_problems)] + [repr(found.forecasts)])


@pytest.mark.parametrize(
    "how",
    [
        '#include "../home/secret.h"\n',
        '#include "sub/../../home/secret.h"\n',
        '#include "{outside}/secret.h"\n',
        '#include "link.h"\n',
        '#include "linked/secret.h"\n',
        '#define WHERE "../home/secret.h"\n#include WHERE\n',
        '// kernelcast: -I ../home\n#include "secret.h"\n',
        "// kernelcast: -I {outside}\n#include <secret.h>\n",
    ],
)
def test_no_include_leads_out_of_it(workspace: Path, how: str) -> None:
    outside = workspace.parent / "home"
    (workspace / "link.h").symlink_to(outside / "secret.h")
    (workspace / "linked").symlink_to(outside)
    said = told(forecast(workspace, how.format(outside=outside) + KERNEL))
    assert "swordfish" not in said
    assert "4242" not in said
    assert "is not read" in said or "-I" in how  # the note of a launch's own options is not the file's


def test_what_lies_in_it_is_read(workspace: Path) -> None:
    (workspace / "inc").mkdir()
    (workspace / "inc/link.h").symlink_to(workspace / "own.h")
    for how in ('#include "own.h"', '#include "inc/../own.h"', '#include "inc/link.h"'):
        assert forecast(workspace, f"{how}\n{KERNEL}").problems == ()


def test_a_link_that_is_bent_afterwards_is_noticed(workspace: Path) -> None:
    engine, link = Engine(), workspace / "link.h"
    device = find_builtin("generic-cpu")
    assert device is not None
    for target, leaks in ((workspace / "own.h", False), (workspace.parent / "home/secret.h", False)):
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        found = engine.forecast(f'#include "link.h"\n{KERNEL}', workspace / "k.cl", device, reach=Reach.of([workspace]))
        assert ("swordfish" in told(found)) is leaks


def test_whoever_is_trusted_includes_what_they_like(workspace: Path) -> None:
    device = find_builtin("generic-cpu")
    assert device is not None
    text = f'#include "../home/secret.h"\n{KERNEL}'
    assert "swordfish" in told(Engine().forecast(text, workspace / "k.cl", device))


@pytest.mark.parametrize("piece", ["/*", "//", '"', "'", '\\"', "\\'", "/", "*/ /*", "'\\"])
@pytest.mark.parametrize("end", ["", " kernelcast", "\n", '"'])
def test_no_text_is_looked_at_over_and_over_before_anything_is_known_of_it(piece: str, end: str) -> None:
    """On the thread that answers; by the square of its length this would take an hour."""
    text = f"// kernel\n{piece * (2_000_000 // len(piece))}{end}"
    may_contain_kernel(Document("untitled:a", 1, IndexedText.of(text)), BuildOptions())


@pytest.mark.parametrize("what", ["pipe", "/dev/zero", "/dev/tty", "/proc/kmsg", "/proc/self/mem"])
def test_what_never_ends_is_not_read(workspace: Path, what: str) -> None:
    """By nobody, trusted or not: reading a pipe would stop all answers."""
    target = workspace / "pipe"
    os.mkfifo(target)
    for name in ("endless.h", "kernelcast.toml"):
        (workspace / name).symlink_to(target if what == "pipe" else what)
    device = find_builtin("generic-cpu")
    assert device is not None
    found = Engine().forecast(f'#include "endless.h"\n{KERNEL}', workspace / "k.cl", device)
    assert "endless.h" in told(found)
    with suppress(ConfigError):  # if it is found at all, it is named as what cannot be read
        load_config(workspace)
    may_contain_kernel(Document((workspace / "k.cl").as_uri(), 1, IndexedText.of("int a;\n")), BuildOptions())


def test_how_far_a_document_reaches(tmp_path: Path) -> None:
    inside, other, mine = (tmp_path / name for name in ("workspace", "other", "mine"))
    settings = Settings(include=(str(mine), "relative"))

    def reach(trust: Trust, path: Path | None) -> Reach | None:
        return reach_of(trust, path, [inside.as_uri()], settings)

    assert reach(Trust.SAID, inside / "k.cl") is None
    assert reach(Trust.REFUSED, inside / "k.cl") == Reach.of([inside])
    assert reach(Trust.REFUSED, other / "k.cl") == Reach.of([inside, other])  # the user opened it
    assert reach(Trust.UNSAID, inside / "k.cl") == Reach.of([inside, mine])
    assert reach(Trust.REFUSED, None) == Reach.of([inside])
    assert reach_of(Trust.REFUSED, None, [], Settings()) == Reach(())


@pytest.mark.parametrize(("option", "trust"), [(True, Trust.SAID), (False, Trust.REFUSED), (None, Trust.UNSAID)])
def test_only_yes_is_yes(option: object, trust: Trust) -> None:
    assert Trust.said(option) is trust
    assert Trust.said("true") is Trust.said(1) is Trust.UNSAID


def test_a_neighbour_with_the_same_beginning_is_outside(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    assert not Reach.of([tmp_path / "work"]).holds(tmp_path / "work-of-others/k.h")
    assert Reach.of([Path("/")]).holds("/etc/passwd")


HARMFUL = (
    "-fplugin=evil.so", "-fpass-plugin=evil.so", "-Xclang", "-mllvm", "-include", "-imacros", "-isystem/etc", "-B.",
    "-fuse-ld=./evil", "-save-temps", "-o", "-Wl,-rpath", "-Wp,-MD", "@options", "--config=evil", "-load",
    "-fprofile-use=evil", "-iquote", "-x", "-s", "-cl-std=../CL", "-fdump-tree-all", "-march=/evil", "evil.cl",
)  # fmt: skip


@pytest.mark.parametrize("flag", HARMFUL)
def test_options_that_name_files_or_programs_are_not_taken_from_it(workspace: Path, flag: str) -> None:
    with pytest.raises(ConfigError, match="is not taken from a project"):
        parse_config(f"options = '{flag} evil.so'", workspace / "kernelcast.toml")
    if flag.startswith("-"):
        found = forecast(workspace, f"// kernelcast: global=64 {flag}\n{KERNEL}")
        assert found.annotation_problems
        assert not any(f.launch and flag in f.launch.options.flags for f in found.forecasts)


@given(st.text("-abcdefghilmoprstuwxDIW=/.,@ \n", max_size=30))
def test_no_option_with_a_path_is_taken(text: str) -> None:
    words = text.split()
    if any("/" in word or "@" in word or "," in word for word in words):
        assert harmful(words) is not None


def test_options_of_opencl_are_taken(workspace: Path) -> None:
    usual = "-cl-fast-relaxed-math -cl-std=CL2.0 -w -Werror -Wno-unused -g -O3 -x spir -U OLD -cl-nv-maxrregcount=32"
    config = parse_config(f"options = '{usual}'", workspace / "kernelcast.toml")
    assert list(config.options.flags) == list(dict.fromkeys(usual.split()))


@pytest.mark.e2e
@pytest.mark.asyncio
async def test_the_server_reads_nothing_beyond_what_an_untrusting_editor_opened(
    start_editor: Start, tmp_path: Path
) -> None:
    (tmp_path / "secret.h").write_text(SECRET)
    (tmp_path / "kernelcast.toml").write_text('[device]\nid = "swordfish"\n')
    text = f'#include "../secret.h"\n{KERNEL}'
    for trusted in (False, None, True):
        async with start_editor(options={} if trusted is None else {"trusted": trusted}) as editor:
            editor.open("k.cl", text)
            await editor.wait_for_hint("k.cl")
            said = await editor.hover("k.cl", 1, 16)
            assert ("swordfish" in said) is bool(trusted)
            assert ("is not read" in " ".join(said.split())) is not bool(trusted)
            await editor.run("kernelcast.listDevices")  # only now an unknown device would be complained of
            if trusted:
                await editor.until(lambda editor=editor: "`swordfish`" in " ".join(editor.messages))
            else:
                assert not any("swordfish" in message for message in editor.messages)


@pytest.mark.e2e
@pytest.mark.device
@pytest.mark.asyncio
async def test_what_was_not_read_is_not_compiled_either(start_editor: Start, tmp_path: Path) -> None:
    (tmp_path / "secret.h").write_text("swordfish\n")
    async with start_editor() as editor:
        editor.open("k.cl", f'#include "../secret.h"\n{KERNEL}')
        await editor.wait_for_hint("k.cl")
        answer = await editor.measure("k.cl", "fill")
        assert "trusted" in answer["error"]["message"]
        assert not any("swordfish" in message for message in editor.messages)


@pytest.mark.e2e
@pytest.mark.asyncio
async def test_no_device_process_takes_its_drivers_from_the_workspace(start_editor: Start, tmp_path: Path) -> None:
    """An .icd file, a folder called `model` and a `sitecustomize` beside the kernel are nobody's drivers."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    mark = tmp_path / "was here"
    for name in ("sitecustomize.py", "model.py", "profiler.py", "pyopencl.py", "usercustomize.py"):
        (folder / name).write_text(f"open({str(mark)!r}, 'w')\n")
    (folder / "evil.icd").write_text("./libevil.so\n")
    (folder / ".env").write_text("OCL_ICD_VENDORS=.\n")
    async with start_editor(options={"trusted": False}) as editor:
        editor.open("k.cl", f'#include "own.h"\n{KERNEL}')
        await editor.wait_for_hint("k.cl")
        await editor.run("kernelcast.listDevices")
    assert not mark.exists()
    assert {each.name for each in folder.iterdir()} == {
        "sitecustomize.py", "model.py", "profiler.py", "pyopencl.py", "usercustomize.py", "evil.icd", ".env", "k.cl",
    }  # fmt: skip
