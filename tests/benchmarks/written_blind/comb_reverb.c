#define D1 11
#define D2 17

static float line1[D1], line2[D2];
static int p1, p2;

static float comb1(float x)
{
    float y = line1[p1];
    line1[p1] = x + 0.7f * y;
    p1 = p1 + 1 == D1 ? 0 : p1 + 1;
    return y;
}

static float comb2(float x)
{
    float y = line2[p2];
    line2[p2] = x + 0.6f * y;
    p2 = p2 + 1 == D2 ? 0 : p2 + 1;
    return y;
}

/* Two parallel feedback combs and the dry signal. */
#pragma simfoundry range dry=-1.0:1.0
void comb_reverb(const float dry[48], float wet[48])
{
    for (int i = 0; i < 48; i++)
        wet[i] = 0.6f * dry[i] + 0.2f * comb1(dry[i]) + 0.2f * comb2(dry[i]);
}
