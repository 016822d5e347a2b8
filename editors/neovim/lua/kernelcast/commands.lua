--- The commands of a buffer that the server is attached to.
local client_of = require("kernelcast.client")
local kernels = require("kernelcast.kernels")

local M = {}

---@param command string
---@param bufnr integer
---@param name string?
local function measure_launch(command, bufnr, name)
  kernels.with(bufnr, name, function(kernel)
    kernels.with_launch(kernel, function(launch)
      client_of.ask(command, { kernels.uri(bufnr), kernel.name, launch }, nil, bufnr)
    end)
  end)
end

---@param bufnr integer
---@param name string?
function M.measure(bufnr, name)
  measure_launch("measure", bufnr, name)
end

---@param bufnr integer
---@param name string?
function M.measure_sizes(bufnr, name)
  measure_launch("measureSizes", bufnr, name)
end

---@param bufnr integer
---@param name string?
function M.tune(bufnr, name)
  measure_launch("tune", bufnr, name)
end

---@class kernelcast.Fix
---@field launch string
---@field code string
---@field title string
---@field label string the title with its predicted gain
---@field promise string what it is only right under; empty for most
---@field measurable boolean

---@param bufnr integer
---@param kernel string
---@param fixes kernelcast.Fix[]
local function pick_fix(bufnr, kernel, fixes)
  if #fixes == 0 then
    return client_of.say(("no fix is known that would make `%s` faster by 5 %% or more."):format(kernel))
  end
  vim.ui.select(fixes, {
    prompt = ("Fix of %s to apply and measure"):format(kernel),
    kind = "kernelcast.fix",
    format_item = function(fix)
      return fix.label .. (fix.promise ~= "" and ("; right only if " .. fix.promise) or "")
    end,
  }, function(fix)
    if fix then
      client_of.ask("applyAndMeasure", { kernels.uri(bufnr), kernel, fix.launch, fix.code, fix.title }, nil, bufnr)
    end
  end)
end

--- Asks even for a single one: it edits the buffer, and takes the edit back unless it proves to be faster.
---@param bufnr integer
---@param name string?
function M.fix(bufnr, name)
  kernels.with(bufnr, name, function(kernel)
    kernels.with_launch(kernel, function(launch)
      client_of.ask("listFixes", { kernels.uri(bufnr), kernel.name, launch }, function(fixes)
        pick_fix(bufnr, kernel.name, fixes)
      end, bufnr)
    end)
  end)
end

--- Of the kernel that the cursor is in; without ids on the devices that are set.
---@param bufnr integer
---@param ids string? separated by spaces or commas
function M.compare(bufnr, ids)
  kernels.with(bufnr, nil, function(kernel)
    kernels.with_launch(kernel, function(launch)
      local named = (ids or ""):gsub("[%s,]+", ",")
      client_of.ask("compareDevices", { kernels.uri(bufnr), kernel.name, launch, named }, function(found)
        require("kernelcast.info").open(vim.split(vim.trim(found.text), "\n"), "text")
      end, bufnr)
    end)
  end)
end

---@param bufnr integer
function M.measure_all(bufnr)
  client_of.ask("measureAll", { kernels.uri(bufnr) }, nil, bufnr)
end

---@param bufnr integer
---@param id string?
function M.device(bufnr, id)
  local device = require("kernelcast.device")
  if id and id ~= "" then
    device.choose(id, bufnr)
  else
    device.select(bufnr)
  end
end

---@param bufnr integer
function M.calibrate(bufnr)
  client_of.ask("calibrate", {}, nil, bufnr)
end

---@param bufnr integer
function M.learn(bufnr)
  client_of.ask("learn", {}, nil, bufnr)
end

---@param bufnr integer
function M.annotate(bufnr)
  kernels.with(bufnr, nil, function(kernel)
    client_of.ask("writeAnnotation", { kernels.uri(bufnr), kernel.name }, nil, bufnr)
  end)
