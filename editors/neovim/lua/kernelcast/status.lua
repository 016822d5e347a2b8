--- What the server last said of each document: device, basis of the figures, what it is busy with, problems.
local M = {}

---@class kernelcast.Problem
---@field severity "error"|"warning"|"information"
---@field message string
---@field command? { title: string, command: string, arguments: any[] }

---@class kernelcast.Status
---@field uri string
---@field revision integer
---@field device { id: string, name: string, here: boolean, calibrated: boolean }
---@field basis string
---@field busy? string
---@field problems kernelcast.Problem[]

---@type table<string, kernelcast.Status>
local known = {}

--- Handler of `kernelcast/status`.
---@param told kernelcast.Status?
function M.on_status(_, told)
  if type(told) ~= "table" or not told.uri then
    return
  end
  local last = known[told.uri]
  known[told.uri] = told
  local function shown(status)
    return status and { status.device, status.basis, status.busy, status.problems }
  end
  if not vim.deep_equal(shown(last), shown(told)) then
    vim.api.nvim_exec_autocmds("User", { pattern = "KernelcastStatus", modeline = false })
    vim.cmd.redrawstatus({ bang = true })
  end
end

---@param bufnr integer?
---@return kernelcast.Status?
function M.of(bufnr)
  bufnr = (not bufnr or bufnr == 0) and vim.api.nvim_get_current_buf() or bufnr
  if not require("kernelcast.client").of(bufnr) then
    return nil
  end
  return known[vim.uri_from_bufnr(bufnr)]
end

--- One line for a status line; empty where Kernelcast has nothing to say.
---@param bufnr integer?
---@return string
function M.text(bufnr)
  local status = M.of(bufnr)
  if not status then
    return ""
  end
  if type(status.busy) == "string" then
    return status.busy .. " ..."
  end
  local pressing = vim.tbl_filter(function(problem)
    return problem.severity ~= "information"
  end, status.problems or {})
  local words = { status.device and status.device.name or "Kernelcast" }
  if #pressing > 0 then
    words[2] = #pressing == 1 and "1 problem" or ("%d problems"):format(#pressing)
  end
  return table.concat(words, " · ")
end

return M
