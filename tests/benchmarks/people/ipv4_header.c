#include <stdint.h>
#include <stdio.h>

struct ip_flags {
    unsigned int reserved : 1;
    unsigned int df : 1;
    unsigned int mf : 1;
    unsigned int offset : 13;
};

struct ip_info {
    unsigned version : 4;
    unsigned ihl : 4;
    uint16_t length;
    struct ip_flags flags;
    uint32_t src, dst;
};

static uint16_t be16(const uint8_t *p) { return (uint16_t)(p[0] << 8 | p[1]); }
static uint32_t be32(const uint8_t *p) { return (uint32_t)be16(p) << 16 | be16(p + 2); }

static int parse(const uint8_t *p, struct ip_info *info)
{
    info->version = p[0] >> 4;
    info->ihl = p[0] & 15;
    if (info->version != 4 || info->ihl < 5)
        return -1;
    info->length = be16(p + 2);
    uint16_t f = be16(p + 6);
    info->flags.reserved = f >> 15;
    info->flags.df = f >> 14;
    info->flags.mf = f >> 13;
    info->flags.offset = f & 0x1fff;
    info->src = be32(p + 12);
    info->dst = be32(p + 16);
    return 0;
}

uint32_t parse_ipv4(const uint8_t packet[20])
{
    struct ip_info info;
    if (parse(packet, &info) < 0) {
        printf("bad header\n");
        return 0;
    }
    return info.src ^ info.dst ^ info.length ^ ((uint32_t)info.flags.offset << 3) ^ info.flags.df;
}
