--- Inlay hints: on in our buffers, and drawn anew when their text changes under an unchanged buffer.
local client_of = require("kernelcast.client")
local options = require("kernelcast.options")

local M = {}

---@type table<integer, boolean> buffer -> hints were on when its server ended
local before = {}

--- Per buffer, so that hints of other servers stay as the user has them elsewhere.
---@param bufnr integer
function M.enable(bufnr)
  local wanted = options.current.inlay_hints
  if before[bufnr] ~= nil then
    wanted, before[bufnr] = before[bufnr], nil
  end
  if wanted and not vim.lsp.inlay_hint.is_enabled({ bufnr = bufnr }) then
    vim.lsp.inlay_hint.enable(true, { bufnr = bufnr })
  end
end

--- Neovim switches a buffer's hints off when the last server that has any leaves it.
---@param bufnr integer
function M.remember(bufnr)
  local known, enabled = pcall(vim.lsp.inlay_hint.is_enabled, { bufnr = bufnr })
  if known then
    before[bufnr] = enabled
  end
end

---@return integer?
local function namespace()
  local spaces = vim.api.nvim_get_namespaces()
  return spaces["nvim.lsp.inlayhint"] or spaces["vim_lsp_inlayhint"]
end

---@param hint lsp.InlayHint
---@return [string, string?][]
local function chunks_of(hint)
  local label = hint.label
  local text = type(label) == "string" and label
    or table.concat(vim.tbl_map(function(part)
      return part.value
    end, label))
  local chunks = { { text, "LspInlayHint" } }
  if hint.paddingLeft then
    table.insert(chunks, 1, { " " })
  end
  if hint.paddingRight then
    chunks[#chunks + 1] = { " " }
  end
  return chunks
end

---@alias kernelcast.Marks table<integer, table<integer, [string, string?][]>> line -> column -> virtual text

---@param bufnr integer
---@return kernelcast.Marks
local function wanted_marks(bufnr)
  local marks = vim.defaulttable()
  for _, known in ipairs(vim.lsp.inlay_hint.get({ bufnr = bufnr })) do
    local at = known.inlay_hint.position
    local here = rawget(marks[at.line], at.character) or {}
    marks[at.line][at.character] = vim.list_extend(here, chunks_of(known.inlay_hint))
  end
  return marks
end

---@param bufnr integer
---@param space integer
---@return kernelcast.Marks
local function drawn_marks(bufnr, space)
  local marks = vim.defaulttable()
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(bufnr, space, 0, -1, { details = true })) do
    local here = rawget(marks[mark[2]], mark[3]) or {}
    marks[mark[2]][mark[3]] = vim.list_extend(here, mark[4].virt_text or {})
  end
  return marks
end

--- Neovim remembers for which version of the buffer it has drawn a line, and draws it no second time: 0.10 never shows
--- what a refresh brought, later versions not always. The lines that differ get their new text here, in one step, so
--- that nothing disappears in between; lines below the window get theirs before they are scrolled to.
---@param bufnr integer
local function redraw(bufnr)
  local space = namespace()
  if not space then
    return
  end
  local wanted, drawn = wanted_marks(bufnr), drawn_marks(bufnr, space)
  local last = vim.api.nvim_buf_line_count(bufnr) - 1
  for line in pairs(vim.tbl_extend("keep", {}, wanted, drawn)) do
    if line <= last and not vim.deep_equal(rawget(wanted, line) or {}, rawget(drawn, line) or {}) then
      vim.api.nvim_buf_clear_namespace(bufnr, space, line, line + 1)
      for column, chunks in pairs(rawget(wanted, line) or {}) do
        local mark = { virt_text_pos = "inline", virt_text = chunks, strict = false }
        vim.api.nvim_buf_set_extmark(bufnr, space, line, column, mark)
      end
    end
  end
end

--- Handler of `textDocument/inlayHint`: Neovim's own, then the redrawing.
function M.on_hints(err, result, ctx, config)
  vim.lsp.handlers["textDocument/inlayHint"](err, result, ctx, config)
  local bufnr = ctx.bufnr
  local current = vim.lsp.util.buf_versions[bufnr] == ctx.version
  if err or not current or not vim.api.nvim_buf_is_loaded(bufnr) or not client_of.by_id(ctx.client_id) then
    return
  end
  if vim.lsp.inlay_hint.is_enabled({ bufnr = bufnr }) then
    redraw(bufnr)
  end
end

return M
