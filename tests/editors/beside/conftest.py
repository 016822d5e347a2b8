"""Another language server in the same buffer of Neovim, started before ours or after it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("msgpack", reason="`make test-editors` installs msgpack")

from tests.editors.neovim.conftest import Version, start, version  # noqa: F401
from tests.editors.neovim.editor import Neovim

# A name, a comment and an argument that are longer in UTF-8 than in UTF-16, in front of what is pointed at.
KERNEL = """\
// kernelcast: global=n local=64 n=65536
/* größe 😀😀 */ __kernel void blend(__global float *y, int n)
{
    const int i = get_global_id(0);
    if (i < n)
        y[i] = 2.0f * y[i] + 1.0f;
}
"""

_BEGIN = """
vim.api.nvim_create_autocmd('FileType', {{ pattern = 'opencl', callback = function(event)
  local config = {{ name = '{name}', cmd = {{ {words} }}, root_dir = vim.fs.dirname(event.file) }}
  {more}
  vim.lsp.start(config, {{ bufnr = event.buf }})
end }})
"""
# What nvim-lspconfig sets for clangd.
_CLANGD_OFFSETS = """
  config.capabilities = vim.tbl_deep_extend('force', vim.lsp.protocol.make_client_capabilities(),
    { offsetEncoding = { 'utf-8', 'utf-16' } })
"""


def _other(name: str, words: list[str], more: str = "") -> str:
    quoted = ", ".join(f"'{word}'" for word in words)
    return _BEGIN.format(name=name, words=quoted, more=more)


@pytest.fixture
def clangd() -> str:
    program = Path(sys.executable).with_name("clangd")
    if not program.exists():
        pytest.skip("clangd is not installed: the `editors` extra brings it")
    return _other("clangd", [str(program), "--log=error"], _CLANGD_OFFSETS)


@pytest.fixture
def opencl_language_server() -> str:
    return _other("opencl_ls", [sys.executable, str(Path(__file__).with_name("opencl_language_server.py"))])


@pytest.fixture(params=["before", "after"])
def together(request: pytest.FixtureRequest, start: Callable[..., Neovim], version: Version) -> Callable[..., Neovim]:  # noqa: F811
    """`together(other)` opens a kernel with both servers, in either order, and waits until both are attached."""

    def open_with(other: str, text: str = KERNEL) -> Neovim:
        both = (other, version.init) if request.param == "before" else (version.init, other)
        editor = start({"blend.cl": text}, init="\n".join(both), size=(100, 30))  # the line and its hint fit
        editor.until(
            lambda: len(attached(editor)) == 2 and len(set(attached(editor).values())) == 1,
            lambda: f"attached: {attached(editor)}",
        )
        editor.wait_for_hint()
        return editor

    return open_with


def attached(editor: Neovim) -> dict[str, str]:
    """The servers that are ready in this buffer, and how each counts characters."""
    return dict(
        editor.lua("""
            local found = vim.empty_dict()
            for _, client in ipairs(vim.lsp.get_clients({ bufnr = 0 })) do
              if client.initialized then found[client.name] = client.offset_encoding end
            end
            return found
        """)
    )


def answers(editor: Neovim, method: str) -> dict[str, object]:
    """What each server says about the place of the cursor."""
    return dict(
        editor.lua(
            """
            local answers, method = vim.empty_dict(), ...
            for _, client in ipairs(vim.lsp.get_clients({ bufnr = 0 })) do
              local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
              local reply
              if vim.fn.has('nvim-0.11') == 1 then
                reply = client:request_sync(method, params, 20000, 0)
              else
                reply = client.request_sync(method, params, 20000, 0)
              end
              if reply and reply.result and reply.result ~= vim.NIL then answers[client.name] = reply.result end
            end
            return answers
            """,
            method,
        )
    )


def warnings(editor: Neovim) -> list[str]:
    return [text for text in editor.messages() if "encoding" in text or "warning" in text.lower()]


def floating(editor: Neovim) -> str:
    """Text of the windows that lie above the buffer."""
    return str(
        editor.lua("""
            local text = {}
            for _, window in ipairs(vim.api.nvim_list_wins()) do
              if vim.api.nvim_win_get_config(window).relative ~= '' then
                vim.list_extend(text, vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false))
              end
            end
            return table.concat(text, '\\n')
        """)
    )
