/* MDCT of successive 50 % overlapped frames, computed as a type IV DCT after folding.
   The cosine comes from a recurrence (2 cos(d) c[k-1] - c[k-2]) so that no table of
   N*N/2 entries is needed; window is the Vorbis-like power complementary shape in
   a rational approximation given by the caller. */
#include <math.h>
#ifndef HALFN
#define HALFN 16
#endif
#ifndef NFRAMES
#define NFRAMES 6
#endif

static void dct4(const double *in, double *out)
{
    const double pi = 3.14159265358979323846;
    for (int k = 0; k < HALFN; k++) {
        double step = pi / HALFN * (k + 0.5);
        double c = cos(0.5 * step), cp = c;       /* cos is even: value at n = -1 */
        double two = 2.0 * cos(step);
        double acc = 0.0;
        for (int n = 0; n < HALFN; n++) {
            acc += in[n] * c;
            double next = two * c - cp;
            cp = c;
            c = next;
        }
        out[k] = acc;
    }
}

double mdct_frames(const double pcm[(NFRAMES + 1) * HALFN], const double win[HALFN],
                   double spec[NFRAMES][HALFN])
{
    double folded[HALFN], energy = 0.0;

    for (int f = 0; f < NFRAMES; f++) {
        const double *a = pcm + f * HALFN;      /* 2*HALFN samples: a b | c d */
        const int q = HALFN / 2;
        for (int n = 0; n < q; n++) {
            /* -c_r - d */
            double cr = a[3 * q - 1 - n] * win[q + n];
            double d = a[3 * q + n] * win[q - 1 - n];
            folded[n] = -cr - d;
            /* a - b_r */
            double aa = a[n] * win[n];
            double br = a[2 * q - 1 - n] * win[2 * q - 1 - n];
            folded[q + n] = aa - br;
        }
        dct4(folded, spec[f]);
        for (int k = 0; k < HALFN; k++)
            energy += spec[f][k] * spec[f][k];
    }
    return energy;
}
