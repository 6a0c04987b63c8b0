#include <stdint.h>
#include <string.h>
#include <stdio.h>

#ifndef ADDRS
#define ADDRS 40
#endif

#define TEXTLEN 40

static char hexDigit(unsigned v) { return (char)(v < 10 ? '0' + v : 'a' + v - 10); }

/* canonical text: longest run of two or more zero groups becomes "::", no leading zeros */
static int ip6ToText(const uint16_t g[8], char *txt)
{
    int runAt = -1, runLen = 1, n = 0;
    for (int i = 0; i < 8; ) {
        int j = i;
        while (j < 8 && g[j] == 0) j++;
        if (j - i > runLen) { runAt = i; runLen = j - i; }
        i = j + 1;
    }
    for (int i = 0; i < 8; i++) {
        if (i == runAt) {
            txt[n++] = ':';
            if (i == 0) txt[n++] = ':';
            i += runLen - 1;
            if (i == 7 && n > 1 && runAt != 0) break;
            continue;
        }
        int started = 0;
        for (int sh = 12; sh >= 0; sh -= 4) {
            unsigned d = g[i] >> sh & 15u;
            if (d || started || sh == 0) { txt[n++] = hexDigit(d); started = 1; }
        }
        if (i < 7) txt[n++] = ':';
    }
    txt[n] = '\0';
    return n;
}

static int textToIp6(const char *s, uint16_t g[8])
{
    uint16_t back[8];
    int n = 0, nb = 0, gap = 0;

    if (s[0] == ':') {
        if (s[1] != ':') return -1;
        s++;
    }
    while (*s) {
        if (*s == ':') {
            s++;
            if (*s == ':' || (n == 0 && nb == 0)) {
                if (gap) return -2;
                gap = 1;
                if (*s == ':') s++;
            } else if (!*s)
                return -3;
            if (!*s) break;
        }
        unsigned v = 0, digits = 0;
        for (;; s++, digits++) {
            unsigned d;
            if (*s >= '0' && *s <= '9') d = (unsigned)(*s - '0');
            else if (*s >= 'a' && *s <= 'f') d = (unsigned)(*s - 'a' + 10);
            else break;
            v = v << 4 | d;
        }
        if (digits == 0 || digits > 4) return -4;
        if (n + nb == 8) return -5;
        if (gap) back[nb++] = (uint16_t)v;
        else g[n++] = (uint16_t)v;
    }
    if (!gap && n < 8) return -6;
    for (int i = n; i < 8 - nb; i++) g[i] = 0;
    for (int i = 0; i < nb; i++) g[8 - nb + i] = back[i];
    return 0;
}

/* print sparse addresses, read them back; counts what did not survive */
int ip6_roundtrip(const uint16_t *groups, const uint8_t *keep, char text[ADDRS][TEXTLEN], uint32_t *lengths)
{
    int lost = 0;
    for (int a = 0; a < ADDRS; a++) {
        uint16_t g[8], h[8];
        for (int i = 0; i < 8; i++)
            g[i] = keep[a] >> i & 1 ? groups[a * 8 + i] : 0;
        lengths[a] = (uint32_t)ip6ToText(g, text[a]);
        if (textToIp6(text[a], h) != 0 || memcmp(g, h, sizeof g) != 0)
            lost++;
    }
    return lost;
}

int main(void)
{
    static const uint16_t g[ADDRS * 8] = { 0x2001, 0xdb8, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1 };
    static uint8_t keep[ADDRS];
    static char text[ADDRS][TEXTLEN];
    static uint32_t len[ADDRS];
    memset(keep, 0xFF, sizeof keep);
    printf("lost %d: %s %s %s\n", ip6_roundtrip(g, keep, text, len), text[0], text[1], text[2]);
    return 0;
}
