/* IMA style ADPCM, mid/side stereo, encoder with the decoder's state; also tries a one sample
   look-ahead (two candidate nibbles) to reduce the error. */
#include <stdint.h>
#ifndef NFRAMES
#define NFRAMES 60
#endif

static const int16_t steptab[89] = {
    7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50, 55, 60, 66, 73, 80,
    88, 97, 107, 118, 130, 143, 157, 173, 190, 209, 230, 253, 279, 307, 337, 371, 408, 449, 494, 544,
    598, 658, 724, 796, 876, 963, 1060, 1166, 1282, 1411, 1552, 1707, 1878, 2066, 2272, 2499, 2749,
    3024, 3327, 3660, 4026, 4428, 4871, 5358, 5894, 6484, 7132, 7845, 8630, 9493, 10442, 11487, 12635,
    13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767
};
static const int8_t adjust[8] = { -1, -1, -1, -1, 2, 4, 6, 8 };

struct chan { int pred, idx; };

static struct chan advance(struct chan c, int nib)
{
    int step = steptab[c.idx];
    int d = step >> 3;
    if (nib & 4) d += step;
    if (nib & 2) d += step >> 1;
    if (nib & 1) d += step >> 2;
    c.pred += nib & 8 ? -d : d;
    if (c.pred > 32767) c.pred = 32767;
    if (c.pred < -32768) c.pred = -32768;
    c.idx += adjust[nib & 7];
    if (c.idx < 0) c.idx = 0;
    if (c.idx > 88) c.idx = 88;
    return c;
}

static int plain(struct chan c, int x)
{
    int diff = x - c.pred, nib = 0, step = steptab[c.idx];
    if (diff < 0) { nib = 8; diff = -diff; }
    if (diff >= step) { nib |= 4; diff -= step; }
    step >>= 1;
    if (diff >= step) { nib |= 2; diff -= step; }
    step >>= 1;
    if (diff >= step) nib |= 1;
    return nib;
}

static int64_t err2(struct chan c, int x) { int64_t e = (int64_t)x - c.pred; return e * e; }

static int choose(struct chan c, int x, int xnext)
{
    int n0 = plain(c, x), best = n0;
    int64_t lowest = -1;
    for (int t = -1; t <= 1; t++) {
        int m = (n0 & 7) + t;
        if (m < 0 || m > 7) continue;
        int nib = (n0 & 8) | m;
        struct chan a = advance(c, nib);
        int64_t e = err2(a, x) + err2(advance(a, plain(a, xnext)), xnext);
        if (lowest < 0 || e < lowest) { lowest = e; best = nib; }
    }
    return best;
}

int64_t adpcm_encode(const int16_t *lr, uint8_t *out)
{
    struct chan c[2] = { {0, 20}, {0, 20} };
    int64_t noise = 0;

    for (int n = 0; n < NFRAMES; n++) {
        const int16_t *s = lr + 2 * n, *nx = n + 1 < NFRAMES ? s + 2 : s;
        int ms[2] = { (s[0] + s[1]) / 2, (s[0] - s[1]) / 2 };
        int nms[2] = { (nx[0] + nx[1]) / 2, (nx[0] - nx[1]) / 2 };
        uint8_t byte = 0;
        for (int k = 0; k < 2; k++) {
            int nib = choose(c[k], ms[k], nms[k]);
            c[k] = advance(c[k], nib);
            noise += err2(c[k], ms[k]);
            byte |= (uint8_t)(nib << (4 * k));
        }
        *out++ = byte;
    }
    return noise;
}
