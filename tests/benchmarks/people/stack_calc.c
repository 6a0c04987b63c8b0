#include <stdio.h>
#include <stdlib.h>
#include <ctype.h>

#define DEPTH 16

static int stack[DEPTH];
static int top;

static void push(int v)
{
    if (top >= DEPTH) {
        fprintf(stderr, "stack overflow\n");
        exit(EXIT_FAILURE);
    }
    stack[top++] = v;
}

static int pop(void)
{
    if (top == 0) {
        puts("stack underflow");
        return 0;
    }
    return stack[--top];
}

int rpn(const char expr[32])
{
    top = 0;
    for (int i = 0; i < 32 && expr[i]; i++) {
        char ch = expr[i];
        int a, b;
        if (isdigit((unsigned char)ch)) {
            if (top < DEPTH)
                push(ch - '0');
            continue;
        }
        switch (ch) {
        case '+': b = pop(); a = pop(); push(a + b); break;
        case '-': b = pop(); a = pop(); push(a - b); break;
        case '*': b = pop(); a = pop(); push((int)((unsigned)a * (unsigned)b)); break;
        default: break;
        }
    }
    return pop();
}
