#ifndef BLOCKS
#define BLOCKS 10
#endif
#ifndef SIDE
#define SIDE 4
#endif
#define COEFS (SIDE * SIDE)
#define STATES 4
#define NEVER (1LL << 60)

static const short rate_zero[STATES] = { 0, 140, 310, 520 };
static const short rate_nonzero[STATES] = { 0, 420, 260, 130 };
static const short rate_one[STATES] = { 190, 110, 240, 430 };
static const short rate_more[STATES] = { 520, 640, 400, 160 };

long long trellis_quantise(const int coef[BLOCKS][COEFS], int step, int lambda, int out[BLOCKS][COEFS], int last[BLOCKS])
{
    int order[COEFS];
    long long total = 0;
    int n = 0;

    for (int d = 0; d < 2 * SIDE - 1; d++)
        for (int k = 0; k <= d; k++) {
            int y = d & 1 ? k : d - k, x = d - y;
            if (x < SIDE && y < SIDE)
                order[n++] = y * SIDE + x;
        }

    for (int b = 0; b < BLOCKS; b++) {
        long long cost[STATES] = { 0, NEVER, NEVER, NEVER }, best;
        unsigned char from[COEFS][STATES];
        int level[COEFS][STATES];
        int s, i;

        /* state 0: nothing coded yet; 1, 2, 3: magnitude before was 0, 1, more */
        for (i = COEFS - 1; i >= 0; i--) {
            long long next[STATES] = { NEVER, NEVER, NEVER, NEVER };
            int c = coef[b][order[i]], mag = c < 0 ? -c : c;
            int top = (mag + step / 2) / step;
            for (s = 0; s < STATES; s++) {
                from[i][s] = 0;
                level[i][s] = 0;
            }
            for (s = 0; s < STATES; s++) {
                if (cost[s] >= NEVER)
                    continue;
                for (int cand = 0; cand < 3; cand++) {
                    int v = cand == 2 ? 0 : top - cand, to;
                    long long err, rate, sum;
                    if (v < 0 || (cand == 2 && top <= 1))
                        continue;
                    err = mag - (long long)v * step;
                    if (v == 0) {
                        to = s == 0 ? 0 : 1;
                        rate = rate_zero[s];
                    } else {
                        rate = rate_nonzero[s] + 256;
                        if (s == 0)
                            rate += 90 + 24 * i;
                        if (v == 1) {
                            to = 2;
                            rate += rate_one[s];
                        } else {
                            int rest = v - 2;
                            to = 3;
                            rate += rate_more[s];
                            do {
                                rate += 256;
                                rest = (rest - 1) >> 1;
                            } while (rest > 0);
                        }
                    }
                    sum = cost[s] + 256 * err * err + lambda * rate;
                    if (sum < next[to]) {
                        next[to] = sum;
                        from[i][to] = (unsigned char)s;
                        level[i][to] = v;
                    }
                }
            }
            for (s = 0; s < STATES; s++)
                cost[s] = next[s];
        }

        s = 0;
        best = cost[0];
        for (i = 1; i < STATES; i++)
            if (cost[i] < best) {
                best = cost[i];
                s = i;
            }
        total += best;
        last[b] = -1;
        for (i = 0; i < COEFS; i++) {
            int v = level[i][s], pos = order[i];
            out[b][pos] = coef[b][pos] < 0 ? -v : v;
            if (v)
                last[b] = i;
            s = from[i][s];
        }
    }
    return total;
}
