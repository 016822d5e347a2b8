require("kernelcast.filetype").register()
