--- What `require("kernelcast").setup()` takes, each with its default. The help file tells the same.
local M = {}

---@class kernelcast.Options
---@field cmd? string|string[] the server's executable, or the whole command line
---@field settings? table the server's settings, without the leading `kernelcast.`
---@field filetypes? string[]
---@field root_markers? string[]
---@field inlay_hints? boolean whether hints are switched on in buffers that the server is attached to
---@field device? string id of the device that predictions are for, until another is chosen
---@field trusted? boolean false: nothing of what is opened is run, so nothing is measured
---@field progress? boolean whether progress is shown below; nil: unless something else shows it

M.defaults = {
  cmd = { "kernelcast", "serve", "--stdio" },
  settings = {},
  filetypes = { "opencl", "python", "c", "cpp" },
  root_markers = { "kernelcast.toml", ".git" },
  inlay_hints = true,
  device = "",
  trusted = true,
  progress = nil,
}

local TYPES = {
  cmd = { "string", "table" },
  settings = { "table" },
  filetypes = { "table" },
  root_markers = { "table" },
  inlay_hints = { "boolean" },
  device = { "string" },
  trusted = { "boolean" },
  progress = { "boolean" },
}

---@type kernelcast.Options
M.current = vim.deepcopy(M.defaults)

--- What cannot be used is said, once, and keeps its default.
---@param given kernelcast.Options?
---@return string[] problems
function M.set(given)
  local problems = {}
  M.current = vim.deepcopy(M.defaults)
  for name, value in vim.spairs(given or {}) do
    local allowed = TYPES[name]
    if not allowed then
      local known = vim.tbl_keys(TYPES)
      table.sort(known)
      problems[#problems + 1] = ("there is no option `%s`; known are %s"):format(name, table.concat(known, ", "))
    elseif not vim.tbl_contains(allowed, type(value)) then
      problems[#problems + 1] = ("option `%s` must be a %s"):format(name, table.concat(allowed, " or a "))
    else
      M.current[name] = value
    end
  end
  return problems
end

--- The server's command line: a single word is its executable.
---@return string[]
function M.command_line()
  local cmd = M.current.cmd
  local words = type(cmd) == "table" and vim.deepcopy(cmd) or { cmd, "serve", "--stdio" }
  if words[1] then
    words[1] = vim.fs.normalize(words[1])
  end
  return words
end

return M
