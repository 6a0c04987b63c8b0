/* Smallest, largest and where they are, with a threshold count. */
void min_max_range(const short v[200], short limit, short out[5])
{
    short lo = v[0], hi = v[0];
    short at_lo = 0, at_hi = 0, above = 0;
    for (short i = 0; i < 200; i++) {
        if (v[i] < lo) {
            lo = v[i];
            at_lo = i;
        }
        if (v[i] > hi) {
            hi = v[i];
            at_hi = i;
        }
        above += v[i] > limit;
    }
    out[0] = lo;
    out[1] = hi;
    out[2] = at_lo;
    out[3] = at_hi;
    out[4] = above;
}
