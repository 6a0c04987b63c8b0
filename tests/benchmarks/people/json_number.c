#include <ctype.h>
#include <stdbool.h>

typedef struct {
    const char *text;
    int pos;
    int length;
} cursor;

static int peek(const cursor *c) { return c->pos < c->length ? c->text[c->pos] : -1; }

static bool accept(cursor *c, int ch)
{
    if (peek(c) != ch)
        return false;
    c->pos++;
    return true;
}

long parse_integer(const char text[24], int *consumed)
{
    cursor c = {text, 0, 24};
    bool negative = accept(&c, '-');
    long value = 0;
    while (isdigit(peek(&c))) {
        value = value * 10 + (peek(&c) - '0');
        if (value > 1000000000L)
            break;
        c.pos++;
    }
    *consumed = c.pos;
    return negative ? -value : value;
}
