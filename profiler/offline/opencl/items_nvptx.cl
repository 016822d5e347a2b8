// Work-items, barriers and fences on NVIDIA's GPUs. Source: "PTX ISA" 8.5, section 10 (special registers).
// The driver hands global offsets over in %envreg3 to %envreg5; see `llvm.nvvm.read.ptx.sreg.envreg*`.
uint kc_envreg3(void) __asm("llvm.nvvm.read.ptx.sreg.envreg3");
uint kc_envreg4(void) __asm("llvm.nvvm.read.ptx.sreg.envreg4");
uint kc_envreg5(void) __asm("llvm.nvvm.read.ptx.sreg.envreg5");
uint kc_envreg6(void) __asm("llvm.nvvm.read.ptx.sreg.envreg6");

#define KC_OF_DIMENSION(name, x, y, z, other) \
  KC_BUILTIN size_t name(uint d) { return d == 0 ? (x) : d == 1 ? (y) : d == 2 ? (z) : (other); }
KC_OF_DIMENSION(get_local_id, __nvvm_read_ptx_sreg_tid_x(), __nvvm_read_ptx_sreg_tid_y(), __nvvm_read_ptx_sreg_tid_z(), 0)
KC_OF_DIMENSION(get_group_id, __nvvm_read_ptx_sreg_ctaid_x(), __nvvm_read_ptx_sreg_ctaid_y(),
                __nvvm_read_ptx_sreg_ctaid_z(), 0)
KC_OF_DIMENSION(get_local_size, __nvvm_read_ptx_sreg_ntid_x(), __nvvm_read_ptx_sreg_ntid_y(),
                __nvvm_read_ptx_sreg_ntid_z(), 1)
KC_OF_DIMENSION(get_num_groups, __nvvm_read_ptx_sreg_nctaid_x(), __nvvm_read_ptx_sreg_nctaid_y(),
                __nvvm_read_ptx_sreg_nctaid_z(), 1)
KC_OF_DIMENSION(get_global_offset, kc_envreg3(), kc_envreg4(), kc_envreg5(), 0)
KC_BUILTIN uint get_work_dim(void) { return kc_envreg6(); }
KC_BUILTIN size_t get_global_size(uint d) { return get_num_groups(d) * get_local_size(d); }
KC_BUILTIN size_t get_global_id(uint d) {
  return (uint)get_group_id(d) * (uint)get_local_size(d) + (uint)get_local_id(d) + (uint)get_global_offset(d);
}
KC_BUILTIN uint get_sub_group_size(void) { return 32; }
KC_BUILTIN uint get_max_sub_group_size(void) { return 32; }
KC_BUILTIN uint get_sub_group_local_id(void) { return __nvvm_read_ptx_sreg_laneid(); }

KC_BUILTIN void barrier(cl_mem_fence_flags flags) { __nvvm_bar_sync(0); }
KC_BUILTIN void work_group_barrier(cl_mem_fence_flags flags) { __nvvm_bar_sync(0); }
KC_BUILTIN void work_group_barrier(cl_mem_fence_flags flags, memory_scope scope) { __nvvm_bar_sync(0); }
KC_BUILTIN void sub_group_barrier(cl_mem_fence_flags flags) { __nvvm_bar_warp_sync(-1); }
KC_BUILTIN void sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope) { __nvvm_bar_warp_sync(-1); }
KC_BUILTIN void mem_fence(cl_mem_fence_flags flags) { __nvvm_membar_cta(); }
KC_BUILTIN void read_mem_fence(cl_mem_fence_flags flags) { __nvvm_membar_cta(); }
KC_BUILTIN void write_mem_fence(cl_mem_fence_flags flags) { __nvvm_membar_cta(); }
KC_BUILTIN void atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order, memory_scope scope) {
  __nvvm_membar_gl();
}
