// Evaluates short integer expressions such as (12+3)*-4 that arrive as one
// text, separated by ',' or '.'. Two stacks, operators by precedence.

#ifndef LENGTH
#define LENGTH 480
#endif

#define MAX_RESULTS (LENGTH / 2 + 1)
#define STACK 24

enum { FINE, SYNTAX = 1, DIV_ZERO = 2, TOO_LONG = 3 };

typedef struct {
    unsigned value[STACK];
    char op[STACK];
    int values, ops;
    int error;
} Calc;

static int precedence(char op)
{
    switch (op) {
    case '+': case '-': return 1;
    case '*': case '/': return 2;
    case 'n':           return 3;   // negation
    default:            return 0;   // '('
    }
}

// all arithmetic wraps at 32 bits, division rounds towards zero
static void apply(Calc *c)
{
    char op = c->op[--c->ops];
    unsigned b = c->value[c->values - 1], a;

    if (op == 'n') {
        c->value[c->values - 1] = 0u - b;
        return;
    }
    c->values--;
    a = c->value[c->values - 1];
    switch (op) {
    case '+': a += b; break;
    case '-': a -= b; break;
    case '*': a *= b; break;
    case '/':
        if (b == 0)
            c->error = DIV_ZERO;
        else if (b == 0xFFFFFFFFu)
            a = 0u - a;             // also right for the smallest number
        else
            a = (unsigned)((int)a / (int)b);
        break;
    }
    c->value[c->values - 1] = a;
}

static void push_op(Calc *c, char op)
{
    if (c->ops == STACK) c->error = TOO_LONG;
    else c->op[c->ops++] = op;
}

static const char *expression(Calc *c, const char *s, const char *end)
{
    int want_operand = 1;

    c->values = c->ops = 0;
    c->error = FINE;
    while (s < end && *s != ',' && *s != '.' && !c->error) {
        char ch = *s++;
        if (ch >= '0' && ch <= '9') {
            unsigned v = (unsigned)(ch - '0');
            if (!want_operand) { c->error = SYNTAX; break; }
            while (s < end && *s >= '0' && *s <= '9')
                v = 10 * v + (unsigned)(*s++ - '0');
            if (c->values == STACK) { c->error = TOO_LONG; break; }
            c->value[c->values++] = v;
            want_operand = 0;
        } else if (ch == '(') {
            if (!want_operand) c->error = SYNTAX;
            else push_op(c, ch);
        } else if (ch == ')') {
            if (want_operand) { c->error = SYNTAX; break; }
            while (c->ops > 0 && c->op[c->ops - 1] != '(' && !c->error)
                apply(c);
            if (!c->error && c->ops == 0) c->error = SYNTAX;
            else if (!c->error) c->ops--;
        } else if (want_operand) {
            if (ch == '-') push_op(c, 'n');
            else if (ch != '+') c->error = SYNTAX;
        } else if (precedence(ch) == 0) {
            c->error = SYNTAX;
        } else {
            while (c->ops > 0 && precedence(c->op[c->ops - 1]) >= precedence(ch) && !c->error)
                apply(c);
            if (!c->error) push_op(c, ch);
            want_operand = 1;
        }
    }
    if (!c->error && want_operand)
        c->error = SYNTAX;
    while (!c->error && c->ops > 0) {
        if (c->op[c->ops - 1] == '(') c->error = SYNTAX;
        else apply(c);
    }
    while (s < end && *s != ',' && *s != '.')   // rest of a bad one
        s++;
    return s < end ? s + 1 : end;
}

// Empty expressions are skipped. Returns how many were evaluated, good or bad.
int evaluate_all(const char *text, int *result, unsigned char *status)
{
    const char *s = text, *end = text + LENGTH;
    int n = 0, i;
    Calc calc;

    while (s < end) {
        if (*s == ',' || *s == '.') { s++; continue; }
        s = expression(&calc, s, end);
        result[n] = calc.error ? 0 : (int)calc.value[0];
        status[n++] = (unsigned char)calc.error;
    }
    for (i = n; i < MAX_RESULTS; i++)
        result[i] = 0, status[i] = FINE;
    return n;
}
