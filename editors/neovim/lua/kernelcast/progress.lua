--- What the server is busy with: shown in the message line where nothing else shows it, and cancelled on request.
local client_of = require("kernelcast.client")
local options = require("kernelcast.options")

local M = {}

local GROUP = "kernelcast.progress"

---@type table<integer, table<lsp.ProgressToken, string>> client -> token -> title
local running = {}

--- Whoever listens to LspProgress shows it: a notification plugin, a status line.
---@return boolean
local function shown_by_others()
  return vim.iter(vim.api.nvim_get_autocmds({ event = "LspProgress" })):any(function(autocmd)
    return autocmd.group_name ~= GROUP
  end)
end

---@class kernelcast.Progress
---@field kind "begin"|"report"|"end"
---@field title? string
---@field message? string
---@field percentage? integer

---@param value kernelcast.Progress
---@return string
local function worded(value)
  local title, message = value.title or "Kernelcast", value.message or ""
  local ended = value.kind == "end"
  if ended and message:find(title:match("%S+$"), 1, true) then
    return message -- it names what it is about
  end
  local percentage = value.percentage and not ended and (" %d %%"):format(value.percentage) or ""
  return title .. percentage .. (message ~= "" and (": " .. message) or "")
end

---@param value kernelcast.Progress
---@param id string
local function show(value, id)
  if vim.fn.mode():sub(1, 1) == "c" then
    return -- somebody is typing there
  end
  local ended = value.kind == "end"
  if vim.fn.has("nvim-0.12") == 1 and not ended then
    local before = vim.fn.strdisplaywidth(value.title or "") + #":  100% "
    vim.api.nvim_echo({ { client_of.fitting(value.message or "", before) } }, false, {
      id = id,
      kind = "progress",
      source = "kernelcast",
      title = value.title,
      percent = value.percentage,
      status = "running",
    })
    return
  end
  if ended and vim.fn.has("nvim-0.12") == 1 then
    vim.api.nvim_echo({}, false, { id = id, kind = "progress", source = "kernelcast", status = "success" })
  end
  vim.api.nvim_echo({ { client_of.fitting(worded(value)) } }, ended, {}) -- how it ended stays in `:messages`
end

local function on_progress(event)
  local client = client_of.by_id(event.data.client_id)
  local params = event.data.params or event.data.result
  local value = params and params.value
  if not client or type(value) ~= "table" or not value.kind then
    return
  end
  running[client.id] = running[client.id] or {}
  running[client.id][params.token] = value.kind ~= "end" and (value.title or "Kernelcast") or nil
  local wanted = options.current.progress
  if wanted == nil then
    wanted = not shown_by_others()
  end
  if wanted then
    show(value, ("kernelcast.%d.%s"):format(client.id, params.token))
  end
end

function M.watch()
  vim.api.nvim_create_autocmd("LspProgress", {
    group = vim.api.nvim_create_augroup(GROUP, { clear = true }),
    desc = "Show what Kernelcast is busy with",
    callback = on_progress,
  })
end

---@param client_id integer
function M.forget(client_id)
  running[client_id] = nil
end

--- Ends everything that our servers are busy with.
function M.cancel()
  local titles = {}
  for _, client in ipairs(client_of.all()) do
    for token, title in pairs(running[client.id] or {}) do
      client_of.call(client, "notify", "window/workDoneProgress/cancel", { token = token })
      titles[#titles + 1] = title
    end
  end
  if #titles == 0 then
    client_of.say("nothing is under way.")
  end
end

return M
