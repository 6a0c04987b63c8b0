#include <stdint.h>
#include <string.h>

#ifndef NPAT
#define NPAT 12
#endif
#ifndef PLEN
#define PLEN 4
#endif
#ifndef TLEN
#define TLEN 1000
#endif

#define SIGMA  4                        /* letters are folded to two bits */
#define STATES (NPAT * PLEN + 1)

static uint16_t go[STATES][SIGMA];
static uint16_t fail[STATES], out_link[STATES];
static int16_t  ends[STATES];           /* first pattern that ends here or -1 */
static int16_t  same[NPAT];             /* chain of equal patterns */
static uint16_t nstates;

static unsigned fold(char c) { return (unsigned)(c - 'a') & (SIGMA - 1); }

static void ac_add(const char *pat, int id)
{
    uint16_t s = 0;
    for (int i = 0; i < PLEN; i++) {
        uint16_t *e = &go[s][fold(pat[i])];
        if (!*e) {
            ends[nstates] = -1;
            *e = nstates++;
        }
        s = *e;
    }
    same[id] = ends[s];
    ends[s] = (int16_t)id;
}

static void ac_link(void)
{
    uint16_t queue[STATES], *rd = queue, *wr = queue;
    for (int c = 0; c < SIGMA; c++)
        if (go[0][c]) *wr++ = go[0][c];
    while (rd != wr) {
        uint16_t s = *rd++;
        out_link[s] = ends[fail[s]] >= 0 ? fail[s] : out_link[fail[s]];
        for (int c = 0; c < SIGMA; c++) {
            uint16_t t = go[s][c];
            if (t) {
                fail[t] = go[fail[s]][c];
                *wr++ = t;
            } else
                go[s][c] = go[fail[s]][c];
        }
    }
}

uint32_t ac_scan(const char patterns[NPAT][PLEN], const char text[TLEN], uint32_t hits[NPAT], int32_t first[NPAT])
{
    uint32_t total = 0;
    memset(go, 0, sizeof go);
    memset(fail, 0, sizeof fail);
    memset(out_link, 0, sizeof out_link);
    nstates = 1;
    ends[0] = -1;
    for (int i = 0; i < NPAT; i++) { ac_add(patterns[i], i); hits[i] = 0; first[i] = -1; }
    ac_link();

    uint16_t s = 0;
    for (int32_t i = 0; i < TLEN; i++) {
        s = go[s][fold(text[i])];
        for (uint16_t o = s; o; o = out_link[o])
            for (int16_t p = ends[o]; p >= 0; p = same[p]) {
                if (!hits[p]++) first[p] = i - PLEN + 1;
                total++;
            }
    }
    return total;
}
