#include <math.h>
#include <stdio.h>

typedef struct { float x, y, z; } vec3;

static vec3 add(vec3 a, vec3 b) { return (vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static vec3 scale(vec3 a, float s) { return (vec3){a.x * s, a.y * s, a.z * s}; }
static float dot(vec3 a, vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static vec3 normalize(vec3 v)
{
    float len = sqrtf(dot(v, v));
    if (len < 1e-6f) {
        puts("zero vector");
        return v;
    }
    return scale(v, 1.0f / len);
}

void reflect_all(const vec3 in[16], vec3 out[16], vec3 normal)
{
    vec3 n = normalize(normal);
    for (int i = 0; i < 16; i++) {
        float d = 2.0f * dot(in[i], n);
        out[i] = add(in[i], scale(n, -d));
    }
}
