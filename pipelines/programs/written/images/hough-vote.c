#include <stdint.h>
#include <string.h>
#ifndef SIDE
#define SIDE 32
#endif
#ifndef MAXPTS
#define MAXPTS 80
#endif
#define ANGLES 32
#define RHOS (2 * SIDE)

struct pt   { int16_t x, y; };
struct line { int votes; int angle; int rho; };

/* sin of k * pi/32, Q12 */
static const int16_t sine[ANGLES / 2 + 1] = {
    0, 401, 799, 1189, 1567, 1931, 2276, 2598, 2896, 3166, 3406, 3612, 3784, 3920, 4017, 4076, 4096
};

static uint16_t acc[ANGLES][RHOS];

static int sn(int a) { return a <= 16 ? sine[a] : sine[32 - a]; }
static int cs(int a) { return a <= 16 ? sine[16 - a] : -sine[a - 16]; }

/* Points come as packed y * SIDE + x. Finds nlines strongest lines; after each the votes of
   its supporters are taken out again, so that one thick line isn't found many times. */
int hough_lines(const uint16_t *packed, unsigned npts, struct line *lines, int nlines, int min_votes)
{
    struct pt p[MAXPTS];
    uint8_t used[MAXPTS] = {0};
    int found = 0;

    memset(acc, 0, sizeof acc);
    if (npts > MAXPTS)
        npts = MAXPTS;

    for (unsigned i = 0; i < npts; i++) {
        p[i].x = (int16_t)(packed[i] % SIDE - SIDE / 2);
        p[i].y = (int16_t)(packed[i] / SIDE - SIDE / 2);
        for (int a = 0; a < ANGLES; a++)
            acc[a][((p[i].x * cs(a) + p[i].y * sn(a)) >> 12) + SIDE]++;
    }

    while (found < nlines) {
        struct line best = { 0, 0, 0 };
        for (int a = 0; a < ANGLES; a++)
            for (int r = 0; r < RHOS; r++)
                if (acc[a][r] > best.votes)
                    best = (struct line){ acc[a][r], a, r - SIDE };
        if (best.votes < min_votes)
            goto done;
        for (unsigned i = 0; i < npts; i++) {
            if (used[i]) continue;
            int rho = (p[i].x * cs(best.angle) + p[i].y * sn(best.angle)) >> 12;
            if (rho != best.rho) continue;
            used[i] = 1;
            for (int a = 0; a < ANGLES; a++)
                acc[a][((p[i].x * cs(a) + p[i].y * sn(a)) >> 12) + SIDE]--;
        }
        lines[found++] = best;
    }
done:
    for (int k = found; k < nlines; k++)
        lines[k].votes = -1;
    return found;
}
