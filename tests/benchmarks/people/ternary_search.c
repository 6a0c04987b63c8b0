#include <stdint.h>
#include <stdio.h>

struct range { int32_t lo, hi; };

static int32_t eval(const int32_t *f, int32_t i) { return f[i & 127]; }

static int32_t peak(const int32_t *f, struct range r)
{
    if (r.hi - r.lo < 3) {
        int32_t best = r.lo;
        for (int32_t i = r.lo; i <= r.hi; i++)
            if (eval(f, i) > eval(f, best))
                best = i;
        return best;
    }
    int32_t third = (r.hi - r.lo) / 3;
    if (eval(f, r.lo + third) < eval(f, r.hi - third))
        return peak(f, (struct range){r.lo + third, r.hi});
    return peak(f, (struct range){r.lo, r.hi - third});
}

int32_t find_peak(const int32_t f[128])
{
    int32_t at = peak(f, (struct range){0, 127});
    printf("peak at %d\n", at);
    return at;
}
