#include <stdint.h>
#include <stdarg.h>
#include <stdbool.h>

#ifndef RECORDS
#define RECORDS 20
#endif
#ifndef FMT_LEN
#define FMT_LEN 40
#endif
#ifndef CAPACITY
#define CAPACITY 2000
#endif

/* printf for a log line without varargs: %[-0][width]{d,u,x,c,k,%}
   k: number with a decimal prefix, e.g. 12.3M . Truncates, never overruns. */

struct sink { char *p; char *end; unsigned lost; };

static void sink_put(struct sink *s, char c)
{
    if (s->p < s->end) *s->p++ = c;
    else s->lost++;
}

static int digits_of(uint32_t v, unsigned base, char *tmp)
{
    int n = 0;
    do {
        tmp[n++] = "0123456789abcdef"[v % base];
        v /= base;
    } while (v);
    return n;
}

static void field(struct sink *s, const char *rev, int n, bool neg, int width, bool zero, bool left)
{
    int pad = width - n - (neg ? 1 : 0);
    if (!left && !zero) for (; pad > 0; pad--) sink_put(s, ' ');
    if (neg) sink_put(s, '-');
    if (!left && zero) for (; pad > 0; pad--) sink_put(s, '0');
    while (n > 0) sink_put(s, rev[--n]);
    for (; pad > 0; pad--) sink_put(s, ' ');
}

static void human(struct sink *s, uint32_t v)
{
    static const char unit[] = " kMG";
    int u = 0;
    uint32_t tenth = 0;
    char tmp[12];
    while (v >= 1000) {
        tenth = v % 1000 / 100;
        v /= 1000;
        u++;
    }
    field(s, tmp, digits_of(v, 10, tmp), false, 3, false, false);
    sink_put(s, '.');
    sink_put(s, (char)('0' + tenth));
    sink_put(s, unit[u]);
}

unsigned format_log(const char *fmt, const int32_t *args, unsigned per_record, char *out)
{
    struct sink s = { out, out + CAPACITY, 0 };

    for (unsigned r = 0; r < RECORDS; r++) {
        unsigned next = 0;
        const char *f = fmt, *fend = fmt + FMT_LEN;
        while (f < fend && *f) {
            if (*f != '%') { sink_put(&s, *f++); continue; }
            bool left = false, zero = false;
            int width = 0;
            for (f++; f < fend && (*f == '-' || *f == '0'); f++)
                if (*f == '-') left = true; else zero = true;
            for (; f < fend && *f >= '0' && *f <= '9'; f++) if (width < 40) width = width * 10 + *f - '0';
            if (f == fend) break;
            int32_t a = args[r * per_record + next];
            char tmp[12];
            bool neg;
            switch (*f++) {
            case 'd':
                neg = a < 0;
                field(&s, tmp, digits_of(neg ? 0u - (uint32_t)a : (uint32_t)a, 10, tmp), neg, width, zero, left);
                break;
            case 'u': field(&s, tmp, digits_of((uint32_t)a, 10, tmp), false, width, zero, left); break;
            case 'x': field(&s, tmp, digits_of((uint32_t)a, 16, tmp), false, width, zero, left); break;
            case 'c': sink_put(&s, (char)(32 + ((uint32_t)a % 95))); break;
            case 'k': human(&s, (uint32_t)a); break;
            default:  sink_put(&s, f[-1]); continue;     /* no argument used */
            }
            if (next + 1 < per_record) next++;
        }
        sink_put(&s, '\n');
    }
    return (unsigned)(s.p - out) | s.lost << 16;
}
