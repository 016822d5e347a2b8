--- What Neovim starts the server with. The same for `vim.lsp.start`, `vim.lsp.config` and lsp/kernelcast.lua.
local client_of = require("kernelcast.client")
local options = require("kernelcast.options")

local M = {}

--- Documents for a browser are opened without waiting for it: Neovim's own handler would hold the editor up until the
--- program that opens them ends, and take a browser that stays for a failure.
local function show_document(err, params, ctx, config)
  if not params.external then
    return vim.lsp.handlers["window/showDocument"](err, params, ctx, config)
  end
  local opened = vim.ui.open(params.uri)
  return { success = opened ~= nil }
end

local LEVELS = { vim.log.levels.ERROR, vim.log.levels.WARN, vim.log.levels.INFO }

local function show_message(_, params)
  client_of.say(params.message, LEVELS[params.type] or vim.log.levels.DEBUG)
  return params
end

--- Settings may be changed, and a device chosen, between two starts of the server.
local function before_init(params, config)
  require("kernelcast.encoding").offer(params)
  params.initializationOptions = vim.tbl_extend("keep", params.initializationOptions or {}, {
    trusted = options.current.trusted,
    device = require("kernelcast.device").wanted(),
    settings = vim.tbl_get(config, "settings", "kernelcast") or vim.empty_dict(),
  })
end

---@return table
local function capabilities()
  local made = vim.lsp.protocol.make_client_capabilities()
  made.experimental = vim.tbl_deep_extend("force", made.experimental or {}, { kernelcast = { status = true } })
  return made
end

--- Since Neovim 0.11: a server for which no folder is named is not started.
---@param bufnr integer
---@param on_dir fun(root: string?)
local function root_dir(bufnr, on_dir)
  if require("kernelcast.hosts").concerns(bufnr) then
    on_dir(vim.fs.root(bufnr, options.current.root_markers))
  end
end

---@return vim.lsp.ClientConfig
function M.client()
  require("kernelcast.attach").watch()
  local settings = options.current.settings
  return {
    name = client_of.NAME,
    cmd = options.command_line(),
    filetypes = options.current.filetypes,
    root_markers = options.current.root_markers,
    root_dir = root_dir,
    settings = { kernelcast = vim.tbl_isempty(settings) and vim.empty_dict() or settings },
    capabilities = capabilities(),
    before_init = before_init,
    on_exit = require("kernelcast.restart").on_exit,
    commands = {
      ["kernelcast.chooseDevice"] = require("kernelcast.device").on_command,
    },
    handlers = {
      ["kernelcast/status"] = require("kernelcast.status").on_status,
      ["textDocument/inlayHint"] = require("kernelcast.hints").on_hints,
      ["window/showDocument"] = show_document,
      ["window/showMessage"] = show_message,
    },
  }
end

return M
