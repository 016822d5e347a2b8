--- A server that dies is started again, a few times and ever later; its buffers get it back, and their hints with it.
local client_of = require("kernelcast.client")

local M = {}

--- Before each new start; after as many deaths it is given up.
M.delays_ms = { 200, 1000, 4000, 10000 }
local FORGOTTEN_AFTER_MS = 3 * 60 * 1000 -- a server that ran for so long has recovered
local PATIENCE_MS = 3000 -- for one that is asked to leave

---@class kernelcast.Running
---@field config vim.lsp.ClientConfig
---@field buffers table<integer, true>
---@field since integer
---@field wanted boolean the user asked for the restart

---@type table<integer, kernelcast.Running>
local servers = {}
local deaths = 0

---@param client vim.lsp.Client
---@param bufnr integer
function M.attached(client, bufnr)
  local server = servers[client.id]
  if not server then
    server = { config = client.config, buffers = {}, since = vim.uv.now(), wanted = false }
    servers[client.id] = server
  end
  server.buffers[bufnr] = true
end

---@param server kernelcast.Running
local function start_again(server)
  for bufnr in pairs(server.buffers) do
    if vim.api.nvim_buf_is_loaded(bufnr) and vim.bo[bufnr].filetype ~= "" then
      vim.lsp.start(server.config, { bufnr = bufnr })
    end
  end
end

---@param server kernelcast.Running
local function after_death(server)
  if vim.uv.now() - server.since > FORGOTTEN_AFTER_MS then
    deaths = 0
  end
  deaths = deaths + 1
  local delay_ms = M.delays_ms[deaths]
  if delay_ms then
    vim.defer_fn(function()
      start_again(server)
    end, delay_ms)
  else
    local message = "the server ended %d times, so it is not started again. `:KernelcastLog` may say why; "
      .. "`:KernelcastRestart` starts it."
    local short = "the server keeps ending; see `:KernelcastLog`."
    client_of.say(message:format(deaths), vim.log.levels.ERROR, short)
  end
end

--- The `on_exit` of our clients. One that never came to be attached was never right: it is not tried again.
---@param code integer
---@param signal integer
---@param client_id integer
function M.on_exit(code, signal, client_id)
  local server = servers[client_id]
  servers[client_id] = nil
  if not server then
    return
  end
  -- Asked now: when this is over, Neovim has switched the hints off.
  vim.iter(vim.tbl_keys(server.buffers)):each(require("kernelcast.hints").remember)
  local fallen = code ~= 0 or (signal ~= 0 and signal ~= 15)
  vim.schedule(function()
    require("kernelcast.progress").forget(client_id)
    if vim.v.exiting ~= vim.NIL then
      return
    end
    if server.wanted then
      vim.schedule(function()
        start_again(server)
      end)
    elseif fallen then
      after_death(server)
    end
  end)
  M.last = server
end

--- `:KernelcastRestart`, for all our servers; where none is left, for the last one.
function M.restart()
  deaths = 0
  local clients = client_of.all()
  for _, client in ipairs(clients) do
    if servers[client.id] then
      servers[client.id].wanted = true
    end
    client_of.call(client, "stop")
    vim.defer_fn(function()
      if vim.lsp.get_client_by_id(client.id) then
        client_of.call(client, "stop", true)
      end
    end, PATIENCE_MS)
  end
  if #clients == 0 and M.last then
    start_again(M.last)
  end
end

return M
