#include <stdio.h>

typedef int (*binop)(int, int);

static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }

static const binop ops[] = {add, sub, mul};

int apply_all(const unsigned char selector[16], const int a[16], const int b[16])
{
    int acc = 0;
    for (int i = 0; i < 16; i++)
        acc ^= ops[selector[i] % 3](a[i] & 0xff, b[i] & 0xff);
    return acc;
}
