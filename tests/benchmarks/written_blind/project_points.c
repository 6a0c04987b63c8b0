/* Vertices through a 4 by 4 matrix, then the perspective division and the viewport. */
#pragma simfoundry range m=-1.0:1.0
#pragma simfoundry range xyz=-5.0:5.0
int project_points(const float m[16], const float xyz[20][3], short screen[20][2])
{
    int visible = 0;
    for (int v = 0; v < 20; v++) {
        float out[4];
        for (int r = 0; r < 4; r++)
            out[r] = m[4 * r] * xyz[v][0] + m[4 * r + 1] * xyz[v][1] + m[4 * r + 2] * xyz[v][2] + m[4 * r + 3];
        float w = out[3] < 0.1f ? 0.1f : out[3];
        float sx = out[0] / w, sy = out[1] / w;
        if (sx >= -1.0f && sx <= 1.0f && sy >= -1.0f && sy <= 1.0f) {
            screen[v][0] = (short)((sx + 1.0f) * 159.5f);
            screen[v][1] = (short)((1.0f - sy) * 119.5f);
            visible++;
        } else {
            screen[v][0] = -1;
            screen[v][1] = -1;
        }
    }
    return visible;
}
