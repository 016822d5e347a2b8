--- The kernels of a buffer as the server sees them, and the one that is meant.
local client_of = require("kernelcast.client")

local M = {}

---@class kernelcast.ListedLaunch
---@field id string
---@field title string
---@field measurable boolean

---@class kernelcast.ListedKernel
---@field name string
---@field range lsp.Range
---@field line integer
---@field label string
---@field launches kernelcast.ListedLaunch[]

---@param bufnr integer
---@return string
function M.uri(bufnr)
  return vim.uri_from_bufnr(bufnr)
end

---@param kernels kernelcast.ListedKernel[]
---@param line integer counted from 0
---@return kernelcast.ListedKernel?
local function at_line(kernels, line)
  return vim.iter(kernels):find(function(kernel)
    return kernel.range.start.line <= line and line <= kernel.range["end"].line
  end)
end

--- The kernel of that name; without a name the one that the cursor is in, the only one, or the one that is picked.
---@param bufnr integer
---@param name string? empty: none
---@param on_kernel fun(kernel: kernelcast.ListedKernel)
function M.with(bufnr, name, on_kernel)
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  client_of.ask("listKernels", { M.uri(bufnr) }, function(kernels)
    local found
    if name and name ~= "" then
      found = vim.iter(kernels):find(function(kernel)
        return kernel.name == name
      end)
      if not found then
        return client_of.say(("there is no kernel `%s` in this file."):format(name), vim.log.levels.WARN)
      end
    else
      found = at_line(kernels, line) or (#kernels == 1 and kernels[1] or nil)
    end
    if found then
      return on_kernel(found)
    end
    if #kernels == 0 then
      return client_of.say("there is no kernel in this file.", vim.log.levels.WARN)
    end
    vim.ui.select(kernels, {
      prompt = "Kernel",
      kind = "kernelcast.kernel",
      format_item = function(kernel)
        return kernel.name .. (kernel.label ~= "" and ("  " .. kernel.label) or "")
      end,
    }, function(kernel)
      if kernel then
        on_kernel(kernel)
      end
    end)
  end, bufnr)
end

--- Its only launch, or the one that is picked; none of them where the server may say what is wrong with them.
---@param kernel kernelcast.ListedKernel
---@param on_launch fun(id: string?)
function M.with_launch(kernel, on_launch)
  local launches = vim.tbl_filter(function(launch)
    return launch.measurable
  end, kernel.launches or {})
  if #launches <= 1 then
    return on_launch(#launches == 1 and #kernel.launches > 1 and launches[1].id or nil)
  end
  vim.ui.select(launches, {
    prompt = ("Launch of %s to measure"):format(kernel.name),
    kind = "kernelcast.launch",
    format_item = function(launch)
      return launch.title
    end,
  }, function(launch)
    if launch then
      on_launch(launch.id)
    end
  end)
end

--- Names for completion.
---@param bufnr integer
---@return string[]
function M.names(bufnr)
  local client = client_of.of(bufnr)
  local kernels = client and client_of.ask_now(client, "listKernels", { M.uri(bufnr) }, bufnr, 500)
  return vim.tbl_map(function(kernel)
    return kernel.name
  end, kernels or {})
end

return M
