// Vector loads and stores, atomics, copies between address spaces: OpenCL C 3.0, sections 6.15.7, 6.15.11, 6.15.12.
#define KC_LOAD(T, N, AS) \
  KC_BUILTIN T##N vload##N(size_t i, const AS T *p) { \
    typedef T##N unaligned __attribute__((aligned(sizeof(T)))); \
    return *(const AS unaligned *)(p + N * i); \
  }
#define KC_LOADS(T, AS) \
  KC_LOAD(T, 2, AS) KC_LOAD(T, 4, AS) KC_LOAD(T, 8, AS) KC_LOAD(T, 16, AS) \
  KC_BUILTIN T##3 vload3(size_t i, const AS T *p) { return (T##3)(p[3 * i], p[3 * i + 1], p[3 * i + 2]); }
#define KC_STORE(T, N, AS) \
  KC_BUILTIN void vstore##N(T##N v, size_t i, AS T *p) { \
    typedef T##N unaligned __attribute__((aligned(sizeof(T)))); \
    *(AS unaligned *)(p + N * i) = v; \
  }
#define KC_STORES(T, AS) \
  KC_STORE(T, 2, AS) KC_STORE(T, 4, AS) KC_STORE(T, 8, AS) KC_STORE(T, 16, AS) \
  KC_BUILTIN void vstore3(T##3 v, size_t i, AS T *p) { p[3 * i] = v.x; p[3 * i + 1] = v.y; p[3 * i + 2] = v.z; }

// Rounding modes cost the same and are not told apart.
#define KC_HALF_LOAD(N, AS) \
  KC_BUILTIN float##N vload_half##N(size_t i, const AS half *p) { return convert_float##N(vload##N(i, p)); } \
  KC_BUILTIN float##N vloada_half##N(size_t i, const AS half *p) { return convert_float##N(((const AS half##N *)p)[i]); }
#define KC_HALF_LOADS(AS) \
  KC_HALF_LOAD(2, AS) KC_HALF_LOAD(3, AS) KC_HALF_LOAD(4, AS) KC_HALF_LOAD(8, AS) KC_HALF_LOAD(16, AS) \
  KC_BUILTIN float vload_half(size_t i, const AS half *p) { return p[i]; }
#define KC_HALF_STORE(T, N, AS, mode) \
  KC_BUILTIN void vstore_half##N##mode(T##N v, size_t i, AS half *p) { vstore##N(convert_half##N(v), i, p); } \
  KC_BUILTIN void vstorea_half##N##mode(T##N v, size_t i, AS half *p) { ((AS half##N *)p)[i] = convert_half##N(v); }
#define KC_HALF_STORES_OF(T, AS, mode) \
  KC_HALF_STORE(T, 2, AS, mode) KC_HALF_STORE(T, 3, AS, mode) KC_HALF_STORE(T, 4, AS, mode) \
  KC_HALF_STORE(T, 8, AS, mode) KC_HALF_STORE(T, 16, AS, mode) \
  KC_BUILTIN void vstore_half##mode(T v, size_t i, AS half *p) { p[i] = (half)v; }
#define KC_HALF_STORES_MODES(T, AS) \
  KC_HALF_STORES_OF(T, AS, ) KC_HALF_STORES_OF(T, AS, _rte) KC_HALF_STORES_OF(T, AS, _rtz) \
  KC_HALF_STORES_OF(T, AS, _rtp) KC_HALF_STORES_OF(T, AS, _rtn)

#define KC_LOADS_OF(AS) \
  KC_LOADS(char, AS) KC_LOADS(uchar, AS) KC_LOADS(short, AS) KC_LOADS(ushort, AS) KC_LOADS(int, AS) \
  KC_LOADS(uint, AS) KC_LOADS(long, AS) KC_LOADS(ulong, AS) KC_LOADS(float, AS) KC_LOADS(double, AS) \
  KC_LOADS(half, AS) KC_HALF_LOADS(AS)
#define KC_STORES_OF(AS) \
  KC_STORES(char, AS) KC_STORES(uchar, AS) KC_STORES(short, AS) KC_STORES(ushort, AS) KC_STORES(int, AS) \
  KC_STORES(uint, AS) KC_STORES(long, AS) KC_STORES(ulong, AS) KC_STORES(float, AS) KC_STORES(double, AS) \
  KC_STORES(half, AS) KC_HALF_STORES_MODES(float, AS) KC_HALF_STORES_MODES(double, AS)
KC_LOADS_OF(__global) KC_LOADS_OF(__local) KC_LOADS_OF(__constant) KC_LOADS_OF(__private)
KC_STORES_OF(__global) KC_STORES_OF(__local) KC_STORES_OF(__private)
#ifdef KC_HAS_GENERIC
KC_LOADS_OF(__generic) KC_STORES_OF(__generic)
#endif

// OpenCL 1: relaxed, for the whole device.
#define KC_RELAXED __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE
#define KC_ATOMIC1(T, AS, prefix) \
  KC_BUILTIN T prefix##add(volatile AS T *p, T v) { return __scoped_atomic_fetch_add(p, v, KC_RELAXED); } \
  KC_BUILTIN T prefix##sub(volatile AS T *p, T v) { return __scoped_atomic_fetch_sub(p, v, KC_RELAXED); } \
  KC_BUILTIN T prefix##inc(volatile AS T *p) { return __scoped_atomic_fetch_add(p, (T)1, KC_RELAXED); } \
  KC_BUILTIN T prefix##dec(volatile AS T *p) { return __scoped_atomic_fetch_sub(p, (T)1, KC_RELAXED); } \
  KC_BUILTIN T prefix##and(volatile AS T *p, T v) { return __scoped_atomic_fetch_and(p, v, KC_RELAXED); } \
  KC_BUILTIN T prefix##or(volatile AS T *p, T v) { return __scoped_atomic_fetch_or(p, v, KC_RELAXED); } \
  KC_BUILTIN T prefix##xor(volatile AS T *p, T v) { return __scoped_atomic_fetch_xor(p, v, KC_RELAXED); } \
  KC_BUILTIN T prefix##min(volatile AS T *p, T v) { return __scoped_atomic_fetch_min(p, v, KC_RELAXED); } \
  KC_BUILTIN T prefix##max(volatile AS T *p, T v) { return __scoped_atomic_fetch_max(p, v, KC_RELAXED); } \
  KC_BUILTIN T prefix##xchg(volatile AS T *p, T v) { return __scoped_atomic_exchange_n(p, v, KC_RELAXED); } \
  KC_BUILTIN T prefix##cmpxchg(volatile AS T *p, T expected, T v) { \
    __scoped_atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, KC_RELAXED); \
    return expected; \
  }