end

--- Without a name for the whole file.
---@param bufnr integer
---@param name string?
function M.report(bufnr, name)
  local arguments = { kernels.uri(bufnr) }
  if name and name ~= "" then
    arguments[2] = name
  end
  client_of.ask("report", arguments, nil, bufnr)
end

---@param bufnr integer
function M.program(bufnr)
  client_of.ask("program", { kernels.uri(bufnr) }, nil, bufnr)
end

function M.log()
  local path = vim.lsp.log and vim.lsp.log.get_filename and vim.lsp.log.get_filename() or vim.lsp.get_log_path()
  if vim.fn.filereadable(path) == 0 then
    return client_of.say(("there is no log yet; it would be %s."):format(path))
  end
  vim.cmd.split(vim.fn.fnameescape(path))
  vim.bo.readonly = true
  vim.bo.modifiable = false
  vim.cmd.normal({ "G", bang = true })
end

---@class kernelcast.Command
---@field name string
---@field desc string
---@field run fun(bufnr: integer, argument: string)
---@field nargs? string
---@field complete? fun(bufnr: integer): string[]

---@type kernelcast.Command[]
local COMMANDS = {
  { name = "Measure", desc = "Run a kernel on the device", run = M.measure, complete = kernels.names },
  {
    name = "MeasureSizes",
    desc = "Run a kernel at several sizes, to predict its others",
    run = M.measure_sizes,
    complete = kernels.names,
  },
  { name = "MeasureAll", desc = "Run all kernels of the file on the device", run = M.measure_all },
  {
    name = "Tune",
    desc = "Find a faster launch of a kernel",
    run = M.tune,
    complete = kernels.names,
  },
  {
    name = "Fix",
    desc = "Apply a fix, and keep it if it proves to be faster",
    run = M.fix,
    complete = kernels.names,
  },
  {
    name = "Compare",
    desc = "Predict a kernel on several devices",
    run = M.compare,
    nargs = "*",
    complete = function(bufnr)
      return require("kernelcast.device").ids(bufnr)
    end,
  },
  {
    name = "Device",
    desc = "Choose the device that predictions are for",
    run = M.device,
    complete = function(bufnr)
      return require("kernelcast.device").ids(bufnr)
    end,
  },
  { name = "Calibrate", desc = "Measure what the device sustains", run = M.calibrate },
  { name = "Learn", desc = "Measure kernels to learn what is predicted wrong on the device", run = M.learn },
  { name = "Annotate", desc = "Write the launch above the kernel", run = M.annotate },
  { name = "Report", desc = "Show the performance report", run = M.report, complete = kernels.names },
  { name = "Program", desc = "Predict the whole program that was recorded last", run = M.program },
  {
    name = "Cancel",
    desc = "End what is under way",
    run = function()
      require("kernelcast.progress").cancel()
    end,
  },
  {
    name = "Restart",
    desc = "Restart the server",
    run = function()
      require("kernelcast.restart").restart()
    end,
  },
  { name = "Log", desc = "Open the log of the language servers", run = M.log },
  {
    name = "Info",
    desc = "Show debug information",
    run = function(bufnr)
      require("kernelcast.info").show(bufnr)
    end,
  },
}

--- Made once for each buffer, and left when the server goes: what starts it again is among them.
---@param bufnr integer
function M.create(bufnr)
  for _, command in ipairs(COMMANDS) do
    vim.api.nvim_buf_create_user_command(bufnr, "Kernelcast" .. command.name, function(call)
      command.run(bufnr, call.args)
    end, {
      desc = "Kernelcast: " .. command.desc,
      nargs = command.nargs or (command.complete and "?" or 0),
      complete = command.complete and function(lead)
        return vim.tbl_filter(function(word)
          return vim.startswith(word, lead)
        end, command.complete(bufnr))
      end or nil,
    })
  end
end

return M
