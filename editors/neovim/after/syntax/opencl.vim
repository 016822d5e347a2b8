" Neovim 0.10 has no syntax of its own for OpenCL C, and 0.12 shows it as C. Whatever colours more than that stays.
if get(b:, 'current_syntax', 'c') !=# 'c'
  finish
endif
if !exists('b:current_syntax')
  runtime! syntax/c.vim
endif

syntax keyword openclQualifier kernel __kernel global __global local __local constant __constant private __private
syntax keyword openclQualifier generic __generic read_only __read_only write_only __write_only
syntax keyword openclQualifier read_write __read_write
syntax keyword openclType half event_t sampler_t queue_t ndrange_t clk_event_t reserve_id_t
syntax match openclType /\<\%(u\?\%(char\|short\|int\|long\)\|half\|float\|double\)\%(2\|3\|4\|8\|16\)\>/
syntax match openclType /\<\%(uchar\|ushort\|uint\|ulong\)\>/
syntax match openclType /\<image\%(1d\|2d\|3d\)\%(_buffer\|_array\)\?\%(_msaa\)\?\%(_depth\)\?_t\>/
syntax match openclFunction /\<get_\%(global\|local\|group\|work\|num\|enqueued\|sub_group\)_\w\+\>/
syntax keyword openclFunction barrier work_group_barrier mem_fence read_mem_fence write_mem_fence
syntax match openclConstant /\<CLK_[A-Z0-9_]\+\>/

highlight default link openclQualifier StorageClass
highlight default link openclType Type
highlight default link openclFunction Function
highlight default link openclConstant Constant

let b:current_syntax = 'opencl'
