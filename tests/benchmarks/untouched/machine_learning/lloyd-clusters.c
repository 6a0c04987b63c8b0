#include <float.h>
#include <stdbool.h>

#ifndef POINTS
#define POINTS 96
#endif
#ifndef DIMS
#define DIMS 3
#endif
#ifndef CLUSTERS
#define CLUSTERS 5
#endif
#ifndef ROUNDS
#define ROUNDS 10
#endif

static float squaredDistance(const float *a, const float *b)
{
    float sum = 0.0f;
    for (int d = 0; d < DIMS; d++) {
        float diff = a[d] - b[d];
        sum += diff * diff;
    }
    return sum;
}

/*
 * Lloyd's k-means. Starts from evenly spaced points, stops when no point
 * changes its cluster or after ROUNDS rounds. A cluster that lost all its
 * points restarts at the point that currently fits worst.
 * Returns the sum of squared distances of the last assignment.
 */
float lloydCluster(const float points[POINTS][DIMS], float centres[CLUSTERS][DIMS], int owner[POINTS])
{
    for (int k = 0; k < CLUSTERS; k++)
        for (int d = 0; d < DIMS; d++)
            centres[k][d] = points[k * (POINTS / CLUSTERS)][d];
    for (int p = 0; p < POINTS; p++)
        owner[p] = -1;

    float inertia = 0.0f;
    bool changed = true;
    for (int round = 0; round < ROUNDS && changed; round++) {
        float sums[CLUSTERS][DIMS] = {{0.0f}};
        int members[CLUSTERS] = {0};
        int worstPoint = 0;
        float worstDistance = -1.0f;

        changed = false;
        inertia = 0.0f;
        for (int p = 0; p < POINTS; p++) {
            int nearest = 0;
            float nearestDistance = FLT_MAX;
            for (int k = 0; k < CLUSTERS; k++) {
                float dist = squaredDistance(points[p], centres[k]);
                if (dist < nearestDistance) {
                    nearestDistance = dist;
                    nearest = k;
                }
            }
            if (owner[p] != nearest) {
                owner[p] = nearest;
                changed = true;
            }
            members[nearest]++;
            for (int d = 0; d < DIMS; d++)
                sums[nearest][d] += points[p][d];
            inertia += nearestDistance;
            if (nearestDistance > worstDistance) {
                worstDistance = nearestDistance;
                worstPoint = p;
            }
        }

        for (int k = 0; k < CLUSTERS; k++) {
            for (int d = 0; d < DIMS; d++) {
                if (members[k] > 0)
                    centres[k][d] = sums[k][d] / (float)members[k];
                else
                    centres[k][d] = points[worstPoint][d];
            }
        }
    }
    return inertia;
}
