typedef struct { float w, x, y, z; } quat;

void quaternion_mul(const quat a[20], const quat b[20], quat c[20])
{
    for (int i = 0; i < 20; i++) {
        quat p = a[i], q = b[i];
        c[i].w = p.w * q.w - p.x * q.x - p.y * q.y - p.z * q.z;
        c[i].x = p.w * q.x + p.x * q.w + p.y * q.z - p.z * q.y;
        c[i].y = p.w * q.y - p.x * q.z + p.y * q.w + p.z * q.x;
        c[i].z = p.w * q.z + p.x * q.y - p.y * q.x + p.z * q.w;
    }
}
