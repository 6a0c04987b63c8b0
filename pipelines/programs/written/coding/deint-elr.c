/*
 * deint_elr: fills the missing lines of one field by edge-directed line averaging.
 *
 * For each missing sample three directions are tried (left, straight, right).  The one with
 * the smallest difference wins; ties go to "straight".  A comb detector against the previous
 * frame switches back to the old sample where nothing moved.
 */
#include <stdint.h>
#include <stddef.h>

#ifndef LUMA_W
#define LUMA_W 32
#endif
#ifndef LUMA_H
#define LUMA_H 16
#endif

#define STILL_LIMIT 6u

typedef uint8_t pel;

static unsigned absdiff(pel a, pel b)
{
    return a > b ? (unsigned)(a - b) : (unsigned)(b - a);
}

static pel avg2(pel a, pel b)
{
    return (pel)((a + b + 1) >> 1);
}

static pel edge_sample(const pel *above, const pel *below, size_t x)
{
    unsigned best = absdiff(above[x], below[x]);
    pel value = avg2(above[x], below[x]);

    if (x == 0 || x + 1 == LUMA_W)
        return value;
    for (int dir = -1; dir <= 1; dir += 2) {
        unsigned score = absdiff(above[x + (size_t)dir], below[x - (size_t)dir]);
        if (score + 1u < best) {
            best = score;
            value = avg2(above[x + (size_t)dir], below[x - (size_t)dir]);
        }
    }
    return value;
}

/* parity 0: even lines are present, parity 1: odd ones.  Returns how many samples moved. */
unsigned long deint_elr(const pel field[LUMA_H / 2][LUMA_W], const pel previous[LUMA_H][LUMA_W],
                        pel frame[LUMA_H][LUMA_W], unsigned parity)
{
    unsigned long moved = 0;
    const unsigned first = parity & 1u;

    for (unsigned y = 0; y < LUMA_H / 2; ++y) {
        const pel *src = field[y];
        pel *dst = frame[2 * y + first];
        size_t left = LUMA_W;
        while (left--)
            *dst++ = *src++;
    }
    for (unsigned y = 1u - first; y < LUMA_H; y += 2u) {
        unsigned up = y == 0 ? 1 : y - 1;
        unsigned down = y + 1 < LUMA_H ? y + 1 : up;

        for (size_t x = 0; x < LUMA_W; ++x) {
            pel old = previous[y][x];
            unsigned motion = absdiff(frame[up][x], previous[up][x]);
            unsigned other = absdiff(frame[down][x], previous[down][x]);

            if (other > motion)
                motion = other;
            if (motion < STILL_LIMIT) {
                frame[y][x] = old;
                continue;
            }
            frame[y][x] = edge_sample(frame[up], frame[down], x);
            ++moved;
        }
    }
    return moved;
}
