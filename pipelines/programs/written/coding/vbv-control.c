/* one pass rate control against a leaky bucket. Complexity of each picture is given; the "encoder" is a
   table model bits = complexity * 64 / qscale(q). GOP pattern I P B B P B B ... with scene cuts. */
#ifndef PICS
#define PICS 120
#endif
#ifndef GOP
#define GOP 15
#endif

enum ptype { I_PIC, P_PIC, B_PIC };

struct rc_state {
    long long buffer, size;       /* fullness and size in bits */
    long drain;                   /* bits per picture */
    long x[3];                    /* complexity estimates, Q4 */
    int  lastq[3];
    int  skipped, cuts;
};

static long qscale(int q)                     /* about 2^(q/6) in Q6 */
{
    static const unsigned char frac[6] = { 64, 72, 81, 91, 102, 114 };
    return (long)frac[q % 6] << (q / 6);
}

static long model(long complexity, int q)
{
    return complexity * 4096 / qscale(q) + 96;
}

static void rc_init(struct rc_state *s, long drain, int delay)
{
    s->size = (long long)drain * delay;
    s->buffer = s->size / 2;
    s->drain = drain;
    for (int t = 0; t < 3; t++) {
        s->x[t] = 0;
        s->lastq[t] = 26 + 2 * t;
    }
    s->skipped = s->cuts = 0;
}

int vbv_run(const int *complexity, long drain, int delay, unsigned char *q_out, unsigned char *type_out, struct rc_state *s)
{
    int since_key = 0, underflows = 0;

    rc_init(s, drain, delay);
    for (int n = 0; n < PICS; n++) {
        enum ptype t;
        if (n == 0 || since_key == GOP)
            t = I_PIC;
        else if (complexity[n] > 3 * (long)complexity[n - 1]) {
            t = I_PIC;
            s->cuts++;
        } else
            t = since_key % 3 == 0 ? P_PIC : B_PIC;
        if (t == I_PIC) since_key = 0;
        since_key++;

        long c = t == I_PIC ? complexity[n] * 4L : t == P_PIC ? complexity[n] * 2L : complexity[n];
        long est = s->x[t] ? s->x[t] / 16 : c;

        /* share of the bucket this picture may take */
        long long room = s->size - s->buffer;
        long long want = t == I_PIC ? room / 3 : t == P_PIC ? room / 6 : room / 12;
        if (want < s->drain / 4) want = s->drain / 4;

        int q = s->lastq[t], moves = 0;
        while (q < 51 && model(est, q) > want && moves < 6) { q++; moves++; }
        while (q > 10 && model(est, q - 1) <= want && moves < 4) { q--; moves++; }

        long bits = model(c, q);
        while (s->buffer + bits > s->size) {          /* re-encode coarser, in the end skip */
            if (q >= 51) {
                bits = 24;
                s->skipped++;
                break;
            }
            q += 2;
            if (q > 51) q = 51;
            bits = model(c, q);
        }

        s->buffer += bits;
        s->buffer -= s->drain;
        if (s->buffer < 0) {
            underflows++;                              /* stuffing would be needed */
            s->buffer = 0;
        }
        s->x[t] = s->x[t] ? (3 * s->x[t] + 16 * c) / 4 : 16 * c;
        s->lastq[t] = q;
        q_out[n] = (unsigned char)q;
        type_out[n] = (unsigned char)t;
    }
    return underflows;
}
