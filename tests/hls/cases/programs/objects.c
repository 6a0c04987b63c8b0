// Pointers of static storage.

// case: pointer that moves
// arguments: k b
int b[4]; int *p = b; void f(int k) { *p++ = k; *p = 5; }

// case: pointer that another function sets
// arguments: k b
int b[4]; int *p = b; void g(int *q) { p = q; } void f(int k) { p[1] = k; }
