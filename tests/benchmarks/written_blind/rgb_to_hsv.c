static float min2(float a, float b) { return a < b ? a : b; }
static float max2(float a, float b) { return a > b ? a : b; }

void rgb_to_hsv(const unsigned char rgb[30][3], float hsv[30][3])
{
    for (int i = 0; i < 30; i++) {
        float r = rgb[i][0] * (1.0f / 255), g = rgb[i][1] * (1.0f / 255), b = rgb[i][2] * (1.0f / 255);
        float hi = max2(r, max2(g, b)), lo = min2(r, min2(g, b));
        float span = hi - lo, h = 0.0f;
        if (span > 0.0f) {
            if (hi == r)
                h = (g - b) / span;
            else if (hi == g)
                h = 2.0f + (b - r) / span;
            else
                h = 4.0f + (r - g) / span;
            h *= 60.0f;
            if (h < 0.0f)
                h += 360.0f;
        }
        hsv[i][0] = h;
        hsv[i][1] = hi > 0.0f ? span / hi : 0.0f;
        hsv[i][2] = hi;
    }
}
