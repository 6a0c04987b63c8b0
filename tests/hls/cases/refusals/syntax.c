// Other languages and syntax errors, each with its line.

// error: a program must be C: ..., got ap_int of C++ ...:1)
#include <ap_int.h>
int f(int n) { return n; }

// error: a program must be C: ..., got hls::stream of C++ ...:2)

void f(hls::stream<int> &s) { s.write(1); }

// error: a program must be C: ..., got a template of C++ ...:3)
// class A {

template <typename T> T f(T n) { return n; }

// error: a program must be C: ..., got a class of C++ ...:1)
class A { int x; };
int f(int n) { return n; }

// error: a program must be C11, got a syntax error: expected ')' before ';' token ...:3)
#define A(x) ((x) +
int f(int n)
{ return A(n) 1;
}

// error: a program must be C11, got a syntax error: expected ',' or ';' before 'return' ...:4)
int f(int n)
{
int x = n
return x;
}

// error: a program must be C11, got a syntax error: expected declaration or statement ...:6)
int f(int n)
{
if (n) {
n++;
return n;
}

// error: a program must be C11, got a syntax error: missing terminating " character ...:3)
int f(int n)
{
char s[] = "abc;
return n;
}

// error: a program must be C11, got a syntax error: unknown type name 'foo_t' ...:3)
int f(int n)
{
foo_t x = n;
return x;
}

// error: a program must be C11, got a syntax error: ...(g.h:2)
# 1 "g.h"
int g(int n)
{ return n + ;
}
# 2 "f.c"
int f(int n) { return n; }

// error: ...got unterminated #if (f.c:2)
int f(int n)
#if 1
{ return n; }
