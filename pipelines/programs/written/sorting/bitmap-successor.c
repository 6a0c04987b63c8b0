#include <stdint.h>
#ifndef OPS
#define OPS 600
#endif

/* Three-level bitmap over 0..32767 : insert, delete, successor, in O(1) words. */
#define ctz32(x) ((unsigned)__builtin_ctz(x))

static uint32_t l0[1024], l1[32], l2;

static void bs_set(unsigned v)   { l0[v >> 5] |= 1u << (v & 31); l1[v >> 10] |= 1u << ((v >> 5) & 31); l2 |= 1u << (v >> 10); }

static void bs_clear(unsigned v)
{
    if (l0[v >> 5] &= ~(1u << (v & 31))) return;
    if (l1[v >> 10] &= ~(1u << ((v >> 5) & 31))) return;
    l2 &= ~(1u << (v >> 10));
}

/* bits strictly above position b */
static uint32_t above(uint32_t w, unsigned b) { return b == 31 ? 0 : w & (~0u << (b + 1)); }

static int bs_next(unsigned v)       /* least member > v, -1 if none */
{
    uint32_t w = above(l0[v >> 5], v & 31);
    unsigned hi;
    if (w) return (int)((v & ~31u) | ctz32(w));

    w = above(l1[v >> 10], (v >> 5) & 31);
    if (w) {
        hi = (v >> 10 << 5) | ctz32(w);
        return (int)(hi << 5 | ctz32(l0[hi]));
    }
    w = above(l2, v >> 10);
    if (!w) return -1;
    hi = ctz32(w);
    hi = hi << 5 | ctz32(l1[hi]);
    return (int)(hi << 5 | ctz32(l0[hi]));
}

/* each command: 2 bits of operation, 15 bits of value; answers of queries go out */
int bitmap_ops(const uint32_t *cmd, int *ans)
{
    int *p = ans;
    for (unsigned i = 0; i < 1024; ++i) l0[i] = 0;
    for (unsigned i = 0; i < 32; ++i) l1[i] = 0;
    l2 = 0;
    for (unsigned n = OPS; n--; ++cmd) {
        unsigned v = *cmd & 0x7FFF;
        switch (*cmd >> 15 & 3) {
        case 0: case 1: bs_set(v); break;
        case 2: { int s = bs_next(v); if (s >= 0) bs_clear((unsigned)s); *p++ = s; break; }
        case 3: *p++ = bs_next(v);
        }
    }
    return (int)(p - ans);
}
