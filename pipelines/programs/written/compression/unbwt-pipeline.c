/* block decoder, tail end: run digits -> move to front -> inverse BWT */
#include <string.h>

#ifndef BLK
#define BLK 900
#endif
#ifndef NCODES
#define NCODES 400
#endif

#define RUNA 0
#define RUNB 1
#define EOB  17          /* alphabet of 16 characters: 2..16 are MTF positions 1..15 */

static unsigned char mtf[16];
static unsigned char last[BLK];
static int tt[BLK];

static int undo_mtf(const unsigned char *sym)
{
    int n = 0, i = 0;

    for (int k = 0; k < 16; k++)
        mtf[k] = (unsigned char)k;

    while (i < NCODES && sym[i] != EOB && n < BLK) {
        if (sym[i] <= RUNB) {
            /* bijective base 2 number of front characters */
            int run = 0, weight = 1;
            while (i < NCODES && sym[i] <= RUNB && weight <= BLK) {
                run += sym[i] == RUNA ? weight : 2 * weight;
                weight <<= 1;
                i++;
            }
            if (run > BLK - n)
                run = BLK - n;
            memset(last + n, mtf[0], (size_t)run);
            n += run;
        } else {
            int p = (sym[i++] - 1) & 15;
            unsigned char c = mtf[p];
            memmove(mtf + 1, mtf, (size_t)p);
            mtf[0] = c;
            last[n++] = c;
        }
    }
    return n;
}

/* returns the block length; text gets letters 'a' + code */
int unbwt_block(const unsigned char sym[NCODES], int origin, char text[BLK])
{
    int base[17] = { 0 };
    int n = undo_mtf(sym), i, at;

    if (n == 0)
        return 0;
    for (i = 0; i < n; i++)
        base[last[i] + 1]++;
    for (i = 0; i < 16; i++)
        base[i + 1] += base[i];
    for (i = 0; i < n; i++)
        tt[base[last[i]]++] = i;

    at = tt[origin % n];
    for (i = 0; i < n; i++) {
        text[i] = (char)('a' + last[at]);
        at = tt[at];
    }
    return n;
}
