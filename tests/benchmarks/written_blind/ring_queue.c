#include <stdint.h>
#define SIZE 16
#define MASK (SIZE - 1)

static struct {
    uint16_t slot[SIZE];
    unsigned head, tail;
} q;

static int push(uint16_t v)
{
    if (q.head - q.tail == SIZE)
        return 0;
    q.slot[q.head++ & MASK] = v;
    return 1;
}

static int pop(uint16_t *v)
{
    if (q.head == q.tail)
        return 0;
    *v = q.slot[q.tail++ & MASK];
    return 1;
}

/* Commands: top bit pushes the rest, else pop. Returns the refused ones. */
int ring_queue(const uint16_t command[80], uint16_t out[80])
{
    int refused = 0, n = 0;
    for (int i = 0; i < 80; i++) {
        uint16_t v;
        if (command[i] & 0x8000)
            refused += !push(command[i] & 0x7fff);
        else if (pop(&v))
            out[n++] = v;
        else
            refused++;
    }
    return refused;
}
