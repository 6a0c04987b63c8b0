/* fixed codebook search of an algebraic CELP coder: 4 tracks of L/4 positions each, one signed
   pulse a track, depth first in two pair stages with pruning. Floating point. */
#ifndef SUBFR
#define SUBFR 40
#endif
#define TRACKS 4
#define POS (SUBFR / TRACKS)

static float d[SUBFR], phi[SUBFR][SUBFR];

static void correlate(const float *h, const float *target)
{
    for (int n = 0; n < SUBFR; n++) {
        d[n] = 0.0f;
        for (int i = n; i < SUBFR; i++)
            d[n] += target[i] * h[i - n];
    }
    for (int lag = 0; lag < SUBFR; lag++) {
        float acc = 0.0f;
        /* along a diagonal: phi(i, i+lag) = phi(i+1, i+1+lag) + h h */
        for (int j = SUBFR - 1, i = j - lag, k = 0; i >= 0; i--, j--, k++) {
            acc += h[k] * h[k + lag];
            phi[i][j] = phi[j][i] = acc;
        }
    }
}

/* returns the criterion c^2/e; code[] gets the excitation with +-1 pulses */
float acelp_search(const float *h, const float *target, int pos[TRACKS], signed char code[SUBFR])
{
    float sgn[SUBFR], best = -1.0f;

    correlate(h, target);
    for (int n = 0; n < SUBFR; n++) {
        sgn[n] = d[n] < 0.0f ? -1.0f : 1.0f;
        if (d[n] < 0.0f) d[n] = -d[n];
        code[n] = 0;
    }
    for (int i = 0; i < SUBFR; i++)
        for (int j = 0; j < SUBFR; j++)
            phi[i][j] *= sgn[i] * sgn[j];
    for (int t = 0; t < TRACKS; t++)
        pos[t] = t;

    for (int rot = 0; rot < TRACKS; rot++) {            /* which track pair leads */
        const int t0 = rot, t1 = (rot + 1) % TRACKS, t2 = (rot + 2) % TRACKS, t3 = (rot + 3) % TRACKS;

        /* leader: maximum of |d| */
        int p0 = t0;
        for (int i = t0; i < SUBFR; i += TRACKS)
            if (d[i] > d[p0]) p0 = i;

        int p1 = t1;
        float c2 = 0.0f, e2 = 1.0f;
        for (int i = t1, first = 1; i < SUBFR; i += TRACKS, first = 0) {
            float c = d[p0] + d[i], e = phi[p0][p0] + phi[i][i] + 2.0f * phi[p0][i];
            if (first || c * c * e2 > c2 * c2 * e) { c2 = c; e2 = e; p1 = i; }
        }

        for (int i = t2; i < SUBFR; i += TRACKS) {
            float c3 = c2 + d[i];
            float e3 = e2 + phi[i][i] + 2.0f * (phi[p0][i] + phi[p1][i]);
            if (c3 < 1.05f * c2) continue;              /* adds hardly anything */
            for (int j = t3; j < SUBFR; j += TRACKS) {
                float c = c3 + d[j];
                float e = e3 + phi[j][j] + 2.0f * (phi[p0][j] + phi[p1][j] + phi[i][j]);
                if (e < 1e-6f) continue;
                if (c * c > best * e) {
                    best = c * c / e;
                    pos[t0] = p0; pos[t1] = p1; pos[t2] = i; pos[t3] = j;
                }
            }
        }
    }
    for (int t = 0; t < TRACKS; t++)
        code[pos[t]] = sgn[pos[t]] < 0.0f ? -1 : 1;
    return best;
}
