--- Which device predictions are for: chosen from a list, and kept while Neovim runs, over restarts of the server.
local client_of = require("kernelcast.client")
local options = require("kernelcast.options")

local M = {}

---@type string?
local chosen

---@return string id empty: the server decides
function M.wanted()
  return chosen or options.current.device or ""
end

---@class kernelcast.ListedDevice
---@field id string
---@field name string
---@field platform string
---@field type string
---@field here boolean
---@field calibrated boolean

---@param device kernelcast.ListedDevice
---@param current string
---@return string
local function described(device, current)
  local facts = { device.here and "in this machine" or "for predictions only" }
  if device.calibrated then
    facts[#facts + 1] = "calibrated"
  end
  if device.id == current then
    facts[#facts + 1] = "current"
  end
  return ("%s (%s): %s"):format(device.name, device.id, table.concat(facts, ", "))
end

---@param device kernelcast.ListedDevice
---@param bufnr integer?
local function choose(device, bufnr)
  client_of.ask("chooseDevice", { device.id }, function()
    chosen = device.id
    local words = client_of.fitting(("predictions are for %s"):format(device.name), #"Kernelcast: ")
    client_of.say(words)
  end, bufnr)
end

--- By its id, which somebody typed.
---@param id string
---@param bufnr integer?
function M.choose(id, bufnr)
  client_of.ask("listDevices", {}, function(listed)
    local found = vim.iter(listed.devices):find(function(device)
      return device.id == id
    end)
    if found then
      return choose(found, bufnr)
    end
    client_of.say(("no device has the id `%s`; `:KernelcastDevice` lists them."):format(id), vim.log.levels.WARN)
  end, bufnr)
end

---@param bufnr integer?
function M.select(bufnr)
  client_of.ask("listDevices", {}, function(listed)
    vim.ui.select(listed.devices, {
      prompt = "Device that predictions and measurements are for",
      kind = "kernelcast.device",
      format_item = function(device)
        return described(device, listed.current)
      end,
    }, function(device)
      if device then
        choose(device, bufnr)
      end
    end)
  end, bufnr)
end

--- Ids for completion.
---@param bufnr integer
---@return string[]
function M.ids(bufnr)
  local client = client_of.of(bufnr)
  local listed = client and client_of.ask_now(client, "listDevices", {}, bufnr, 500)
  return vim.tbl_map(function(device)
    return device.id
  end, listed and listed.devices or {})
end

--- What runs in place of the server's question when its code action is taken: that shows a button for each device.
---@param command lsp.Command
---@param ctx { bufnr: integer }
function M.on_command(command, ctx)
  local id = (command.arguments or {})[1]
  if type(id) == "string" and id ~= "" then
    M.choose(id, ctx.bufnr)
  else
    M.select(ctx.bufnr)
  end
end

return M
