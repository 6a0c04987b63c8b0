#include <stdint.h>

void xtea_encrypt(uint32_t v[8], const uint32_t key[4])
{
    for (int b = 0; b < 8; b += 2) {
        uint32_t v0 = v[b], v1 = v[b + 1], sum = 0;
        for (int i = 0; i < 32; i++) {
            v0 += (((v1 << 4) ^ (v1 >> 5)) + v1) ^ (sum + key[sum & 3]);
            sum += 0x9e3779b9u;
            v1 += (((v0 << 4) ^ (v0 >> 5)) + v0) ^ (sum + key[(sum >> 11) & 3]);
        }
        v[b] = v0;
        v[b + 1] = v1;
    }
}
