--- Debug information for a report of a fault: what the server says of itself, and what Neovim adds.
local client_of = require("kernelcast.client")
local options = require("kernelcast.options")

local M = {}

---@param bufnr integer
---@return string[]
local function of_neovim(bufnr)
  local names = vim.tbl_map(function(client)
    return client.name
  end, vim.lsp.get_clients({ bufnr = bufnr }))
  table.sort(names)
  local given = {}
  for name, value in vim.spairs(options.current) do
    if not vim.deep_equal(value, options.defaults[name]) then
      given[#given + 1] = ("- `%s`: `%s`"):format(name, vim.inspect(value, { newline = " ", indent = "" }))
    end
  end
  local lines = {
    "## Neovim",
    "",
    "- version: " .. tostring(vim.version()),
    "- filetype: " .. vim.bo[bufnr].filetype,
    "- servers attached here: " .. table.concat(names, ", "),
    "- inlay hints on: " .. tostring(vim.lsp.inlay_hint.is_enabled({ bufnr = bufnr })),
  }
  return vim.list_extend(lines, given)
end

---@param lines string[]
---@param filetype string?
function M.open(lines, filetype)
  vim.cmd.new()
  vim.bo.buftype = "nofile"
  vim.bo.bufhidden = "wipe"
  vim.bo.swapfile = false
  vim.bo.filetype = filetype or "markdown"
  vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
  vim.bo.modifiable = false
  vim.keymap.set("n", "q", vim.cmd.close, { buffer = true, desc = "Close" })
end

---@param bufnr integer
function M.show(bufnr)
  local own = of_neovim(bufnr)
  client_of.ask("debugInformation", {}, function(text)
    local lines = vim.split(vim.trim(tostring(text)), "\n")
    M.open(vim.list_extend(vim.list_extend(lines, { "" }), own))
  end, bufnr)
end

return M
