#include <stdint.h>

#ifndef MOVES
#define MOVES 6
#endif
#ifndef AXES
#define AXES 3
#endif

// Step generator: trapezoidal speed along the dominant axis, the others follow by
// Bresenham. Corners between moves are passed at a junction speed.

typedef struct
{
    int32_t  delta[AXES];
    int32_t  steps;             // of the dominant axis
    int32_t  v2_entry;          // speed squared
    int32_t  v2_nominal;
    int32_t  v2_junction;       // allowed at entry
} Block;

static Block plan[MOVES];

static int32_t min32(int32_t a, int32_t b) { return a < b ? a : b; }

static uint32_t isqrt(uint32_t v)
{
    uint32_t r = 0, bit = 1u << 30;
    while (bit > v)
        bit >>= 2;
    for (; bit; bit >>= 2)
    {
        if (v >= r + bit)
        {
            v -= r + bit;
            r = (r >> 1) + bit;
        }
        else
            r >>= 1;
    }
    return r;
}

static void PlanJunctions(int32_t accel)
{
    int i;

    for (i = 1; i < MOVES; i++)
    {
        Block *a = &plan[i - 1], *b = &plan[i];
        int32_t dot = 0;
        for (int k = 0; k < AXES; k++)
            if ((a->delta[k] > 0) == (b->delta[k] > 0))
                dot++;
        b->v2_junction = dot == AXES ? min32(a->v2_nominal, b->v2_nominal) / 2 : 100;
    }
    plan[0].v2_junction = 0;
    // backward pass, then forward pass
    int32_t exit2 = 0;
    for (i = MOVES - 1; i >= 0; i--)
    {
        plan[i].v2_entry = min32(plan[i].v2_junction, exit2 + 2 * accel * plan[i].steps);
        exit2 = plan[i].v2_entry;
    }
    for (i = 1; i < MOVES; i++)
        plan[i].v2_entry = min32(plan[i].v2_entry, plan[i - 1].v2_entry + 2 * accel * plan[i - 1].steps);
}

/* target: MOVES x AXES relative moves. speed: nominal, steps/s. Returns total time in
   microseconds; pos gets the end position, edges the number of pulses per axis. */
uint32_t StepperRun(const int16_t *target, const uint16_t *speed, int32_t accel,
                    int32_t pos[AXES], uint32_t edges[AXES], uint32_t block_us[MOVES])
{
    uint32_t total = 0;

    for (int k = 0; k < AXES; k++)
    {
        pos[k] = 0;
        edges[k] = 0;
    }
    for (int m = 0; m < MOVES; m++)
    {
        plan[m].steps = 1;
        for (int k = 0; k < AXES; k++)
        {
            int32_t d = target[m * AXES + k];
            plan[m].delta[k] = d;
            if (d < 0) d = -d;
            if (d > plan[m].steps) plan[m].steps = d;
        }
        plan[m].v2_nominal = (int32_t)speed[m] * speed[m];
    }
    PlanJunctions(accel);

    for (int m = 0; m < MOVES; m++)
    {
        const Block *b = &plan[m];
        int32_t v2 = b->v2_entry;
        int32_t exit2 = m + 1 < MOVES ? plan[m + 1].v2_entry : 0;
        int32_t err[AXES];

        for (int k = 0; k < AXES; k++)
            err[k] = b->steps / 2;
        block_us[m] = 0;
        for (int32_t s = 0; s < b->steps; s++)
        {
            int32_t stop = exit2 + 2 * accel * (b->steps - s - 1);
            int32_t up = v2 + 2 * accel;
            v2 = min32(min32(up, b->v2_nominal), stop > 0 ? stop : 2 * accel);
            if (v2 < 100) v2 = 100;
            block_us[m] += 1000000u / isqrt((uint32_t)v2);
            for (int k = 0; k < AXES; k++)
            {
                int32_t d = b->delta[k];
                err[k] -= d < 0 ? -d : d;
                if (err[k] < 0)
                {
                    err[k] += b->steps;
                    pos[k] += d < 0 ? -1 : 1;
                    edges[k]++;
                }
            }
        }
        total += block_us[m];
    }
    return total;
}
