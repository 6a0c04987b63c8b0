#include <math.h>
#include <stdint.h>

#ifndef CURRENCIES
#define CURRENCIES 16
#endif
#ifndef MAXCYCLE
#define MAXCYCLE 20
#endif

typedef double rate_t;

/* Bellman-Ford on -log(rate); a negative cycle is an arbitrage. Writes the
   cycle (first currency repeated at the end) and returns its gain, or 1.0. */
rate_t fx_find_arbitrage(const rate_t quote[CURRENCIES][CURRENCIES], rate_t fee,
                         int8_t cycle[MAXCYCLE])
{
    rate_t d[CURRENCIES], w[CURRENCIES][CURRENCIES], gain = 1.0;
    int8_t pred[CURRENCIES];
    int touched = -1, n = 0;

    for (int i = 0; i < CURRENCIES; i++) {
        d[i] = 0.0;                         /* virtual source to all */
        pred[i] = -1;
        for (int j = 0; j < CURRENCIES; j++)
            w[i][j] = i == j ? 0.0 : -log(quote[i][j] * (1.0 - fee));
    }

    for (int pass = 0; pass < CURRENCIES; pass++) {
        touched = -1;
        for (int i = 0; i < CURRENCIES; i++)
            for (int j = 0; j < CURRENCIES; j++)
                if (i != j && d[i] + w[i][j] < d[j] - 1e-12) {
                    d[j] = d[i] + w[i][j];
                    pred[j] = (int8_t)i;
                    touched = j;
                }
        if (touched < 0)
            break;
    }

    for (int k = 0; k < MAXCYCLE; k++)
        cycle[k] = -1;
    if (touched < 0)
        goto none;

    int at = touched;
    for (int k = 0; k < CURRENCIES; k++) {  /* step back until surely on the cycle */
        if (pred[at] < 0)
            goto none;
        at = pred[at];
    }
    int stop = at, len = 0;
    do {
        at = pred[at];
        len++;
    } while (at != stop && len <= CURRENCIES);
    if (len + 1 > MAXCYCLE || at != stop)
        goto none;

    n = len;
    cycle[n] = (int8_t)stop;
    while (n > 0) {
        int from = pred[at];
        gain *= quote[from][at] * (1.0 - fee);
        cycle[--n] = (int8_t)from;
        at = from;
    }
    return gain;
none:
    return 1.0;
}
