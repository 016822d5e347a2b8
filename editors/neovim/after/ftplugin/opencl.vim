" Neovim 0.10 has no settings of its own for OpenCL C; where there are some, they stay.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

setlocal comments=sO:*\ -,mO:*\ \ ,exO:*/,s1:/*,mb:*,ex:*/,://
setlocal commentstring=//\ %s
setlocal formatoptions-=t formatoptions+=croql
setlocal include=^\\s*#\\s*include
setlocal define=^\\s*#\\s*define
let b:undo_ftplugin = 'setlocal comments< commentstring< formatoptions< include< define<'
