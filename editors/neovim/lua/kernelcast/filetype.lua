--- Which files are OpenCL C. `.cl` is Common Lisp's suffix, too: such files stay what they are.
local M = {}

--- Blank lines and all: what comes before the first word of a file.
local LINES_READ = 200

--- Neither language starts a file as the other does: Lisp with a parenthesis, a `;` comment, a quote or a reader macro;
--- C with a word, a comment or a directive.
---@param lines string[]
---@return boolean
function M.looks_like_lisp(lines)
  for number, line in ipairs(lines) do
    local text = number == 1 and line:gsub("^\239\187\191", "") or line
    local first, second = text:match("^%s*(%S)(%S?)")
    if first == "#" then
      -- `#!` starts a script; of the C directives none has a mark behind the `#`.
      return second:match("[|+%-.:'(!]") ~= nil
    elseif first then
      return first:match("[(;'`]") ~= nil
    end
  end
  return false
end

---@param bufnr integer?
---@return string filetype
local function of_cl(_, bufnr)
  if not bufnr then
    return "opencl"
  end
  return M.looks_like_lisp(vim.api.nvim_buf_get_lines(bufnr, 0, LINES_READ, false)) and "lisp" or "opencl"
end

function M.register()
  vim.filetype.add({ extension = { cl = of_cl, clh = "opencl", opencl = "opencl" } })
end

return M
