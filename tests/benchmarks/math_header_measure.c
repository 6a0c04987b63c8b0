/* Error of math.h in units in the last place: one line a function, `name samples worst x y rounded wrong`.

   `rounded` counts results that are not the nearest value, `wrong` those that are infinite, zero or no number
   where the reference is not, or the reverse. Compiled with the project's headers, which have no libm. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

extern double reference_expf(double), reference_logf(double), reference_tanhf(double), reference_erff(double);
extern double reference_floorf(double), reference_ceilf(double), reference_powf(double, double);
extern long double reference_exp(double), reference_log(double), reference_tanh(double);
extern long double reference_pow(double, double);

struct worst {
    unsigned long long samples, rounded, wrong;
    double ulp, x, y;
};

static double power_of_two(int n)
{
    return simfoundry_double_of_bits((unsigned long long)(n + 1023) << 52);
}

static void add(struct worst *w, double ulp, int rounded, double x, double y)
{
    w->rounded += rounded;
    if (ulp > w->ulp) {
        w->ulp = ulp;
        w->x = x;
        w->y = y;
    }
}

static void add_float(struct worst *w, float result, double exact, double x, double y)
{
    float nearest = (float)exact;
    unsigned int bits = simfoundry_bits_of_float(nearest) & 0x7fffffffu;
    int exponent = bits >> 23 ? (int)(bits >> 23) : 1;
    int same = result == nearest || (result != result && nearest != nearest);
    w->samples++;
    if (bits >= 0x7f800000u || (simfoundry_bits_of_float(result) & 0x7fffffffu) >= 0x7f800000u) {
        w->wrong += !same;
    } else {
        add(w, fabs((double)result - exact) * power_of_two(150 - exponent), !same, x, y);
    }
}

static void add_double(struct worst *w, double result, long double exact, double x, double y)
{
    double nearest = (double)exact;
    unsigned long long bits = simfoundry_bits_of_double(nearest) & 0x7fffffffffffffffull;
    int exponent = bits >> 52 ? (int)(bits >> 52) : 1;
    int same = result == nearest || (result != result && nearest != nearest);
    long double error = (long double)result - exact;
    w->samples++;
    if (bits >> 52 == 2047 || (simfoundry_bits_of_double(result) << 1) >> 53 == 2047) {
        w->wrong += !same;
        return;
    }
    error = error < 0 ? -error : error;
    /* 2^(1075 - exponent) in two factors: it need not be a double */
    error = error * power_of_two(1000 - (exponent >> 1)) * power_of_two(75 - (exponent - (exponent >> 1)));
    add(w, (double)error, !same, x, y);
}

static void report(const char *name, const struct worst *w)
{
    printf("%s %llu %.4f %.9g %.9g %llu %llu\n", name, w->samples, w->ulp, w->x, w->y, w->rounded, w->wrong);
    fflush(stdout);
}

static unsigned long long state = 88172645463325252ull;

static unsigned long long random_bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 2685821657736338717ull;
}

static double between(double low, double high)
{
    return low + (high - low) * ((double)(random_bits() >> 11) * power_of_two(-53));
}

#define EVERY_FLOAT(function) \
    do { \
        struct worst w = {0}; \
        for (unsigned long long i = 0; i < 1ull << 32; i += step) { \
            float x = simfoundry_float_of_bits((unsigned int)i); \
            add_float(&w, function(x), reference_##function(x), x, 0); \
        } \
        report(#function, &w); \
    } while (0)

/* Half of the samples in the range where the function is neither constant nor its argument. */
#define SOME_DOUBLES(function, low, high) \
    do { \
        struct worst w = {0}; \
        for (long i = 0; i < count; i++) { \
            double x = i & 1 ? between(low, high) : simfoundry_double_of_bits(random_bits()); \
            add_double(&w, function(x), reference_##function(x), x, 0); \
        } \
        report(#function, &w); \
    } while (0)

int main(int argc, char **argv)
{
    unsigned long long step = (unsigned long long)atoi(argv[1]);
    long count = argc > 2 ? atoi(argv[2]) : 0;
    struct worst single = {0};
    struct worst both = {0};

    EVERY_FLOAT(expf);
    EVERY_FLOAT(logf);
    EVERY_FLOAT(tanhf);
    EVERY_FLOAT(erff);
    EVERY_FLOAT(floorf);
    EVERY_FLOAT(ceilf);
    SOME_DOUBLES(exp, -746.0, 710.0);
    SOME_DOUBLES(log, 0.25, 4.0);
    SOME_DOUBLES(tanh, -2.0, 2.0);
    for (long i = 0; i < count; i++) {
        unsigned long long bits = random_bits();
        float x = i & 1 ? (float)between(0, 4) : simfoundry_float_of_bits((unsigned int)bits);
        float y = i & 2 ? (float)between(-50, 50) : simfoundry_float_of_bits((unsigned int)(bits >> 32));
        double u = i & 1 ? between(0, 4) : simfoundry_double_of_bits(bits);
        double v = i & 2 ? between(-50, 50) : i & 4 ? between(-2, 2) : between(-1000, 1000);
        add_float(&single, powf(x, y), reference_powf(x, y), x, y);
        add_double(&both, pow(u, v), reference_pow(u, v), u, v);
    }
    report("powf", &single);
    report("pow", &both);
    return 0;
}
