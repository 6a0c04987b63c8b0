// Pointers that memory cannot hold, or that point to no object.

// error: an argument must be a number or an array, got function * g (f.c:1)
int f(int n, int (*g)(int)) { return g(n); }

// error: a pointer must point to an object before it is used, got a null pointer in g(n) (f.c:2)
int f(int n) { int (*g)(int) = 0;
return g(n); }

// error: a call must be of a function of the file, or through a pointer to one, got a call of another value (in f) (f.c:2)
int f(int n) { int *p = &n;
return p(n); }

// error: a function must call itself only ..., got recursion in g (f calls g calls k calls g) ...:2)
static int g(int (*h)(int), int n);
static int k(int n) { return g(k, n) + 1; }
static int g(int (*h)(int), int n) { return h(n) + 1; }
int f(int n) { return g(k, n); }

// error: memory that a loop allocates must have one pointer outside the loop (copy the numbers), got the pointers of a (f.c:3)
#include <stdlib.h>
int f(int n) { int *a[4]; for (int i = 0; i < 4; i++)
{ a[i] = malloc(4); *a[i] = n; } return *a[n & 3]; }

// error: an array argument must be an array of numbers (write g[N][M]), got an array of struct s * (f.c:1)
struct s { int *p; }; int f(struct s *g[2]) { return *g[0]->p; }

// error: a pointer must not be read in a loop before ..., got the pointer h (f.c:6)
#include <stdlib.h>
struct node { int v; struct node *next; };
static struct node pool[8];
int f(int A[8])
{
    struct node *h = 0;
    for (int i = 0; i < 8; i++) {
        struct node **pp = &h, *x = malloc(sizeof *x);
        while (*pp && (*pp)->v < A[i])
            pp = &(*pp)->next;
        x->v = A[i];
        x->next = *pp;
        *pp = x;
    }
    return h->v * 3 + h->next->v;
}

// error: a pointer must point to an object before it is used, got a null pointer in *p (f.c:1)
// class: StaticObjectError
int *p; void f(int k) { *p = k; }

// error: a pointer must point to an object before it is used, got a null pointer in s.q[k] (f.c:1)
// class: StaticObjectError
struct { int *q; } s; int f(int k) { return s.q[k]; }
