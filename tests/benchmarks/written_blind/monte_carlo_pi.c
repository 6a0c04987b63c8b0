unsigned monte_carlo_pi(unsigned seed)
{
    unsigned s = seed | 1, hits = 0;
    for (int i = 0; i < 200; i++) {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        unsigned x = s & 0xffff, y = s >> 16;
        if ((unsigned long long)x * x + (unsigned long long)y * y < 0x100000000ULL)
            hits++;
    }
    return hits;
}
