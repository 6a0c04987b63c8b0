#include <stdint.h>

#ifndef FRAME_W
#define FRAME_W 48
#endif
#ifndef FRAME_H
#define FRAME_H 32
#endif
#ifndef MAX_KP
#define MAX_KP 64
#endif

/* FAST-9 segment test; score = largest threshold at which the pixel still is a corner (binary
 * search); 3x3 non maximum suppression. */

typedef struct {
    uint16_t x, y;
    uint8_t  score;
} keypoint_t;

static const int8_t ring[16][2] = {
    {0,-3},{1,-3},{2,-2},{3,-1},{3,0},{3,1},{2,2},{1,3},
    {0,3},{-1,3},{-2,2},{-3,1},{-3,0},{-3,-1},{-2,-2},{-1,-3}
};

static uint8_t score_map[FRAME_H][FRAME_W];

/* is there a run of 9 consecutive set bits on the 16 bit circle? */
static inline int run9(uint32_t m)
{
    m |= m << 16;
    uint32_t t = m & (m >> 1);
    t &= t >> 2;
    t &= t >> 4;
    return (t & (m >> 8) & 0xffff) != 0;
}

static int is_corner(const uint8_t *c, int t)
{
    uint32_t brighter = 0, darker = 0;
    for (int i = 0; i < 16; ++i) {
        int d = c[ring[i][1] * FRAME_W + ring[i][0]] - *c;
        brighter |= (uint32_t)(d > t) << i;
        darker   |= (uint32_t)(d < -t) << i;
        if (i == 7 && !(brighter | darker))
            return 0;
    }
    return run9(brighter) || run9(darker);
}

int fast_detect(const uint8_t *frame, keypoint_t *kp, int threshold)
{
    int n = 0;
    for (int y = 0; y < FRAME_H; ++y)
        for (int x = 0; x < FRAME_W; ++x) {
            score_map[y][x] = 0;
            if (x < 3 || y < 3 || x >= FRAME_W - 3 || y >= FRAME_H - 3) continue;
            const uint8_t *c = frame + y * FRAME_W + x;
            if (!is_corner(c, threshold)) continue;
            int lo = threshold, hi = 255;
            while (hi - lo > 1) {
                int mid = (lo + hi) >> 1;
                if (is_corner(c, mid)) lo = mid; else hi = mid;
            }
            score_map[y][x] = (uint8_t)lo;
        }

    for (int y = 3; y < FRAME_H - 3; ++y)
        for (int x = 3; x < FRAME_W - 3; ++x) {
            int s = score_map[y][x];
            if (s == 0) continue;
            for (int k = 0; k < 9; ++k) {
                int o = score_map[y + k / 3 - 1][x + k % 3 - 1];
                if (o > s || (o == s && k < 4)) goto weaker;
            }
            if (n == MAX_KP) return n;
            kp[n].x = (uint16_t)x;
            kp[n].y = (uint16_t)y;
            kp[n++].score = (uint8_t)s;
weaker:     ;
        }
    return n;
}
