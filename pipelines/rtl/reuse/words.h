// Words of a simulated design, and the operations that C++ does not define for all operands.
#pragma once
#include <stdint.h>
#include <string.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;

#ifdef __CUDACC__
#define ANYWHERE __host__ __device__
#else
#define ANYWHERE
#endif

ANYWHERE static inline u32 udiv32(u32 a, u32 b) { return b ? a / b : 0; }
ANYWHERE static inline u64 udiv64(u64 a, u64 b) { return b ? a / b : 0; }
ANYWHERE static inline u32 urem32(u32 a, u32 b) { return b ? a % b : 0; }
ANYWHERE static inline u64 urem64(u64 a, u64 b) { return b ? a % b : 0; }
// The lowest number divided by -1 does not fit.
ANYWHERE static inline u32 sdiv32(i32 a, i32 b) { return b == 0 ? 0 : b == -1 ? 0u - (u32)a : (u32)(a / b); }
ANYWHERE static inline u64 sdiv64(i64 a, i64 b) { return b == 0 ? 0 : b == -1 ? 0ull - (u64)a : (u64)(a / b); }
ANYWHERE static inline u32 srem32(i32 a, i32 b) { return b == 0 || b == -1 ? 0 : (u32)(a % b); }
ANYWHERE static inline u64 srem64(i64 a, i64 b) { return b == 0 || b == -1 ? 0 : (u64)(a % b); }

ANYWHERE static inline u8 parity8(u8 a) { a ^= a >> 4; a ^= a >> 2; return (a ^ a >> 1) & 1; }
ANYWHERE static inline u8 parity16(u16 a) { return parity8((u8)(a ^ a >> 8)); }
ANYWHERE static inline u8 parity32(u32 a) { return parity16((u16)(a ^ a >> 16)); }
ANYWHERE static inline u8 parity64(u64 a) { return parity32((u32)(a ^ a >> 32)); }

// Drawn inputs are xorshift64; a digest takes in the sum of a cycle's outputs, each times its factor.
ANYWHERE static inline u64 next_random(u64 x) { x ^= x << 13; x ^= x >> 7; return x ^ x << 17; }
ANYWHERE static inline u64 next_digest(u64 d, u64 sum) { return ((d << 5 | d >> 59) ^ sum) * 0xbf58476d1ce4e5b9ull; }

// Before a loop over lanes: no lane reads what another one writes in the same loop.
#ifdef __clang__
#define LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define LANES _Pragma("GCC ivdep")
#endif
