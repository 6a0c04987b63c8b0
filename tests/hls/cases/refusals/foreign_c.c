// C of other engines' programs that the front end refuses.

// error: goto must go forward, to a label of its own block or of one around it (write a loop), got goto a (f.c:1)
int f(int n) { a: n++; if (n < 9) goto a; return n; }

// error: goto must go forward, to a label of its own block or of one around it (write a loop), got goto a (f.c:1)
int f(int n) { if (n) goto a; while (n < 3) { n++; a: n += 2; } return n; }

// error: a function must call itself only as its last step...(f.c:1)
int g(int n) { return n < 2 ? 1 : n * g(n - 1); }
int f(int n) { return g(n); }

// error: a pointer argument must have a size to be indexed (write A[N], #pragma simfoundry size A=N, or --size A=N), got *A (f.c:1)
int f(int (*A)[4], int n) { return A[n][1]; }

// error: a called ... in the file, or be one of abs, ...cos, ...memcmp, ...sin, ... a call of g (f.c:5)
int g(int);
int f(int n)
{
  return n +
    g(n);
}

// error: a structure with pointers must not be used as bytes (write the members), got struct s (f.c:5)
#include <string.h>
struct s { int a, *p; };
int f(int n)
{
  struct s v, w;
  return memcmp(&v, &w, 4);
}

// error: a structure must hold numbers to be an argument (write what it points to as an argument), got a pointer in it (A) (f.c:2)
struct s { int *p; int i; };
int f(struct s A[3]) { return A[0].i; }
