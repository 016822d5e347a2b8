--- Our client among those that are attached to a buffer, and what is asked of it.
local M = {}

M.NAME = "kernelcast"

local methods_take_self = vim.fn.has("nvim-0.11") == 1

--- Neovim 0.10 binds a client's methods to it; later versions want it as the first argument.
---@param client vim.lsp.Client
---@param method string
function M.call(client, method, ...)
  if methods_take_self then
    return client[method](client, ...)
  end
  return client[method](...)
end

--- What is wider than the message line asks for Enter.
---@param text string
---@param before integer? columns that come before it
---@return string
function M.fitting(text, before)
  local room = math.max(vim.v.echospace - (before or 0), 20)
  return vim.fn.strdisplaywidth(text) <= room and text or vim.fn.strcharpart(text, 0, room - 1) .. "…"
end

--- Whether messages go to the message line: a plugin that shows them elsewhere puts a function of its own there.
---@return boolean
local function notify_is_neovims()
  local source = debug.getinfo(vim.notify, "S").source
  return source == "?" or source:find("editor%.lua$") ~= nil -- compiled, or not
end

local HIGHLIGHTS = { [vim.log.levels.ERROR] = "ErrorMsg", [vim.log.levels.WARN] = "WarningMsg" }
local REST = " (:messages)"

--- All of it into `:messages`, of the message line no more than one.
---@param line string
local function record(line)
  if vim.fn.has("nvim-0.12") == 1 then
    vim.notify(line, vim.log.levels.INFO, { _truncate = true })
  else
    vim.cmd.echomsg(vim.fn.string(line)) -- truncated, as the T in 'shortmess' wants it
  end
  vim.cmd.redraw() -- or the next message would come below
end

--- More than the message line holds would ask for Enter.
---@param message string
---@param level integer?
---@param short string? what to say where the message does not fit; by default as much of it as does
function M.say(message, level, short)
  local text = "Kernelcast: " .. message
  if not notify_is_neovims() or (not text:find("\n") and M.fitting(text) == text) then
    return vim.notify(text, level or vim.log.levels.INFO)
  end
  vim.iter(vim.gsplit(text, "\n")):each(record)
  local flat = text:gsub("\n", " ")
  local shown = short and M.fitting("Kernelcast: " .. short) or (M.fitting(flat, #REST) .. REST)
  vim.api.nvim_echo({ { shown, HIGHLIGHTS[level] } }, false, {})
end

---@param id integer
---@return vim.lsp.Client? client if it is one of ours
function M.by_id(id)
  local client = vim.lsp.get_client_by_id(id)
  return client and client.name == M.NAME and client or nil
end

---@param bufnr integer?
---@return vim.lsp.Client?
function M.of(bufnr)
  return vim.lsp.get_clients({ bufnr = bufnr or vim.api.nvim_get_current_buf(), name = M.NAME })[1]
end

---@return vim.lsp.Client[]
function M.all()
  return vim.lsp.get_clients({ name = M.NAME })
end

---@param client vim.lsp.Client
---@param command string
---@return boolean
function M.knows(client, command)
  local known = vim.tbl_get(client.server_capabilities or {}, "executeCommandProvider", "commands") or {}
  return vim.tbl_contains(known, command)
end

--- Nothing, where the user was told already: the server shows its own messages before it answers with an error.
---@param command string without the leading `kernelcast.`
---@param arguments any[]
---@param on_answer? fun(answer: any)
---@param bufnr integer?
function M.ask(command, arguments, on_answer, bufnr)
  bufnr = bufnr or vim.api.nvim_get_current_buf()
  local client = M.of(bufnr)
  if not client then
    return M.say("no server is attached to this buffer; `:checkhealth kernelcast` says why.", vim.log.levels.WARN)
  end
  local name = "kernelcast." .. command
  if not M.knows(client, name) then
    return M.say(("the server does not know `%s`; update it."):format(name), vim.log.levels.WARN)
  end
  M.call(client, "request", "workspace/executeCommand", { command = name, arguments = arguments }, function(err, answer)
    if err then
      M.say(err.message or tostring(err), vim.log.levels.ERROR)
    elseif on_answer and not (type(answer) == "table" and answer.error) then
      on_answer(answer)
    end
  end, bufnr)
end

--- Holds the editor up, so only for what is answered from memory: completion, health.
---@param client vim.lsp.Client
---@param command string without the leading `kernelcast.`
---@param arguments any[]
---@param bufnr integer
---@param timeout_ms integer
---@return any? answer nil when none came in time
function M.ask_now(client, command, arguments, bufnr, timeout_ms)
  local name = "kernelcast." .. command
  if not M.knows(client, name) then
    return nil
  end
  local params = { command = name, arguments = arguments }
  local reply = M.call(client, "request_sync", "workspace/executeCommand", params, timeout_ms, bufnr)
  local answer = reply and not reply.err and reply.result
  return type(answer) == "table" and not answer.error and answer or nil
end

return M
