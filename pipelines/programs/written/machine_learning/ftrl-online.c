#include <math.h>
#include <stdint.h>

#ifndef SLOTS
#define SLOTS 512      /* power of two */
#endif
#ifndef SAMPLES
#define SAMPLES 60
#endif
#ifndef FIELDS
#define FIELDS 7
#endif

/* follow-the-regularised-leader on hashed categorical features */
#define ALPHA   0.1
#define BETA    1.0
#define LAMBDA1 0.02
#define LAMBDA2 0.5

struct coord { double z, n; };

static struct coord table[SLOTS];

static uint32_t slot_of(uint32_t field, uint32_t value)
{
    uint32_t h = field * 0x9E3779B1u ^ value;
    h ^= h >> 15; h *= 0x85EBCA77u; h ^= h >> 13;
    return h & (SLOTS - 1);
}

static double weight(const struct coord *c)
{
    if (fabs(c->z) <= LAMBDA1) return 0.0;
    double sgn = c->z < 0 ? -1.0 : 1.0;
    return -(c->z - sgn * LAMBDA1) / ((BETA + sqrt(c->n)) / ALPHA + LAMBDA2);
}

double ftrl_fit(const uint16_t cat[SAMPLES][FIELDS], const uint8_t click[SAMPLES], double w_out[SLOTS])
{
    double loss = 0;
    for (int i = 0; i < SLOTS; i++) table[i].z = table[i].n = 0;

    for (int s = 0; s < SAMPLES; s++) {
        uint32_t idx[FIELDS];
        double wx = 0;
        for (uint32_t f = 0; f < FIELDS; f++) {
            idx[f] = slot_of(f, cat[s][f]);
            wx += weight(&table[idx[f]]);
        }
        if (wx > 30) wx = 30; else if (wx < -30) wx = -30;
        double p = 1.0 / (1.0 + exp(-wx));
        loss += click[s] ? -log(p) : -log(1.0 - p);

        double g = p - click[s];
        for (int f = 0; f < FIELDS; f++) {
            struct coord *c = &table[idx[f]];
            double sigma = (sqrt(c->n + g * g) - sqrt(c->n)) / ALPHA;
            c->z += g - sigma * weight(c);
            c->n += g * g;
        }
    }
    for (int i = 0; i < SLOTS; i++) w_out[i] = weight(table + i);
    return loss / SAMPLES;
}
