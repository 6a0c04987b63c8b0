#include <stdint.h>
#include <math.h>
#ifndef FIELD_CHARS
#define FIELD_CHARS 700
#endif

/* Sensor log: numbers like -12.75 or 3/8, divided by commas. Own conversion, as the
   libc one drags in locale tables. Results: double and Q16.16 (saturated). */

static const double POW10[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
                                1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19 };

#define IS_DIGIT(c) ((unsigned)((c) - '0') < 10u)

/* returns 1 when a number was read; the place moves on in any case */
static int read_number(const char **pp, const char *end, double *val)
{
    const char *p = *pp;
    int negative = 0, seen = 0, digits = 0, scale = 0, dropped = 0, point = 0;
    uint64_t mant = 0;

    if (p < end && (*p == '-' || *p == '+'))
        negative = *p++ == '-';
    for (; p < end; ++p) {
        if (*p == '.' && !point) {
            point = 1;
            continue;
        }
        if (!IS_DIGIT(*p)) break;
        seen = 1;
        if (digits < 18) {
            mant = mant * 10u + (uint64_t)(*p - '0');
            if (mant) digits++;
            scale += point;
        } else if (!point)
            dropped++;              /* beyond what the mantissa holds */
    }
    *pp = p;
    if (!seen)
        return 0;
    double v = (double)mant;
    while (dropped > 0) { int k = dropped > 19 ? 19 : dropped; v *= POW10[k]; dropped -= k; }
    while (scale > 0)   { int k = scale > 19 ? 19 : scale;     v /= POW10[k]; scale -= k; }
    *val = negative ? -v : v;
    return 1;
}

int parse_log(const char *buf, double *value, int32_t *q16)
{
    const char *p = buf, *end = buf + FIELD_CHARS;
    int n = 0;
    while (p < end) {
        double a = 0, b = 0;
        int ok = read_number(&p, end, &a);
        if (ok && p < end && *p == '/') {
            p++;
            ok = read_number(&p, end, &b) && b != 0.0;
            if (ok) a /= b;
        }
        if (ok && (p == end || *p == ',')) {
            double q = a * 65536.0;
            value[n] = a;
            q16[n++] = q >= 2147483647.0 ? INT32_MAX : q <= -2147483648.0 ? INT32_MIN : (int32_t)lrint(q);
        }
        while (p < end && *p != ',') p++;
        if (p < end) p++;
    }
    return n;
}
