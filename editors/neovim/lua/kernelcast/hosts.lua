--- Programs in Python, C and C++: the server is started for those that name a kernel, and for no others.
local options = require("kernelcast.options")

local M = {}

M.FILETYPES = { "python", "c", "cpp" }

--- What may stand between the two words when a literal breaks there, as the server has it.
local BETWEEN = "[%s\\\"'ntu8ULRrbBfF]*"

---@param text string
---@return boolean
function M.names_kernel(text)
  if not text:find("kernel", 1, true) then
    return false
  end
  return text:find("__kernel", 1, true) ~= nil
    or text:find("kernel[%s\\\"']" .. BETWEEN .. "void") ~= nil
    or text:find("kernel[%s\\\"']" .. BETWEEN .. "__attribute__") ~= nil
end

---@param bufnr integer
---@return boolean
function M.is_host(bufnr)
  local filetype = vim.bo[bufnr].filetype
  return vim.tbl_contains(M.FILETYPES, filetype) and vim.tbl_contains(options.current.filetypes, filetype)
end

--- Whether the server has something to do in a buffer.
---@param bufnr integer
---@return boolean
function M.concerns(bufnr)
  return not M.is_host(bufnr) or M.names_kernel(table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), "\n"))
end

--- Calls `start` for a host buffer in which a kernel was typed or pasted. A change within lines costs a look at the
--- cursor's line. One that adds lines costs a look at all: a paste may leave the cursor anywhere.
---@param group integer
---@param start fun(bufnr: integer)
function M.watch(group, start)
  local seen = {} ---@type table<integer, integer> lines of a buffer at the last look at all of it
  vim.api.nvim_create_autocmd({ "TextChanged", "InsertLeave" }, {
    group = group,
    desc = "Start Kernelcast for the first kernel of a host file",
    callback = function(event)
      local bufnr = event.buf
      local lines = vim.api.nvim_buf_line_count(bufnr)
      if lines == seen[bufnr] and not vim.api.nvim_get_current_line():find("kernel", 1, true) then
        return
      end
      if not M.is_host(bufnr) or require("kernelcast.client").of(bufnr) then
        return
      end
      seen[bufnr] = lines
      if M.concerns(bufnr) then
        start(bufnr)
      end
    end,
  })
  vim.api.nvim_create_autocmd("BufWipeout", {
    group = group,
    desc = "Forget a buffer that is gone",
    callback = function(event)
      seen[event.buf] = nil
    end,
  })
end

return M
