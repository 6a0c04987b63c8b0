#include <stdint.h>
#ifndef OLD
#define OLD 50
#endif
#ifndef NEW
#define NEW 46
#endif

#define MAXD (OLD + NEW)

/* Shortest edit script (Myers, greedy forward) between two lists of line hashes.
   All furthest points are kept for the way back. script: '=' keep, '-' drop, '+' add. */
static int16_t trace[MAXD + 1][2 * MAXD + 3];

int diff_lines(const uint32_t *old, const uint32_t *new_, char *script, int *length)
{
    int d, k, x, y, n = 0;

    for (d = 0; d <= MAXD; d++) {
        int16_t *v = trace[d] + MAXD + 1;
        const int16_t *u = d ? trace[d - 1] + MAXD + 1 : 0;
        for (k = -d; k <= d; k += 2) {
            if (d == 0)
                x = 0;
            else if (k == -d || (k != d && u[k - 1] < u[k + 1]))
                x = u[k + 1];
            else
                x = u[k - 1] + 1;
            y = x - k;
            while (x < OLD && y >= 0 && y < NEW && old[x] == new_[y]) { x++; y++; }
            v[k] = (int16_t)x;
            if (x >= OLD && y >= NEW)
                goto reached;
        }
    }
    return -1;

reached:
    x = OLD;
    y = NEW;
    for (int step = d; step >= 0; step--) {
        const int16_t *u = step ? trace[step - 1] + MAXD + 1 : 0;
        int px = 0, py = 0, down = 0;
        k = x - y;
        if (step) {
            down = k == -step || (k != step && u[k - 1] < u[k + 1]);
            px = down ? u[k + 1] : u[k - 1];
            py = px - (down ? k + 1 : k - 1);
        }
        int sx = step ? (down ? px : px + 1) : 0;
        while (x > sx) { script[n++] = '='; x--; y--; }
        if (step) {
            script[n++] = down ? '+' : '-';
            x = px;
            y = py;
        }
    }
    for (int i = 0, j = n - 1; i < j; i++, j--) {
        char t = script[i];
        script[i] = script[j];
        script[j] = t;
    }
    *length = n;
    return d;
}
