/* Radix sort of unsigned numbers, four bits a pass, between two buffers. */
#include <stdint.h>

#ifndef N
#define N 32
#endif
#define DIGIT_BITS 4
#define BUCKETS (1 << DIGIT_BITS)

static void sort_by_digit(const uint32_t from[N], uint32_t to[N], int shift)
{
    int place[BUCKETS] = {0};
    int sum = 0;

    for (int i = 0; i < N; i++) {
        place[from[i] >> shift & (BUCKETS - 1)]++;
    }
    for (int b = 0; b < BUCKETS; b++) {
        int count = place[b];

        place[b] = sum;
        sum += count;
    }
    for (int i = 0; i < N; i++) {
        to[place[from[i] >> shift & (BUCKETS - 1)]++] = from[i];
    }
}

void radix_sort(uint32_t a[N])
{
    uint32_t buffer[N];

    for (int shift = 0; shift < 32; shift += 2 * DIGIT_BITS) {
        sort_by_digit(a, buffer, shift);
        sort_by_digit(buffer, a, shift + DIGIT_BITS);
    }
}
