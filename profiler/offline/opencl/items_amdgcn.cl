// Work-items, barriers and fences on AMD's GPUs. Source: LLVM, "User Guide for AMDGPU Backend", code object version 5:
// the hidden arguments hold the global offset at byte 40 and the dimensions at byte 64.
#define KC_HIDDEN(type, offset) (*(__constant type *)((__constant char *)__builtin_amdgcn_implicitarg_ptr() + (offset)))

#define KC_OF_DIMENSION(name, x, y, z, other) \
  KC_BUILTIN size_t name(uint d) { return d == 0 ? (x) : d == 1 ? (y) : d == 2 ? (z) : (other); }
KC_OF_DIMENSION(get_local_id, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
                __builtin_amdgcn_workitem_id_z(), 0)
KC_OF_DIMENSION(get_group_id, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
                __builtin_amdgcn_workgroup_id_z(), 0)
KC_OF_DIMENSION(get_local_size, __builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(),
                __builtin_amdgcn_workgroup_size_z(), 1)
KC_OF_DIMENSION(get_enqueued_local_size, __builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(),
                __builtin_amdgcn_workgroup_size_z(), 1)
KC_OF_DIMENSION(get_global_size, __builtin_amdgcn_grid_size_x(), __builtin_amdgcn_grid_size_y(),
                __builtin_amdgcn_grid_size_z(), 1)
KC_OF_DIMENSION(get_num_groups, KC_HIDDEN(uint, 0), KC_HIDDEN(uint, 4), KC_HIDDEN(uint, 8), 1)
KC_OF_DIMENSION(get_global_offset, KC_HIDDEN(ulong, 40), KC_HIDDEN(ulong, 48), KC_HIDDEN(ulong, 56), 0)
KC_BUILTIN uint get_work_dim(void) { return KC_HIDDEN(ushort, 64); }
KC_BUILTIN size_t get_global_id(uint d) {
  return (uint)get_group_id(d) * (uint)get_local_size(d) + (uint)get_local_id(d) + get_global_offset(d);
}
KC_BUILTIN uint get_sub_group_size(void) { return __builtin_amdgcn_wavefrontsize(); }
KC_BUILTIN uint get_max_sub_group_size(void) { return __builtin_amdgcn_wavefrontsize(); }
KC_BUILTIN uint get_sub_group_local_id(void) { return __builtin_amdgcn_mbcnt_hi(-1, __builtin_amdgcn_mbcnt_lo(-1, 0)); }

KC_BUILTIN void barrier(cl_mem_fence_flags flags) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
KC_BUILTIN void work_group_barrier(cl_mem_fence_flags flags) { barrier(flags); }
KC_BUILTIN void work_group_barrier(cl_mem_fence_flags flags, memory_scope scope) { barrier(flags); }
KC_BUILTIN void sub_group_barrier(cl_mem_fence_flags flags) { __builtin_amdgcn_wave_barrier(); }
KC_BUILTIN void sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope) { __builtin_amdgcn_wave_barrier(); }
KC_BUILTIN void mem_fence(cl_mem_fence_flags flags) { __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup"); }
KC_BUILTIN void read_mem_fence(cl_mem_fence_flags flags) { __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); }
KC_BUILTIN void write_mem_fence(cl_mem_fence_flags flags) { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); }
KC_BUILTIN void atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order, memory_scope scope) {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}
