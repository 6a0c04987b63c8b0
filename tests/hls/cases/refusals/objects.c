// Objects that are volatile, or that a macro declares.

// error: an object must not be volatile, for accesses are merged and reordered (remove volatile), got volatile (f.c:1)
void f(volatile int *to, volatile int *from) { *to = *from + *from; }

// error: an object must not be volatile, for accesses are merged and reordered (remove volatile), got volatile (f.c:1)
volatile int r; void f(int k) { r = k; }

// error: an object must not be volatile, for accesses are merged and reordered (remove volatile), got volatile (f.c:1)
void f(int *p) { *(volatile int *)p = 1; }

// error: an object must not be volatile, for accesses are merged and reordered (remove volatile), got volatile (f.c:1)
typedef volatile int reg; void f(reg *p) { *p = 1; }

// error: an object must not be volatile, for accesses are merged and reordered (remove volatile), got volatile (f.c:1)
void f(int *p) { int volatile i; for (i = 0; i < 9; i++); *p = 1; }

// error: an object must not be volatile, for accesses are merged and reordered (remove volatile), got volatile (f.c:1)
struct s { volatile int a; }; void f(struct s *p) { p->a = 1; }

// error: a static variable that a function changes must be declared outside macros, got 'c' (f.c:2)
#define VAR static int c
int f(int k) { VAR; return c += k; }
