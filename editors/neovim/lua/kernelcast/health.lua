--- `:checkhealth kernelcast`
local client_of = require("kernelcast.client")
local missing = require("kernelcast.missing")
local options = require("kernelcast.options")
local health = vim.health

local M = {}

local function check_neovim()
  health.start("Neovim")
  if vim.fn.has("nvim-0.10") == 0 then
    return health.error(("Neovim %s has no inlay hints"):format(vim.version()), "Use Neovim 0.10 or newer.")
  end
  health.ok(("Neovim %s has inlay hints"):format(vim.version()))
end

---@return string
local function executable()
  local config = missing.enabled_config()
  local cmd = config and config.cmd or options.command_line()
  return type(cmd) == "table" and cmd[1] or "kernelcast"
end

local function check_server()
  health.start("The server")
  local name = executable()
  if vim.fn.executable(name) == 0 then
    return health.error(missing.advice(name))
  end
  local path = vim.fn.exepath(name)
  local known, ran = pcall(function()
    return vim.system({ path, "--version" }, { text = true }):wait(10000)
  end)
  if known and ran.code == 0 then
    health.ok(("%s (%s)"):format(vim.trim(ran.stdout), path))
  else
    local why = known and vim.trim(ran.stderr or "") or tostring(ran)
    health.error(("%s does not run: %s"):format(path, why), "Install Kernelcast anew in its environment.")
  end
end

---@param name string
---@param lines string[]
---@return string?
local function filetype_of(name, lines)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  local found = vim.filetype.match({ filename = name, buf = bufnr })
  vim.api.nvim_buf_delete(bufnr, { force = true })
  return found
end

local function check_filetype()
  health.start("File types")
  local opencl = filetype_of("scale.cl", { "__kernel void scale(__global float *x) {}" })
  if opencl == "opencl" then
    health.ok("files that end in .cl are OpenCL C, those with Common Lisp in them stay `lisp`")
  else
    health.warn(("a .cl file with a kernel is taken for `%s`"):format(opencl or ""), {
      "Another rule comes after this plugin's: see `vim.filetype.add` in your configuration.",
    })
  end
end

---@param client vim.lsp.Client
---@param bufnr integer
local function check_devices(client, bufnr)
  local listed = client_of.ask_now(client, "listDevices", {}, bufnr, 10000)
  if not listed then
    return health.warn("the server did not say which devices there are", "`:KernelcastLog` may say why.")
  end
  for _, device in ipairs(listed.devices) do
    local facts = {}
    if device.id == listed.current then
      facts[#facts + 1] = "predictions are for it"
    end
    if device.calibrated then
      facts[#facts + 1] = "calibrated"
    end
    if device.here or device.id == listed.current then
      local place = device.here and "in this machine" or "not in this machine"
      health.info(("device %s (%s), %s"):format(device.name, device.id, table.concat({ place, unpack(facts) }, ", ")))
    end
  end
end

---@param bufnr integer
local function check_problems(bufnr)
  local status = require("kernelcast.status").of(bufnr)
  for _, problem in ipairs(status and status.problems or {}) do
    local advice = type(problem.command) == "table" and ("Then: %s."):format(problem.command.title) or nil
    if problem.severity == "information" then
      health.info(problem.message)
    else
      (problem.severity == "error" and health.error or health.warn)(problem.message, advice)
    end
  end
end

local function check_buffers()
  health.start("Buffers")
  local clients = client_of.all()
  if #clients == 0 then
    local how = vim.lsp.config and 'vim.lsp.enable("kernelcast")' or 'require("kernelcast").setup()'
    return health.warn("the server is attached to no buffer", {
      "Open a file with OpenCL C in it.",
      ("Your configuration needs `%s`."):format(how),
    })
  end
  for _, client in ipairs(clients) do
    local buffers = vim.lsp.get_buffers_by_client_id(client.id)
    health.ok(("the server runs for %s"):format(client.config.root_dir or "single files"))
    for _, bufnr in ipairs(buffers) do
      local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(bufnr), ":~:.")
      local hints = vim.lsp.inlay_hint.is_enabled({ bufnr = bufnr }) and "on" or "off"
      health.info(("%s: inlay hints are %s"):format(name, hints))
      check_problems(bufnr)
    end
    if buffers[1] then
      check_devices(client, buffers[1])
    end
  end
end

function M.check()
  check_neovim()
  check_server()
  check_filetype()
  check_buffers()
end

return M
