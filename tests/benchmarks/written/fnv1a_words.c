#include <stdint.h>

/* FNV-1a of fixed-size records, one hash each. */
void fnv1a_words(const uint8_t records[16][12], uint32_t hash[16])
{
    for (int r = 0; r < 16; r++) {
        uint32_t h = 2166136261u;
        for (int i = 0; i < 12; i++) {
            h ^= records[r][i];
            h *= 16777619u;
        }
        hash[r] = h;
    }
}
