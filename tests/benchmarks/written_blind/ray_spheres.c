#include <math.h>
typedef struct {
    float x, y, z;
} vec3;

static float dot3(vec3 a, vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

/* Nearest hit of each ray (from the origin) among eight spheres; -1 for none. */
#pragma simfoundry range dir=-1.0:1.0 centre=-4.0:4.0 radius=0.2:2.0
void ray_spheres(const float dir[12][3], const float centre[8][3], const float radius[8], int hit[12], float dist[12])
{
    for (int r = 0; r < 12; r++) {
        vec3 d = {dir[r][0], dir[r][1], dir[r][2]};
        float inv = 1.0f / sqrtf(dot3(d, d) + 1e-6f);
        float nearest = 1e9f;
        int which = -1;
        d.x *= inv;
        d.y *= inv;
        d.z *= inv;
        for (int s = 0; s < 8; s++) {
            vec3 c = {centre[s][0], centre[s][1], centre[s][2]};
            float b = dot3(d, c);
            float disc = b * b - dot3(c, c) + radius[s] * radius[s];
            if (disc > 0.0f) {
                float t = b - sqrtf(disc);
                if (t > 0.001f && t < nearest) {
                    nearest = t;
                    which = s;
                }
            }
        }
        hit[r] = which;
        dist[r] = nearest;
    }
}