#define KC_ATOMICS1(AS) \
  KC_ATOMIC1(int, AS, atomic_) KC_ATOMIC1(uint, AS, atomic_) KC_ATOMIC1(int, AS, atom_) KC_ATOMIC1(uint, AS, atom_) \
  KC_ATOMIC1(long, AS, atom_) KC_ATOMIC1(ulong, AS, atom_) \
  KC_BUILTIN float atomic_xchg(volatile AS float *p, float v) { \
    return as_float(__scoped_atomic_exchange_n((volatile AS int *)p, as_int(v), KC_RELAXED)); \
  }
KC_ATOMICS1(__global) KC_ATOMICS1(__local)

// OpenCL 2: orders are given at run time, in almost all programs as constants.
#define KC_FETCH(T, A, AS, name) \
  KC_BUILTIN T atomic_fetch_##name(volatile AS A *p, T v) { \
    return __opencl_atomic_fetch_##name(p, v, memory_order_seq_cst, memory_scope_device); \
  } \
  KC_BUILTIN T atomic_fetch_##name##_explicit(volatile AS A *p, T v, memory_order order) { \
    return __opencl_atomic_fetch_##name(p, v, memory_order_relaxed, memory_scope_device); \
  } \
  KC_BUILTIN T atomic_fetch_##name##_explicit(volatile AS A *p, T v, memory_order order, memory_scope scope) { \
    return __opencl_atomic_fetch_##name(p, v, memory_order_relaxed, memory_scope_device); \
  }
