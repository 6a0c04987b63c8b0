/* 16-bit numbers to five BCD digits, double dabble. */
void bcd_convert(const unsigned short n[30], unsigned bcd[30])
{
    for (int i = 0; i < 30; i++) {
        unsigned long long s = n[i];
        for (int k = 0; k < 16; k++) {
            for (int d = 16; d < 36; d += 4)
                if (((s >> d) & 15) >= 5)
                    s += 3ull << d;
            s <<= 1;
        }
        bcd[i] = (unsigned)(s >> 16) & 0xfffff;
    }
}
