#include <stdint.h>

#ifndef IN_WORDS
#define IN_WORDS 4
#endif
#ifndef HID_WORDS
#define HID_WORDS 2
#endif
#ifndef BATCH
#define BATCH 4
#endif

#define BITS       32
#define N_HIDDEN   (HID_WORDS * BITS)
#define N_CLASSES  10

/* agreeing bits of two words */
#define AGREE(a, b) ones(~((a) ^ (b)))

static inline unsigned ones(uint32_t v)
{
    v = v - ((v >> 1) & 0x55555555u);
    v = (v & 0x33333333u) + ((v >> 2) & 0x33333333u);
    v = (v + (v >> 4)) & 0x0F0F0F0Fu;
    return (v * 0x01010101u) >> 24;
}

static unsigned match(const uint32_t *a, const uint32_t *b, int words)
{
    unsigned n = 0;
    do {
        n += AGREE(*a, *b);
        a++, b++;
    } while (--words);
    return n;
}

/* Two dense layers with weights and activations of one bit (0 is -1).
 * Batch normalisation and sign of the hidden layer are folded into one
 * threshold per neuron; `negate` has a bit set where gamma is negative. */
void bnn_forward(const uint32_t x[BATCH][IN_WORDS],
                 const uint32_t w1[N_HIDDEN][IN_WORDS],
                 const uint16_t threshold[N_HIDDEN],
                 const uint32_t negate[HID_WORDS],
                 const uint32_t w2[N_CLASSES][HID_WORDS],
                 int16_t score[BATCH][N_CLASSES],
                 uint8_t label[BATCH])
{
    uint32_t hidden[HID_WORDS];
    int b, w, bit, c;

    for (b = 0; b < BATCH; b++) {
        for (w = 0; w < HID_WORDS; w++) {
            uint32_t pack = 0;
            for (bit = 0; bit < BITS; bit++) {
                int n = w * BITS + bit;
                uint32_t fire = match(x[b], w1[n], IN_WORDS) >= threshold[n];
                pack |= fire << bit;
            }
            hidden[w] = pack ^ negate[w];
        }

        label[b] = 0;
        for (c = 0; c < N_CLASSES; c++) {
            /* agreements minus disagreements */
            score[b][c] = (int16_t)(2 * (int)match(hidden, w2[c], HID_WORDS) - N_HIDDEN);
            if (score[b][c] > score[b][label[b]])
                label[b] = (uint8_t)c;
        }
    }
}
