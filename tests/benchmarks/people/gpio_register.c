#include <stdint.h>
#include <stdbool.h>

typedef union {
    uint32_t raw;
    struct {
        uint32_t enable : 1;
        uint32_t mode : 3;
        uint32_t divider : 12;
        uint32_t channel : 8;
        uint32_t reserved : 8;
    } bits;
} ctrl_reg_t;

static bool valid(ctrl_reg_t r)
{
    return r.bits.enable && r.bits.mode != 7 && r.bits.divider != 0;
}

int configure(const uint32_t requests[20], uint32_t accepted[20])
{
    int n = 0;
    for (int i = 0; i < 20; i++) {
        ctrl_reg_t r;
        r.raw = requests[i];
        if (!valid(r))
            continue;
        r.bits.reserved = 0;
        r.bits.divider -= 1;
        r.bits.channel ^= 0x0f;
        accepted[n++] = r.raw;
    }
    return n;
}