#define KC_PLAIN_ATOMICS(T, A, AS) \
  KC_BUILTIN void atomic_init(volatile AS A *p, T v) { __opencl_atomic_init(p, v); } \
  KC_BUILTIN T atomic_load(volatile AS A *p) { \
    return __opencl_atomic_load(p, memory_order_seq_cst, memory_scope_device); \
  } \
  KC_BUILTIN T atomic_load_explicit(volatile AS A *p, memory_order order) { \
    return __opencl_atomic_load(p, memory_order_relaxed, memory_scope_device); \
  } \
  KC_BUILTIN T atomic_load_explicit(volatile AS A *p, memory_order order, memory_scope scope) { \
    return __opencl_atomic_load(p, memory_order_relaxed, memory_scope_device); \
  } \
  KC_BUILTIN void atomic_store(volatile AS A *p, T v) { \
    __opencl_atomic_store(p, v, memory_order_seq_cst, memory_scope_device); \
  } \
  KC_BUILTIN void atomic_store_explicit(volatile AS A *p, T v, memory_order order) { \
    __opencl_atomic_store(p, v, memory_order_relaxed, memory_scope_device); \
  } \
  KC_BUILTIN void atomic_store_explicit(volatile AS A *p, T v, memory_order order, memory_scope scope) { \
    __opencl_atomic_store(p, v, memory_order_relaxed, memory_scope_device); \
  } \
  KC_BUILTIN T atomic_exchange(volatile AS A *p, T v) { \
    return __opencl_atomic_exchange(p, v, memory_order_seq_cst, memory_scope_device); \
  } \
  KC_BUILTIN T atomic_exchange_explicit(volatile AS A *p, T v, memory_order order) { \
    return __opencl_atomic_exchange(p, v, memory_order_relaxed, memory_scope_device); \
  } \
  KC_BUILTIN T atomic_exchange_explicit(volatile AS A *p, T v, memory_order order, memory_scope scope) { \
    return __opencl_atomic_exchange(p, v, memory_order_relaxed, memory_scope_device); \
  } \
  KC_COMPARE(T, A, AS, strong, __private) KC_COMPARE(T, A, AS, weak, __private) KC_COMPARE(T, A, AS, strong, __global) \
  KC_COMPARE(T, A, AS, strong, __local) KC_COMPARE(T, A, AS, weak, __global) KC_COMPARE(T, A, AS, weak, __local) \
  KC_COMPARE_GENERIC(T, A, AS)
#define KC_COMPARE(T, A, AS, strength, FROM) \
  KC_BUILTIN bool atomic_compare_exchange_##strength(volatile AS A *p, FROM T *expected, T v) { \
    return __opencl_atomic_compare_exchange_##strength( \
        p, expected, v, memory_order_seq_cst, memory_order_seq_cst, memory_scope_device); \
  } \
  KC_BUILTIN bool atomic_compare_exchange_##strength##_explicit( \
      volatile AS A *p, FROM T *expected, T v, memory_order success, memory_order failure) { \
    return __opencl_atomic_compare_exchange_##strength( \
        p, expected, v, memory_order_relaxed, memory_order_relaxed, memory_scope_device); \
  } \
  KC_BUILTIN bool atomic_compare_exchange_##strength##_explicit( \
      volatile AS A *p, FROM T *expected, T v, memory_order success, memory_order failure, memory_scope scope) { \
    return __opencl_atomic_compare_exchange_##strength( \
        p, expected, v, memory_order_relaxed, memory_order_relaxed, memory_scope_device); \
  }
