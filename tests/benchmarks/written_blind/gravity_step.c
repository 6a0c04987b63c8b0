#include <math.h>
#define BODIES 6
typedef struct { float x, y, vx, vy, m; } body;

/* A step of softened gravity in the plane. */
#pragma simfoundry range px=-5.0:5.0 py=-5.0:5.0 mass=0.5:2.0
void gravity_step(float px[BODIES], float py[BODIES], const float mass[BODIES])
{
    body b[BODIES];
    for (int i = 0; i < BODIES; i++) {
        b[i].x = px[i];
        b[i].y = py[i];
        b[i].vx = b[i].vy = 0.0f;
        b[i].m = mass[i];
    }
    for (int t = 0; t < 2; t++) {
        for (int i = 0; i < BODIES; i++) {
            float ax = 0.0f, ay = 0.0f;
            for (int j = 0; j < BODIES; j++) {
                if (i == j)
                    continue;
                float dx = b[j].x - b[i].x, dy = b[j].y - b[i].y;
                float r2 = dx * dx + dy * dy + 0.01f;
                float k = b[j].m / (r2 * sqrtf(r2));
                ax += k * dx;
                ay += k * dy;
            }
            b[i].vx += 0.01f * ax;
            b[i].vy += 0.01f * ay;
        }
        for (int i = 0; i < BODIES; i++) {
            b[i].x += 0.01f * b[i].vx;
            b[i].y += 0.01f * b[i].vy;
        }
    }
    for (int i = 0; i < BODIES; i++) {
        px[i] = b[i].x;
        py[i] = b[i].y;
    }
}
