#include <stdint.h>
#ifndef LEN
#define LEN 600
#endif

/* Recursive-descent evaluator over a tape of characters ( ) * + , - . / and digits.
 * A comma or a dot ends an expression; errors skip to there. Arithmetic wraps. */
typedef struct parser {
    const char *p, *end;
    int depth;
    int error;
} parser;

#define MAX_DEPTH 24
enum { E_NONE, E_OPERAND, E_PAREN, E_DEPTH, E_DIV, E_TRAIL };

static uint32_t sum(parser *ps);

static int peek(const parser *ps) { return ps->p < ps->end ? *ps->p : ','; }

static uint32_t factor(parser *ps)
{
    int c = peek(ps);
    if (c == '-') {
        if (++ps->depth > MAX_DEPTH) { ps->error = E_DEPTH; return 0; }
        ps->p++;
        uint32_t v = 0u - factor(ps);
        ps->depth--;
        return v;
    }
    if (c == '(') {
        if (++ps->depth > MAX_DEPTH) { ps->error = E_DEPTH; return 0; }
        ps->p++;
        uint32_t v = sum(ps);
        if (ps->error) return 0;
        if (peek(ps) == ')') ps->p++;
        else ps->error = E_PAREN;
        ps->depth--;
        return v;
    }
    if (c < '0' || c > '9') { ps->error = E_OPERAND; return 0; }
    uint32_t v = 0;
    do {
        v = v * 10u + (uint32_t)(*ps->p++ - '0');
    } while (peek(ps) >= '0' && peek(ps) <= '9');
    return v;
}

static uint32_t product(parser *ps)
{
    uint32_t v = factor(ps);
    while (!ps->error && (peek(ps) == '*' || peek(ps) == '/')) {
        char op = *ps->p++;
        uint32_t r = factor(ps);
        if (ps->error) break;
        if (op == '*') v *= r;
        else if (r == 0) ps->error = E_DIV;
        else v = (uint32_t)((int64_t)(int32_t)v / (int32_t)r);
    }
    return v;
}

static uint32_t sum(parser *ps)
{
    uint32_t v = product(ps);
    while (!ps->error && (peek(ps) == '+' || peek(ps) == '-'))
        v = *ps->p++ == '+' ? v + product(ps) : v - product(ps);
    return v;
}

/* values[] gets the results, errors[] the counts per kind of error */
int eval_tape(const char *tape, int32_t *values, uint16_t errors[6])
{
    parser ps = { tape, tape + LEN, 0, 0 };
    int n = 0;

    for (int i = 0; i < 6; i++) errors[i] = 0;
    while (ps.p < ps.end) {
        ps.depth = ps.error = 0;
        uint32_t v = sum(&ps);
        if (!ps.error && peek(&ps) != ',' && peek(&ps) != '.') ps.error = E_TRAIL;
        errors[ps.error]++;
        if (!ps.error) values[n++] = (int32_t)v;
        while (peek(&ps) != ',' && peek(&ps) != '.') ps.p++;
        if (ps.p < ps.end) ps.p++;
    }
    return n;
}
