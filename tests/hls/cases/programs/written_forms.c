// Forms of C that people write and earlier engines refused.

// case: bit fields of a union
// top: bit_fields
#include <stdint.h>
struct packed { signed a : 5; unsigned b : 11; signed c : 16; };
union view { uint32_t w; struct packed f; int8_t b[4]; };
static int mix(struct packed p) { return p.a * 3 - p.c + (int)p.b; }
int bit_fields(uint32_t seed) {
    union view v;
    v.w = seed;
    v.f.a = v.f.a - 7;
    int r = mix(v.f);
    v.b[1] = -3;
    return r ^ (int)v.w;
}

// case: later functions of the headers
#include <string.h>
#include <time.h>
#include <stdint.h>
int f(const char T[16], char R[64], int n)
{
    char own[16], *at;
    struct tm t = {0};
    strncpy(own, T, sizeof own - 1);
    own[15] = 0;
    R[0] = 0;
    strcat(R, own);
    strcat(R, "end");
    at = strchr(R, 'n');
    t.tm_mon = n & 7;
    return (at ? at - R : -1) + t.tm_mon + (INT_FAST16_MAX > INT16_MAX) + sizeof(uintptr_t);
}

// case: case ranges
// runs: 40
// rules: forms-1
#include <stdio.h>
enum { LOW = -3 };
int f(int n, unsigned char c)
{
    int r = BUFSIZ;
    switch (n & 15) { case 0 ... 5: r++; case 7: r += 2; break; case 9 ... 9: return 4; default: r = 7; }
    switch (n) { case LOW ... -1: r *= 2; break; case 10 ... LOW: r = 1; break; case 20 ... 90: r += 5; }
    switch (c) { case 'a' ... 'z': return r - 32; case '0' ... '9': return r * 3; }
    return r;
}

// case: later mathematics
// runs: 20
// rules: forms-1
#include <math.h>
double f(double x, float y, int n, long R[4])
{
    R[0] = lrint(x * 0.5);
    R[1] = lroundf(y) + lround(x);
    R[2] = lrintf(y);
    double r = rint(x) + ldexp(x, n * 20) + ldexpf(y, n) * 3;
    return r + log1p(fabs(x)) + expm1f(y * 0.01f) + expm1(x * 0.001);
}

// case: a pointer to a pointer inserts into a list
// runs: 4
#include <stdlib.h>
struct node { int v; struct node *next; };
static struct node pool[8];
int f(int A[8])
{
    struct node *h = 0;
    for (int i = 0; i < 8; i++) {
        struct node **pp = &h, *x = &pool[i];
        while (*pp && (*pp)->v < A[i])
            pp = &(*pp)->next;
        x->v = A[i];
        x->next = *pp;
        *pp = x;
    }
    return h->v * 3 + h->next->v;
}

// case: a macro that names itself
int f(int n) {
#define n (n + 1)
return n * n; }

// case: a structure as result
// plain: f_plain
// runs: 12
struct s { int a, b; }; struct s f(int n) { struct s t = {n, 2}; return t; }

// case: a pointer as result
// plain: f_plain
// runs: 12
int *f(int A[8], int n)
{ for (int i = 0; i < 8; i++) if (A[i] > n) return A + i; return 0; }
