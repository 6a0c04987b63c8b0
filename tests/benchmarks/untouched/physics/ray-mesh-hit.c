// Nearest hit of every ray with a triangle mesh, plus a diffuse shade.
// Single precision throughout; the mesh comes as an indexed face set.

#include <math.h>

#ifndef RAYS
#define RAYS 16
#endif
#ifndef TRIS
#define TRIS 40
#endif
#ifndef VERTS
#define VERTS 30
#endif

typedef struct { float x, y, z; } Vec3;
typedef struct { Vec3 corner, e1, e2, normal; int usable; } Triangle;

static Triangle mesh[TRIS];

static inline Vec3 vec(const float *p)        { return (Vec3){ p[0], p[1], p[2] }; }
static inline Vec3 sub(Vec3 a, Vec3 b)        { return (Vec3){ a.x - b.x, a.y - b.y, a.z - b.z }; }
static inline float dot(Vec3 a, Vec3 b)       { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline Vec3 cross(Vec3 a, Vec3 b)
{
    return (Vec3){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}
static inline Vec3 scale(Vec3 a, float s)     { return (Vec3){ a.x * s, a.y * s, a.z * s }; }

static void prepare(const float vertex[VERTS][3], const int face[TRIS][3])
{
    for (int t = 0; t < TRIS; t++) {
        Triangle *tri = &mesh[t];
        tri->corner = vec(vertex[face[t][0]]);
        tri->e1 = sub(vec(vertex[face[t][1]]), tri->corner);
        tri->e2 = sub(vec(vertex[face[t][2]]), tri->corner);
        Vec3 n = cross(tri->e1, tri->e2);
        float len = sqrtf(dot(n, n));
        tri->usable = len > 1e-6f;                     // degenerate faces never get hit
        tri->normal = tri->usable ? scale(n, 1.0f / len) : n;
    }
}

// Moeller and Trumbore; distance along d, or a negative value for a miss
static float intersect(const Triangle *tri, Vec3 o, Vec3 d)
{
    Vec3 pv = cross(d, tri->e2);
    float det = dot(tri->e1, pv);
    if (fabsf(det) < 1e-7f)
        return -1.0f;
    float inv = 1.0f / det;
    Vec3 tv = sub(o, tri->corner);
    float u = dot(tv, pv) * inv;
    if (u < 0.0f || u > 1.0f)
        return -1.0f;
    Vec3 qv = cross(tv, tri->e1);
    float v = dot(d, qv) * inv;
    if (v < 0.0f || u + v > 1.0f)
        return -1.0f;
    return dot(tri->e2, qv) * inv;
}

// face_hit[r] is -1 where ray r leaves the scene
int ray_mesh_hit(const float vertex[VERTS][3], const int face[TRIS][3],
                 const float origin[RAYS][3], const float dir[RAYS][3], const float light[3],
                 int face_hit[RAYS], float distance[RAYS], float shade[RAYS])
{
    int hits = 0;
    Vec3 to_light = vec(light);
    float brightness = sqrtf(dot(to_light, to_light));

    if (brightness > 0.0f)
        to_light = scale(to_light, 1.0f / brightness);
    prepare(vertex, face);

    for (int r = 0; r < RAYS; r++) {
        Vec3 o = vec(origin[r]), d = vec(dir[r]);
        float nearest = 1e30f;

        face_hit[r] = -1;
        for (int t = 0; t < TRIS; t++) {
            if (!mesh[t].usable)
                continue;
            float s = intersect(&mesh[t], o, d);
            if (s > 1e-4f && s < nearest) {
                nearest = s;
                face_hit[r] = t;
            }
        }
        if (face_hit[r] < 0) {
            distance[r] = 0.0f;
            shade[r] = 0.0f;
            continue;
        }
        hits++;
        distance[r] = nearest;
        shade[r] = fabsf(dot(mesh[face_hit[r]].normal, to_light));
    }
    return hits;
}
