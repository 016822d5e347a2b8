--- Kernelcast for Neovim: how long an OpenCL kernel will take, beside the kernel. See |kernelcast|.
local M = {}

--- For Neovim 0.10, and for whoever wants other options than the defaults.
---@param opts kernelcast.Options?
function M.setup(opts)
  local options = require("kernelcast.options")
  local client_of = require("kernelcast.client")
  local problems = options.set(opts)
  if #problems > 0 then
    client_of.say(table.concat(problems, "; ") .. ".", vim.log.levels.WARN)
  end
  require("kernelcast.filetype").register()
  local config = require("kernelcast.config").client()
  if vim.lsp.config then
    vim.lsp.config(client_of.NAME, config)
    vim.lsp.enable(client_of.NAME)
    return
  end
  local function start(bufnr)
    local is_wanted = vim.bo[bufnr].buftype == "" and require("kernelcast.hosts").concerns(bufnr)
    if is_wanted and not require("kernelcast.missing").tell(config.cmd) then
      local root = vim.fs.root(bufnr, config.root_markers)
      vim.lsp.start(vim.tbl_extend("force", config, { root_dir = root }), { bufnr = bufnr })
    end
  end
  local group = vim.api.nvim_create_augroup("kernelcast.start", { clear = true })
  require("kernelcast.hosts").watch(group, start)
  vim.api.nvim_create_autocmd("FileType", {
    group = group,
    pattern = config.filetypes,
    desc = "Start Kernelcast",
    callback = function(event)
      start(event.buf)
    end,
  })
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) and vim.tbl_contains(config.filetypes, vim.bo[bufnr].filetype) then
      start(bufnr)
    end
  end
end

--- One line for a status line, such as `pthread-Ryzen · 1 problem` or `Measuring saxpy ...`; empty elsewhere.
--- The User event `KernelcastStatus` tells of changes.
---@param bufnr integer?
---@return string
function M.status(bufnr)
  return require("kernelcast.status").text(bufnr)
end

--- All that the server said last of the buffer's document; nil before it has said anything.
---@param bufnr integer?
---@return kernelcast.Status?
function M.details(bufnr)
  return require("kernelcast.status").of(bufnr)
end

return M
