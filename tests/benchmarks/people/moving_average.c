#include <stdint.h>
#include <stdlib.h>

struct mavg {
    int32_t *buffer;
    size_t size;
    size_t pos;
    int64_t sum;
};

static int mavg_init(struct mavg *m, size_t size)
{
    m->buffer = calloc(size, sizeof *m->buffer);
    if (m->buffer == NULL)
        return -1;
    m->size = size;
    m->pos = 0;
    m->sum = 0;
    return 0;
}

static int32_t mavg_push(struct mavg *m, int32_t v)
{
    m->sum -= m->buffer[m->pos];
    m->buffer[m->pos] = v;
    m->sum += v;
    m->pos = (m->pos + 1) % m->size;
    return (int32_t)(m->sum / (int64_t)m->size);
}

int moving_average(const int32_t in[100], int32_t out[100])
{
    struct mavg m;
    if (mavg_init(&m, 8) != 0)
        return -1;
    for (int i = 0; i < 100; i++)
        out[i] = mavg_push(&m, in[i]);
    free(m.buffer);
    return 0;
}
