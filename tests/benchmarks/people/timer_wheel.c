#include <stdint.h>
#include <time.h>

struct timer {
    struct timespec due;
    uint8_t active;
};

static int before(struct timespec a, struct timespec b)
{
    return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

int expired(const uint32_t due_ms[16], uint32_t now_ms)
{
    struct timer t[16];
    struct timespec now = {.tv_sec = now_ms / 1000, .tv_nsec = (long)(now_ms % 1000) * 1000000L};
    int n = 0;
    for (int i = 0; i < 16; i++) {
        t[i].due.tv_sec = due_ms[i] / 1000;
        t[i].due.tv_nsec = (due_ms[i] % 1000) * 1000000L;
        t[i].active = due_ms[i] != 0;
    }
    for (int i = 0; i < 16; i++)
        if (t[i].active && before(t[i].due, now))
            n++;
    return n;
}
