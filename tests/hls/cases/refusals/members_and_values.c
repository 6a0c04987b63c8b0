// Members of structures and values that C does not have.

// error: a bit-field must be an integer, got float (f.c:1)
struct s { float a : 3; }; int f(int n) { struct s t; t.a = n; return t.a; }

// error: a bit-field must have 1 to 8 bits, got 9 (f.c:1)
struct s { char a : 9; }; int f(int n) { struct s t; t.a = n; return t.a; }

// error: a bit-field must have 1 to 32 bits, got 0 (f.c:1)
struct s { int a : 0; }; int f(int n) { struct s t; t.a = n; return t.a; }

// error: a bit-field must have at most 32 bits, or 64 (write two), got a of 40 (f.c:1)
struct s { long a : 40; }; int f(int n) { struct s t; t.a = n; return t.a; }

// error: an expression must have a value, got a void expression (f.c:2)
#include <stdio.h>
int f(int n) { return printf("%d", n); }

// error: a member must have a complete type, got struct s (f.c:1)
struct s { struct s x; };
int f(void) { struct s v; return 1; }

// error: a member must have a complete type, got struct other (f.c:1)
struct s { struct other x; };
int f(void) { struct s v; return 1; }

// error: a member must have a complete type, got struct s[2] (f.c:1)
struct s { struct s x[2]; };
int f(void) { struct s v; return 1; }

// error: a member must have a complete type, got void (f.c:1)
struct s { void x; };
int f(void) { struct s v; return 1; }
