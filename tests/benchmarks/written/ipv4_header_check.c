#include <stdint.h>

/* Validates headers: version, length, checksum, time to live. Returns a bit per packet. */
uint32_t ipv4_header_check(const uint8_t pkt[8][20])
{
    uint32_t ok = 0;
    for (int p = 0; p < 8; p++) {
        uint32_t sum = 0;
        for (int i = 0; i < 20; i += 2)
            sum += (uint32_t)pkt[p][i] << 8 | pkt[p][i + 1];
        while (sum >> 16)
            sum = (sum & 0xffff) + (sum >> 16);
        int version = pkt[p][0] >> 4, words = pkt[p][0] & 15;
        int length = pkt[p][2] << 8 | pkt[p][3];
        if (version == 4 && words == 5 && length >= 20 && pkt[p][8] > 0 && sum == 0xffff)
            ok |= 1u << p;
    }
    return ok;
}
