#include <stdint.h>
#include <stdbool.h>

enum flag { F_READ = 1 << 0, F_WRITE = 1 << 1, F_EXEC = 1 << 2, F_ALL = F_READ | F_WRITE | F_EXEC };

struct perm {
    unsigned owner : 3;
    unsigned group : 3;
    unsigned other : 3;
    signed delta : 4;
};

static bool allowed(struct perm p, int who, enum flag f)
{
    unsigned bits = who == 0 ? p.owner : who == 1 ? p.group : p.other;
    return (bits & f) == (unsigned)f;
}

uint32_t check(const uint16_t modes[32])
{
    uint32_t result = 0;
    for (int i = 0; i < 32; i++) {
        struct perm p = {modes[i] >> 6, modes[i] >> 3, modes[i], modes[i] >> 9};
        if (allowed(p, i % 3, F_READ | F_EXEC))
            result |= 1u << i;
        if (p.delta < 0)
            result ^= 1u;
    }
    return result;
}
