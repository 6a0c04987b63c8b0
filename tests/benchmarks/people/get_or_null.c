#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint16_t id;
    int16_t value;
} record_t;

static const record_t *find(const record_t *r, int n, uint16_t id)
{
    for (int i = 0; i < n; i++)
        if (r[i].id == id)
            return &r[i];
    return NULL;
}

int sum_found(const record_t records[16], const uint16_t ids[8])
{
    int sum = 0;
    for (int i = 0; i < 8; i++) {
        const record_t *r = find(records, 16, ids[i] % 32);
        if (r != NULL)
            sum += r->value;
    }
    return sum;
}
