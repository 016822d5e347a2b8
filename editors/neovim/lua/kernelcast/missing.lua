--- The server is not installed: said once, with what to do, and not again at every file.
local client_of = require("kernelcast.client")
local options = require("kernelcast.options")

local M = {}

local told = false

---@param executable string
---@return string
function M.advice(executable)
  return (
    "`%s` was not found. Set Kernelcast up as its README says, then put the command on your PATH or name it: "
    .. 'require("kernelcast").setup({ cmd = "~/kernelcast/.venv/bin/kernelcast" })'
  ):format(executable)
end

---@param cmd any
---@return boolean missing
function M.tell(cmd)
  if type(cmd) ~= "table" or vim.fn.executable(cmd[1] or "") == 1 then
    return false
  end
  if not told then
    told = true
    vim.schedule(function()
      local short = "not installed; `:checkhealth kernelcast` says what to do."
      client_of.say(M.advice(cmd[1] or ""), vim.log.levels.WARN, short)
    end)
  end
  return true
end

---@return table? config what `vim.lsp.enable` would start
function M.enabled_config()
  local enabled = vim.lsp._enabled_configs
  local is_enabled = vim.lsp.is_enabled and vim.lsp.is_enabled(client_of.NAME)
    or (enabled ~= nil and enabled[client_of.NAME] ~= nil)
  return is_enabled and vim.lsp.config[client_of.NAME] or nil
end

--- Neovim 0.11 and newer only write it into their log.
---@param bufnr integer
local function check(bufnr)
  local config = not told and M.enabled_config()
  local is_ours = config and vim.tbl_contains(config.filetypes or {}, vim.bo[bufnr].filetype)
  if config and is_ours and require("kernelcast.hosts").concerns(bufnr) then
    M.tell(config.cmd)
  end
end

---@param group integer
function M.watch(group)
  if not vim.lsp.config then
    return
  end
  vim.api.nvim_create_autocmd("FileType", {
    group = group,
    pattern = options.current.filetypes,
    desc = "Tell when Kernelcast's server is not installed",
    callback = function(event)
      check(event.buf)
    end,
  })
  -- The first file may have come before us.
  vim.schedule(function()
    vim.iter(vim.api.nvim_list_bufs()):filter(vim.api.nvim_buf_is_loaded):each(check)
  end)
end

return M
