-- For Neovim 0.11 and newer: `vim.lsp.enable("kernelcast")`, with or without `require("kernelcast").setup()`.
return require("kernelcast.config").client()
