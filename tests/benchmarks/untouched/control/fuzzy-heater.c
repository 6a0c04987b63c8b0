// Fuzzy heater control (Mamdani): temperature error and its trend in tenths of
// a degree, heating power 0..100 out. Grades of membership are 0..255.

#ifndef SAMPLES
#define SAMPLES 30
#endif

typedef long Grade;
typedef Grade (*Shape)(long v, long left, long right);

static Grade falling(long v, long left, long right)
{
    return v <= left ? 255 : v >= right ? 0 : (right - v) * 255 / (right - left);
}

static Grade rising(long v, long left, long right)
{
    return 255 - falling(v, left, right);
}

static Grade peak(long v, long left, long right)
{
    long mid = (left + right) / 2;
    return v <= mid ? rising(v, left, mid) : falling(v, mid, right);
}

struct term { Shape shape; long left, right; };

static const struct term error_term[5] = {        // wanted minus measured
    { falling, -40, -15 },                        // much too hot
    { peak,    -30,   0 },
    { peak,    -10,  10 },
    { peak,      0,  30 },
    { rising,   15,  40 },                        // much too cold
};

static const struct term trend_term[3] = {        // change per minute
    { falling, -12, 0 }, { peak, -8, 8 }, { rising, 0, 12 },
};

enum { OFF, LOW, HALF, HIGH, FULL };

static const struct term power_term[5] = {
    { falling, 0, 20 }, { peak, 5, 45 }, { peak, 30, 70 }, { peak, 55, 95 }, { rising, 80, 100 },
};

static const unsigned char rule[5][3] = {         // rows: error, columns: cooling, steady, warming
    { OFF,  OFF,  OFF  },
    { LOW,  OFF,  OFF  },
    { HALF, LOW,  OFF  },
    { HIGH, HALF, LOW  },
    { FULL, FULL, HIGH },
};

static long controller(long error, long trend, long hold)
{
    Grade degree[5] = { 0 };
    long area = 0, moment = 0;

    for (int e = 0; e < 5; e++) {
        Grade ge = error_term[e].shape(error, error_term[e].left, error_term[e].right);
        if (ge == 0)
            continue;
        for (int t = 0; t < 3; t++) {
            Grade gt = trend_term[t].shape(trend, trend_term[t].left, trend_term[t].right);
            Grade both = ge < gt ? ge : gt;
            Grade *d = &degree[rule[e][t]];
            if (both > *d)
                *d = both;
        }
    }
    for (long p = 0; p <= 100; p += 4) {
        Grade top = 0;
        for (int k = 0; k < 5; k++) {
            Grade g = power_term[k].shape(p, power_term[k].left, power_term[k].right);
            if (g > degree[k])
                g = degree[k];
            if (g > top)
                top = g;
        }
        area += top;
        moment += top * p;
    }
    return area ? (moment + area / 2) / area : hold;
}

// The trend is a moving mean over three differences. Returns the mean power * 100.
long fuzzy_heater(const short *wanted, const short *measured, unsigned char *power)
{
    long d1 = 0, d2 = 0, sum = 0, last = 0;

    for (int i = 0; i < SAMPLES; i++) {
        long d0 = i ? measured[i] - measured[i - 1] : 0;
        last = controller(wanted[i] - measured[i], (d0 + d1 + d2) / 3, last);
        d2 = d1;
        d1 = d0;
        power[i] = (unsigned char)last;
        sum += last;
    }
    return sum * 100 / SAMPLES;
}
