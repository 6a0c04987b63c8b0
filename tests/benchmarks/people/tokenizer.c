#include <ctype.h>
#include <stdio.h>

enum token { T_END, T_NUMBER, T_NAME, T_OPERATOR, T_OTHER };

struct lexer {
    const char *p;
    int line;
};

static enum token next(struct lexer *l)
{
    while (*l->p == ' ' || *l->p == '\n') {
        if (*l->p == '\n')
            l->line++;
        l->p++;
    }
    if (*l->p == '\0')
        return T_END;
    if (isdigit(*l->p)) {
        while (isdigit(*l->p))
            l->p++;
        return T_NUMBER;
    }
    if (isalpha(*l->p) || *l->p == '_') {
        while (isalnum(*l->p) || *l->p == '_')
            l->p++;
        return T_NAME;
    }
    switch (*l->p++) {
    case '+': case '-': case '*': case '/': case '=':
        return T_OPERATOR;
    default:
        return T_OTHER;
    }
}

int count_tokens(const char text[128], int counts[5])
{
    struct lexer l = {text, 1};
    enum token t;
    do {
        t = next(&l);
        counts[t]++;
    } while (t != T_END);
    return l.line;
}

int main(void)
{
    static const char program[128] = "x = 3 + y1\n* 42";
    int counts[5] = {0};
    int lines = count_tokens(program, counts);
    for (int i = 0; i < 5; i++)
        printf("%d: %d\n", i, counts[i]);
    return lines == 2 ? 0 : 1;
}
