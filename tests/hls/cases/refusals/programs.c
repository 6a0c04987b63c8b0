// Programs that the front end refuses.

// error: names must be of ASCII letters, digits and _, got fé (f.c:1)
int fé(int n) { return n; }

// error: a program must be C11, got a syntax error: ... (f.c:1)
int f(int n) { return n + ; }

// error: top must be a function of the file (there: g), got 'f' (f.c)
int g(void) { return 1; }

// error: #include must be one of <...>, or ..., got "windows.h" (f.c:1)
#include <windows.h>
int f(void) { return 1; }

// error: #include must be one of <...(f.c:1)
#include "/etc/hostname"
int f(void) { return 1; }

// error: a pointer argument must have a size to be indexed (write A[N], #pragma simfoundry size A=N, or --size A=N), got *A (f.c:3)
int f(int A[])
{
A[2] = 1;
 return 0;
}

// error: a pointer argument must have a size to be indexed (write A[N], #pragma simfoundry size A=N, or --size A=N), got *A (f.c:3)
int f(int *A)
{
A[1] = 2;
 return 0;
}

// error: a pointer argument must have a size to be indexed (write A[N], #pragma simfoundry size A=N, or --size A=N), got *A (f.c:3)
int f(int n, int A[n])
{
A[n] = 1;
 return 0;
}

// error: a size must be of an argument (there: A), got 'B' (f.c)
#pragma simfoundry size B=2
int f(int *A) { return A[1]; }

// error: a size must be NAME=N with a positive number N, got 'simfoundry size A=0' (f.c:1)
#pragma simfoundry size A=0
int f(int *A) { return A[1]; }

// error: a function must have fixed parameters, got ... (f.c:1)
int f(int n, ...) { return 1; }

// error: f must end by returning a value, got no final return (f.c:1)
int f(int n) { n = 1; }

// error: an argument must be a number or an array (write the members as arguments), got struct (unnamed) s (f.c:1)
int f(struct { int x; } s)
{

 return 0;
}

// error: a structure must hold numbers to be an argument (write what it points to as an argument), got a pointer in it (s) (f.c:1)
int f(struct { int x; float *y; } s[4])
{

 return 0;
}

// error: a pointer argument must have a size to be indexed (write A[N], #pragma simfoundry size A=N, or --size A=N), got *A (f.c:3)
int f(int (*A)[4])
{
A[1][0] = 1;
 return 0;
}

// error: an argument must be a number or an array, got int32_t * * A (f.c:1)
int f(int **A)
{

 return 0;
}

// error: an array argument must be an array of numbers (write A[N][M]), got an array of int32_t * (f.c:1)
int f(int *A[3])
{

 return 0;
}

// error: the top function must return a number or nothing (write the result to an array argument), got struct s (f.c:1)
struct s { int x; }; struct s f(void) { struct s a = {1}; return a; }

// error: a size must be a multiple of 4 bytes, got 3 (f.c:4)
#include <string.h>
int f(int n, int A[8])
{
memset(A, 0, 3);
 return 0;
}

// error: a function must call itself only as its last step...(f.c:1)
int g(int x) { return 1 + g(x - 1); }
int f(int n, int A[8])
{
n = g(n);
 return 0;
}

// error: g must have 1 arguments, got 2 (f.c:4)
int g(int x) { return x; }
int f(int n, int A[8])
{
n = g(n, n);
 return 0;
}

// error: a called function must be defined in the file, or ..., got a call of g...(f.c:4)
int g(int x);
int f(int n, int A[8])
{
n = g(n);
 return 0;
}

// error: an array must have at most 16777216 elements, got 33554432 (f.c:1)
int T[1 << 25];
int f(int n, int A[8])
{
n = T[n];
 return 0;
}
