// Statements that the front end refuses, with what to write in their place.
int f(int n, int A[8])
{
BODY
 return 0;
}

// error: a type must be an integer of 8 to 64 bits, float, double, an enum, or a structure or array of them, got 'long double' (f.c:3)
long double x;

// error: a pointer must point to an object before it is used, got g (f.c:3)
int (*g)(int); n = g(1);

// error: a pointer must point to an object before it is used, got p (f.c:3)
int *p[3]; n = *p[1];

// error: a called function must be defined ... one of abs, ..., got a call of g (f.c:3)
g(n);

// error: a called function must be defined in the file, got dynamic allocation (write an array of constant size) (f.c:3)
int *p = realloc(A, 4);

// error: allocated memory must have a constant size (write an array of constant size), got malloc of another size (f.c:3)
int *p = malloc(n);

// error: memory that a loop allocates must have one pointer outside the loop (copy the numbers), got p and q (f.c:3)
int *p, *q; for (int i = 0; i < n; i++) { p = malloc(4); if (i == 0) q = p; }

// error: a function must call itself only as its last step (write a loop and an array as its stack), got recursion in f (f calls f) (f.c:3)
n = f(n, A);

// error: goto must go forward, to a label of its own block or of one around it (write a loop), got goto x (f.c:3)
x: n++; goto x;

// error: break must stand in a loop, got one outside (f.c:3)
break;

// error: a name must be declared, got 'm' (f.c:3)
n = m;

// error: an index of A must be 0 to 7, got 8 (f.c:3)
A[8] = 1;

// error: only an array or a pointer can be indexed, got another value (f.c:3)
A[0][1] = 1;

// error: an expression must be a number, got a pointer (f.c:3)
n = A;

// error: a divisor must not be zero, got 0 (f.c:3)
n = n / 0;

// error: % must have integer operands, got double (f.c:3)
n = 1.5 % 2;

// error: a constant must be an integer of at most 64 bits, a float, a double or a character, got 99999999999999999999 (f.c:3)
n = 99999999999999999999;

// error: a constant must be an integer of at most 64 bits, a float, a double or a character, got 1.5L (f.c:3)
n = 1.5L;

// error: an array size must be a positive constant (write #define N 64 and float a[N]), got an expression (f.c:3)
int B[n];

// error: an array must have 1 to 5 dimensions, got 6 (f.c:3)
int B[2][2][2][2][2][2];

// error: a pointer must point to an object before it is used, got p (f.c:3)
int *p; p[0] = 1;

// error: a pointer to a single object must not be moved (write an array of known size, float a[N]), got pointer arithmetic (f.c:3)
int x; int *p = &x; p++; *p = 1;

// error: a pointer must point to an object before it is used, got a null pointer in *p (f.c:3)
int *p = 0; *p = 1;

// error: a structure with pointers must not be used as bytes (write the members), got struct (unnamed) (f.c:3)
struct { int a, *b; } s; char *p = (char *)&s; n = p[1];

// error: an expression must be a number, got a pointer (f.c:3)
int g = f;

// error: a case must be an integer constant, got an expression (f.c:3)
switch (n) { case A[0]: n = 1; }

// error: a statement of a switch must follow a case, got one before the first (f.c:3)
switch (n) { n = 2; case 1: n = 1; }

// error: a case must stand directly in the block of its switch, got one inside another statement (f.c:3)
switch (n) { case 1: { case 2: n = 1; } }

// error: a switch must be on an integer, got double (f.c:3)
switch (1.5) { case 1: n = 1; }

// error: continue must stand in a loop, got one outside (f.c:3)
continue;

// error: an initialiser must fit int32_t[2], got more values (f.c:3)
int x[2] = {1, 2, 3};

// error: a designator must name a part of struct (unnamed), got another (f.c:3)
struct { int a; } s = {.b = 1};

// error: a member must be one of a, got 'b' (f.c:3)
struct { int a; } s; s.b = 1;

// error: a structure must be defined, got struct t (f.c:3)
struct t s;

// error: an enumeration must be defined, got enum t (f.c:3)
enum t s;

// error: only a structure has members, got a number or a pointer (f.c:3)
n.x = 1;

// error: only an array or a pointer can be indexed, got another value (f.c:3)
n = *A[1];

// error: a name must be declared once in a scope, got 'x' (f.c:3)
int x; int x;

// error: sizeof must be of a complete type, got void (f.c:3)
n = sizeof(void);

// error: a variable must have a type, got void x (f.c:3)
void x;

// error: an index must be an integer, got another value (f.c:3)
n = A[1.5];

// error: ~ must have an integer operand, got double (f.c:3)
n = ~1.5;

// error: a called function must be defined in the file, got inline assembly (write C) (f.c:3)
__asm__("nop");

// error: a program must be C11, got inline assembly (write C) (f.c:3)
__asm__("" : "=r"(n));

// error: a ... must be ... (f.c:3)
__int128 x;

// error: an extern name must be defined in the file, got 'q' (f.c:3)
extern int q; n = q;

// error: a loop label must be unique, got 'x' (f.c:3)
x: for (;;) break; { x: for (;;) break; }

// error: an expression must nest at most 200 deep (write several statements), got more (f.c:3)
n = n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n+n;