#ifdef KC_HAS_GENERIC
#define KC_COMPARE_GENERIC(T, A, AS) KC_COMPARE(T, A, AS, strong, __generic) KC_COMPARE(T, A, AS, weak, __generic)
#else
#define KC_COMPARE_GENERIC(T, A, AS)
#endif
#define KC_ATOMICS2(T, A, AS) \
  KC_PLAIN_ATOMICS(T, A, AS) KC_FETCH(T, A, AS, add) KC_FETCH(T, A, AS, sub) KC_FETCH(T, A, AS, and) \
  KC_FETCH(T, A, AS, or) KC_FETCH(T, A, AS, xor) KC_FETCH(T, A, AS, min) KC_FETCH(T, A, AS, max)
#define KC_ATOMICS2_OF(AS) \
  KC_ATOMICS2(int, atomic_int, AS) KC_ATOMICS2(uint, atomic_uint, AS) KC_ATOMICS2(long, atomic_long, AS) \
  KC_ATOMICS2(ulong, atomic_ulong, AS) KC_PLAIN_ATOMICS(float, atomic_float, AS) KC_FETCH(float, atomic_float, AS, add)
KC_ATOMICS2_OF(__global) KC_ATOMICS2_OF(__local)
#ifdef KC_HAS_GENERIC
KC_ATOMICS2_OF(__generic)
#endif

// The work-items of a group share a copy, as drivers without copy engines do it.
KC_BUILTIN size_t get_local_linear_id(void) {
  return ((uint)get_local_id(2) * (uint)get_local_size(1) + (uint)get_local_id(1)) * (uint)get_local_size(0) +
         (uint)get_local_id(0);
}
KC_BUILTIN size_t get_global_linear_id(void) {
  return ((get_global_id(2) - get_global_offset(2)) * get_global_size(1) + get_global_id(1) - get_global_offset(1)) *
             get_global_size(0) + get_global_id(0) - get_global_offset(0);
}
#define KC_GROUP_ITEMS ((uint)get_local_size(0) * (uint)get_local_size(1) * (uint)get_local_size(2))
#define KC_COPY(T, TO, FROM) \
  KC_BUILTIN event_t async_work_group_copy(TO T *to, const FROM T *from, size_t n, event_t e) { \
    for (size_t i = get_local_linear_id(); i < n; i += KC_GROUP_ITEMS) to[i] = from[i]; \
    return e; \
  }
#define KC_COPIES(T) \
  KC_COPY(T, __local, __global) KC_COPY(T, __global, __local) \
  KC_BUILTIN event_t async_work_group_strided_copy(__local T *to, const __global T *from, size_t n, size_t s, event_t e) { \
    for (size_t i = get_local_linear_id(); i < n; i += KC_GROUP_ITEMS) to[i] = from[i * s]; \
    return e; \
  } \
  KC_BUILTIN event_t async_work_group_strided_copy(__global T *to, const __local T *from, size_t n, size_t s, event_t e) { \
    for (size_t i = get_local_linear_id(); i < n; i += KC_GROUP_ITEMS) to[i * s] = from[i]; \
    return e; \
  } \
  KC_BUILTIN void prefetch(const __global T *p, size_t n) {}
#define KC_COPIES_WIDTHS(T) KC_EACH_WIDTH(KC_COPIES, T)
KC_EACH_INT(KC_COPIES_WIDTHS) KC_COPIES_WIDTHS(float) KC_COPIES_WIDTHS(double) KC_COPIES_WIDTHS(half)
KC_BUILTIN void wait_group_events(int n, __private event_t *events) { barrier(CLK_LOCAL_MEM_FENCE); }
#ifdef KC_HAS_GENERIC
KC_BUILTIN void wait_group_events(int n, __generic event_t *events) { barrier(CLK_LOCAL_MEM_FENCE); }
#endif
