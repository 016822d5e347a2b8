--- One way to count characters for all servers of a buffer. Neovim asks every one of them in the first one's way, and
--- warns when they differ; ours can count in any way, so it follows the others.
local client_of = require("kernelcast.client")

local M = {}

---@type table<string, true>
local KNOWN = { ["utf-8"] = true, ["utf-16"] = true, ["utf-32"] = true }

---@type string?
local others

---@param bufnr integer
---@return string? encoding nil where no other server is attached, or one of them counts as ours does
local function differing(bufnr)
  local ours = client_of.of(bufnr)
  local found
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = bufnr })) do
    if client.name ~= client_of.NAME then
      if ours and client.offset_encoding == ours.offset_encoding then
        return nil
      end
      found = found or client.offset_encoding
    end
  end
  return found
end

--- For `before_init`: offer our server the way that is in use already.
---@param params table
function M.offer(params)
  local wanted = differing(vim.api.nvim_get_current_buf()) or others
  if wanted and KNOWN[wanted] then
    params.capabilities.general = params.capabilities.general or {}
    params.capabilities.general.positionEncodings = { wanted }
  end
end

--- For `LspAttach`: one that came later and counts differently lets ours begin anew.
---@param bufnr integer
function M.settle(bufnr)
  local wanted = client_of.of(bufnr) and differing(bufnr)
  if wanted and KNOWN[wanted] and wanted ~= others then
    others = wanted
    require("kernelcast.restart").restart()
  end
end

return M
