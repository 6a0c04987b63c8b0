#include <stdio.h>
#include <string.h>

#ifndef PIXELS
#define PIXELS 256
#endif
#ifndef COLOURS
#define COLOURS 8
#endif

typedef unsigned char byte;

/* A box owns a slice of order[]; lo/hi are the bounds of its colours. */
typedef struct Box {
    int first, count;
    byte lo[3], hi[3];
} Box;

static Box boxes[COLOURS];
static int order[PIXELS], spare[PIXELS];

static void shrink(Box *b, const byte (*rgb)[3])
{
    memset(b->lo, 255, 3);
    memset(b->hi, 0, 3);
    for (int i = b->first; i < b->first + b->count; i++) {
        const byte *p = rgb[order[i]];
        for (int c = 0; c < 3; c++) {
            if (p[c] < b->lo[c]) b->lo[c] = p[c];
            if (p[c] > b->hi[c]) b->hi[c] = p[c];
        }
    }
}

static int longest(const Box *b, int *extent)
{
    /* eyes: green counts most, blue least */
    static const int weight[3] = {3, 4, 2};
    int axis = 0;

    *extent = 0;
    for (int c = 0; c < 3; c++) {
        int e = (b->hi[c] - b->lo[c]) * weight[c];
        if (e > *extent) {
            *extent = e;
            axis = c;
        }
    }
    return axis;
}

/* counting sort of the slice along one channel */
static void sort_slice(const Box *b, int axis, const byte (*rgb)[3])
{
    static int start[257];
    int i;

    memset(start, 0, sizeof start);
    memcpy(spare, order + b->first, (size_t)b->count * sizeof *spare);
    for (i = 0; i < b->count; i++)
        start[rgb[spare[i]][axis] + 1]++;
    for (i = 1; i <= 256; i++)
        start[i] += start[i - 1];
    for (i = 0; i < b->count; i++)
        order[b->first + start[rgb[spare[i]][axis]]++] = spare[i];
}

static int nearest(const byte *p, byte (*palette)[3], int n, long *error)
{
    int winner = 0;
    long least = 3L * 255 * 255 + 1;

    for (int k = 0; k < n && least > 0; k++) {
        long d = 0;
        for (int c = 0; c < 3; c++)
            d += (long)(p[c] - palette[k][c]) * (p[c] - palette[k][c]);
        if (d < least) {
            least = d;
            winner = k;
        }
    }
    *error += least;
    return winner;
}

/* returns the squared error over all pixels */
long quantise(const byte (*rgb)[3], byte (*palette)[3], byte *index, int *used)
{
    int n = 1;
    long error = 0;

    for (int i = 0; i < PIXELS; i++)
        order[i] = i;
    boxes[0].first = 0;
    boxes[0].count = PIXELS;
    shrink(&boxes[0], rgb);

    while (n < COLOURS) {
        int pick = -1, axis = 0;
        long most = 0;

        for (int k = 0; k < n; k++) {
            int extent, a = longest(&boxes[k], &extent);
            if ((long)extent * boxes[k].count > most) {
                most = (long)extent * boxes[k].count;
                pick = k;
                axis = a;
            }
        }
        if (pick < 0)
            break;              /* fewer colours than entries */

        Box *old = &boxes[pick], *fresh = &boxes[n++];
        sort_slice(old, axis, rgb);
        fresh->count = old->count / 2;
        old->count -= fresh->count;
        fresh->first = old->first + old->count;
        shrink(old, rgb);
        shrink(fresh, rgb);
    }

    for (int k = 0; k < n; k++) {
        const Box *b = &boxes[k];
        for (int c = 0; c < 3; c++) {
            long sum = b->count / 2;
            for (int i = 0; i < b->count; i++)
                sum += rgb[order[b->first + i]][c];
            palette[k][c] = (byte)(sum / b->count);
        }
    }
    for (int i = 0; i < PIXELS; i++)
        index[i] = (byte)nearest(rgb[i], palette, n, &error);

    *used = n;
    return error;
}

int main(void)
{
    static byte picture[PIXELS][3], palette[COLOURS][3], index[PIXELS];
    int used;

    for (int i = 0; i < PIXELS; i++) {
        picture[i][0] = (byte)(i * 7);
        picture[i][1] = (byte)(i * i);
        picture[i][2] = (byte)(200 - i / 3);
    }
    long e = quantise((const byte (*)[3])picture, palette, index, &used);
    printf("%d colours, error %ld\n", used, e);
    return 0;
}
