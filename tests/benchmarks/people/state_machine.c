#include <stdio.h>

typedef enum { IDLE, START, DATA, PARITY, STOP, ERROR } state_t;

typedef struct {
    state_t state;
    unsigned char shift;
    int bits;
    int errors;
} uart_t;

static const char *name_of(state_t s)
{
    switch (s) {
    case IDLE: return "idle";
    case START: return "start";
    case DATA: return "data";
    case PARITY: return "parity";
    case STOP: return "stop";
    default: return "error";
    }
}

static int uart_step(uart_t *u, int line, unsigned char *out)
{
    int done = 0;
    switch (u->state) {
    case IDLE:
        if (!line)
            u->state = DATA, u->bits = 0, u->shift = 0;
        break;
    case DATA:
        u->shift = (unsigned char)(u->shift >> 1 | line << 7);
        if (++u->bits == 8)
            u->state = STOP;
        break;
    case STOP:
        if (line) {
            *out = u->shift;
            done = 1;
        } else {
            u->errors++;
            printf("framing error in %s\n", name_of(u->state));
        }
        u->state = IDLE;
        break;
    default:
        u->state = IDLE;
        break;
    }
    return done;
}

int uart_receive(const unsigned char lines[200], unsigned char bytes[20])
{
    uart_t u = {IDLE, 0, 0, 0};
    int n = 0;
    for (int i = 0; i < 200 && n < 20; i++) {
        unsigned char b;
        if (uart_step(&u, lines[i] & 1, &b))
            bytes[n++] = b;
    }
    return n * 100 + u.errors;
}
