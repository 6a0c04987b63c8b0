// Layouts of types that are not followed.

// error: a mode must be one of QI, HI, SI, DI, byte, word, pointer, SF, DF, got vector_size(16) (f.c:1)
typedef int v __attribute__((vector_size(16)));
int f(int n) { v a; return n; }

// error: a mode must be one of QI, HI, SI, DI, byte, word, pointer, SF, DF, got TI (f.c:2)
typedef int big
__attribute__((mode(TI)));
int f(int n) { big a = n; return a; }

// error: a layout must be natural, packed, or aligned to a number (write the members one after another), got aligned(sizeof(long)) (f.c:2)
struct s { char a; int b
__attribute__((aligned(sizeof(long)))); };
int f(int n) { return sizeof(struct s); }

// error: a bit-field of a packed structure must lie inside one number (write shifts and masks), got b (f.c:1)
struct __attribute__((packed)) s { unsigned a : 6; unsigned b : 30; };
int f(int n) { struct s t = {n}; return t.a; }

// error: a packed structure must lie in memory of at most 16 bits per element, got struct s in elements of 32 (f.c:2)
struct __attribute__((packed)) s { short a; int b; };
int f(int A[4], int n) { struct s *p = (struct s *)A; return p[n & 1].b; }
