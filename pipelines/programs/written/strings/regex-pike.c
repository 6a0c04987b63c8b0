#include <stdint.h>
#include <string.h>

#ifndef SUBJECT
#define SUBJECT 500
#endif
#ifndef PATTERN
#define PATTERN 24
#endif

/* Small regular expressions ( . * + ? [x-y] and letters ), Thompson simulation. */

typedef struct {
    uint8_t lo, hi;             /* accepted bytes */
    uint8_t loop, skip;         /* may repeat, may be left out */
} Atom;

static int compile(const char *re, Atom *prog)
{
    int n = 0;
    const char *stop = re + PATTERN;
    while (re < stop && *re) {
        Atom a = { (uint8_t)*re, (uint8_t)*re, 0, 0 };
        switch (*re) {
        case '*': case '+': case '?':
            if (n == 0) return -1;
            if (*re != '?') prog[n - 1].loop = 1;
            if (*re != '+') prog[n - 1].skip = 1;
            re++;
            continue;
        case '.':
            a.lo = 0; a.hi = 255;
            break;
        case '[':
            if (stop - re < 5 || re[2] != '-' || re[4] != ']' || re[1] > re[3]) return -1;
            a.lo = (uint8_t)re[1];
            a.hi = (uint8_t)re[3];
            re += 4;
            break;
        }
        prog[n++] = a;
        re++;
    }
    return n;
}

/* states as a 32-bit set: bit i = atoms before i are done */
static uint32_t closure(uint32_t s, const Atom *prog, int n)
{
    for (int i = 0; i < n; i++)
        if ((s >> i & 1u) && prog[i].skip) s |= 2u << i;
    return s;
}

/* Leftmost longest matches, not overlapping. span[2k], span[2k+1] = start, end. */
int regex_all(const char *subject, const char *pattern, uint16_t *span)
{
    Atom prog[PATTERN];
    int found = 0, at = 0, n = compile(pattern, prog);
    if (n < 0 || n > 30) return -1;

    while (at < SUBJECT) {
        uint32_t cur = closure(1u, prog, n);
        int last = -1, i = at;
        for (;;) {
            if (cur >> n & 1u) last = i;
            if (i >= SUBJECT || !cur) break;
            uint8_t c = (uint8_t)subject[i++];
            uint32_t nxt = 0;
            for (int k = 0; k < n; k++) {
                if (!(cur >> k & 1u) || c < prog[k].lo || c > prog[k].hi) continue;
                nxt |= 2u << k;
                if (prog[k].loop) nxt |= 1u << k;
            }
            cur = closure(nxt, prog, n);
        }
        if (last > at) {
            span[2 * found] = (uint16_t)at;
            span[2 * found + 1] = (uint16_t)last;
            found++;
            at = last;
        } else
            at++;
    }
    return found;
}
