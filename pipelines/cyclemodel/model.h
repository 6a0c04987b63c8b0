/* What every cycle model needs: integers whose arithmetic never traps, and files. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Shifts by any amount; too large a one leaves no bit, or only the sign. */
static inline uint64_t sf_shl(uint64_t value, uint64_t amount)
{
    return amount > 63 ? 0 : value << amount;
}

static inline int64_t sf_shr_i64(int64_t value, uint64_t amount)
{
    return value >> (amount > 63 ? 63 : amount);
}

static inline uint64_t sf_shr_u64(uint64_t value, uint64_t amount)
{
    return amount > 63 ? 0 : value >> amount;
}

/* Division by zero gives what a restoring divider gives: a quotient of ones, and the dividend. */
#define SF_SIGNED_DIVISION(name, type, unsigned_type)                                    \
    static inline type sf_div_##name(type a, type b)                                     \
    {                                                                                    \
        return b == 0 ? (a < 0 ? 1 : -1) : b == -1 ? (type)(0 - (unsigned_type)a) : a / b; \
    }                                                                                    \
    static inline type sf_rem_##name(type a, type b)                                     \
    {                                                                                    \
        return b == 0 ? a : b == -1 ? 0 : a % b;                                         \
    }
#define SF_UNSIGNED_DIVISION(name, type)                                                 \
    static inline type sf_div_##name(type a, type b) { return b == 0 ? (type)-1 : a / b; } \
    static inline type sf_rem_##name(type a, type b) { return b == 0 ? a : a % b; }
SF_SIGNED_DIVISION(i32, int32_t, uint32_t)
SF_SIGNED_DIVISION(i64, int64_t, uint64_t)
SF_UNSIGNED_DIVISION(u32, uint32_t)
SF_UNSIGNED_DIVISION(u64, uint64_t)

/* The same bits as another type. */
#define SF_BITS(name, to, from)                                                          \
    static inline to sf_##name(from value)                                               \
    {                                                                                    \
        to found;                                                                        \
        memcpy(&found, &value, sizeof found);                                            \
        return found;                                                                    \
    }
SF_BITS(float_of, float, uint32_t)
SF_BITS(double_of, double, uint64_t)
SF_BITS(bits_of_float, uint32_t, float)
SF_BITS(bits_of_double, uint64_t, double)

enum { SF_OK = 0, SF_CYCLE_LIMIT = 1, SF_OUTSIDE = 2 };

static void sf_get(FILE *file, void *to, size_t bytes)
{
    if (fread(to, 1, bytes, file) == bytes) return;
    fprintf(stderr, "short input\n");
    exit(5);
}

static void sf_put(FILE *file, const void *from, size_t bytes)
{
    if (fwrite(from, 1, bytes, file) == bytes) return;
    fprintf(stderr, "short output\n");
    exit(5);
}
