#include <stdio.h>
#include <stdint.h>
#include <stdbool.h>

#define RB_SIZE 16

typedef struct {
    uint8_t data[RB_SIZE];
    unsigned head, tail, count;
} ring_buffer_t;

static void rb_init(ring_buffer_t *rb) { rb->head = rb->tail = rb->count = 0; }

static bool rb_put(ring_buffer_t *rb, uint8_t byte)
{
    if (rb->count == RB_SIZE) {
        fprintf(stderr, "ring buffer full\n");
        return false;
    }
    rb->data[rb->head] = byte;
    rb->head = (rb->head + 1) % RB_SIZE;
    rb->count++;
    return true;
}

static bool rb_get(ring_buffer_t *rb, uint8_t *out)
{
    if (rb->count == 0)
        return false;
    *out = rb->data[rb->tail];
    rb->tail = (rb->tail + 1) % RB_SIZE;
    rb->count--;
    return true;
}

int ring_demo(const uint8_t input[64], uint8_t output[64])
{
    ring_buffer_t rb;
    int n = 0;
    rb_init(&rb);
    for (int i = 0; i < 64; i++) {
        rb_put(&rb, input[i]);
        if (i % 3 != 0) {
            uint8_t b;
            while (rb_get(&rb, &b) && n < 64)
                output[n++] = b ^ 0x5a;
        }
    }
    printf("moved %d bytes\n", n);
    return n;
}
