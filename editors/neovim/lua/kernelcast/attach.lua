--- What happens when the server is attached to a buffer, by whatever way it was started.
local client_of = require("kernelcast.client")

local M = {}

local watching = false

--- Autocommands, not `on_attach`: that one is the user's to set.
function M.watch()
  if watching then
    return
  end
  watching = true
  local group = vim.api.nvim_create_augroup("kernelcast", { clear = true })
  vim.api.nvim_create_autocmd("LspAttach", {
    group = group,
    desc = "Commands and hints of Kernelcast",
    callback = function(event)
      local client = client_of.by_id(event.data.client_id)
      if client then
        require("kernelcast.restart").attached(client, event.buf)
        require("kernelcast.commands").create(event.buf)
        require("kernelcast.hints").enable(event.buf)
      end
      require("kernelcast.encoding").settle(event.buf)
    end,
  })
  if vim.lsp.config then
    require("kernelcast.hosts").watch(group, function(bufnr)
      vim.api.nvim_exec_autocmds("FileType", { group = "nvim.lsp.enable", buffer = bufnr, modeline = false })
    end)
  end
  require("kernelcast.progress").watch()
  require("kernelcast.missing").watch(group)
end

return M
