#include <float.h>
#include <math.h>
#include <stdint.h>

#ifndef EDGE
#define EDGE 16
#endif
#ifndef RAYS
#define RAYS 48
#endif

// hit record of one ray
struct VoxHit {
    int16_t cell[3];
    int8_t  face;       // 0..2 axis, +3 for the negative side, -1 none
    uint8_t steps;
    float   t;
};

static int occupied(const uint32_t *bits, int x, int y, int z)
{
    unsigned i = ((unsigned)z * EDGE + (unsigned)y) * EDGE + (unsigned)x;
    return bits[i >> 5] >> (i & 31) & 1;
}

static struct VoxHit cast(const uint32_t *bits, const float o[3], const float d[3])
{
    struct VoxHit hit = { { -1, -1, -1 }, -1, 0, -1.0f };
    int cell[3], step[3], axis = -1;
    float tmax[3], tdelta[3], t = 0.0f;

    for (int k = 0; k < 3; k++) {
        cell[k] = (int)o[k];
        if (d[k] > 1e-6f) {
            step[k] = 1;
            tdelta[k] = 1.0f / d[k];
            tmax[k] = ((float)cell[k] + 1.0f - o[k]) * tdelta[k];
        } else if (d[k] < -1e-6f) {
            step[k] = -1;
            tdelta[k] = -1.0f / d[k];
            tmax[k] = (o[k] - (float)cell[k]) * tdelta[k];
        } else {
            step[k] = 0;
            tdelta[k] = tmax[k] = FLT_MAX;
        }
    }
    for (hit.steps = 0; hit.steps < 3 * EDGE; hit.steps++) {
        if (occupied(bits, cell[0], cell[1], cell[2])) {
            for (int k = 0; k < 3; k++) hit.cell[k] = (int16_t)cell[k];
            hit.t = t;
            hit.face = (int8_t)(axis < 0 ? -1 : step[axis] > 0 ? axis : axis + 3);
            break;
        }
        axis = tmax[0] < tmax[1] ? (tmax[0] < tmax[2] ? 0 : 2) : (tmax[1] < tmax[2] ? 1 : 2);
        if (step[axis] == 0) break;
        t = tmax[axis];
        tmax[axis] += tdelta[axis];
        cell[axis] += step[axis];
        if (cell[axis] < 0 || cell[axis] >= EDGE) break;
    }
    return hit;
}

int vox_cast_rays(const uint32_t *world, const uint32_t *mask, const float (*origin)[3],
                  const float (*dir)[3], struct VoxHit *hits)
{
    static uint32_t bits[EDGE * EDGE * EDGE / 32];
    int n = 0;

    /* thin out to a density of roughly a fifth */
    for (int i = 0; i < EDGE * EDGE * EDGE / 32; i++)
        bits[i] = world[i] & mask[i] & (world[i] << 7 | mask[i] >> 9);
    for (int r = 0; r < RAYS; r++) {
        hits[r] = cast(bits, origin[r], dir[r]);
        n += hits[r].t >= 0.0f;
    }
    return n;
}
