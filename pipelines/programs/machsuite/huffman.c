/* Canonical Huffman decoding of `count` symbols, bit by bit: a bit reader, break, early return of an error.

   Codes of length n are the next `codes_of_length[n]` numbers; `symbols` has them in the order of codes. */
#include <stdint.h>

#ifndef BYTES
#define BYTES 32
#endif
#ifndef SYMBOLS
#define SYMBOLS 64
#endif
#define LONGEST 7

struct reader {
    uint32_t buffer;
    int left; /* bits in the buffer */
    int position;
};

static const uint8_t codes_of_length[LONGEST + 1] = {0, 0, 2, 2, 3, 1, 0, 4};
static const uint8_t symbols[12] = {' ', 'e', 't', 'a', 'o', 'n', 'i', 's', 'h', 'r', 'd', 'l'};

int huffman(uint8_t data[BYTES], uint8_t text[SYMBOLS], int count)
{
    struct reader bits = {0, 0, 0};
    int done = 0;

    for (int i = 0; i < SYMBOLS; i++) {
        text[i] = 0;
    }
    while (done < count && done < SYMBOLS) {
        int code = 0;
        int first = 0;
        int index = 0;
        int length;

        for (length = 1; length <= LONGEST; length++) {
            int codes = codes_of_length[length];

            if (bits.left == 0) {
                if (bits.position == BYTES) {
                    return -1 - done;
                }
                bits.buffer = data[bits.position++];
                bits.left = 8;
            }
            bits.left--;
            code |= bits.buffer >> bits.left & 1;
            if (code - codes < first) {
                break;
            }
            index += codes;
            first = (first + codes) << 1;
            code <<= 1;
        }
        if (length > LONGEST) {
            return -1 - done;
        }
        text[done++] = symbols[index + (code - first)];
    }
    return done;
}
