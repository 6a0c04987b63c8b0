#include <stdint.h>
#include <stdio.h>
#include <string.h>

void equalize(uint8_t *image, size_t n)
{
    unsigned hist[256], total = 0;
    uint8_t map[256];

    if (!image || n == 0)
        return;
    memset(hist, 0, sizeof hist);
    for (size_t i = 0; i < n; i++)
        ++hist[image[i]];
    for (int i = 0; i < 256; i++) {
        total += hist[i];
        map[i] = (uint8_t)(total * 255u / n);
    }
    for (size_t i = 0; i < n; i++)
        image[i] = map[image[i]];
    printf("equalized %zu pixels\n", n);
}
