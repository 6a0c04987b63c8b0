// Attributes and pragmas that change the layout of types.
// runs: 8

// case: after the body
// rules: layouts-1
struct s { char a; int b; short c; } __attribute__((packed));
int f(int n) { struct s t = {1, n, 3}; return sizeof t + __builtin_offsetof(struct s, c) + t.b; }

// case: after the keyword
// rules: layouts-1
struct __attribute__((packed)) s { char a; long b; };
typedef struct s s_t; int f(int n) { s_t t[3]; t[n & 1].b = n; return sizeof t + (int)t[n & 1].b; }

// case: typedef
// rules: layouts-1
#define PACK(x) x __attribute__((__packed__))
typedef PACK(struct { char a; int b; }) s_t;
int f(int n) { return sizeof(s_t) * n; }

// case: of a name
// rules:
typedef struct { char a; int b; } s_t __attribute__((packed)); int f(int n) { return sizeof(s_t) * n; }

// case: member
// rules: layouts-1
struct s { char a; int b __attribute__((packed)); int c; }; int f(int n) { return n +
__builtin_offsetof(struct s, b); }

// case: arguments
// rules: layouts-1
struct __attribute__((packed)) s { char a; int b; short c[3]; double d; };
int f(struct s *p, const struct s q[3], int n) { p->b += q[n & 1].b + n; p->c[1] = q[2].c[0];
p->d = q[0].d + 1; return p->a; }

// case: bytes
// rules: layouts-1
#include <string.h>
#pragma pack(push, 1)
struct head { unsigned char kind; unsigned length;
unsigned short sum; };
#pragma pack(pop)
struct other { char a; int b; };
unsigned f(unsigned char B[32], int n) { struct head h; memcpy(&h, B + (n & 3), sizeof h); h.sum += h.length;
const struct head *p = (const struct head *)(B + 3); memcpy(B + 16, &h, sizeof h);
return p->length + h.kind + sizeof(struct other); }

// case: union
// rules: layouts-1
union u { struct __attribute__((packed)) { char a; int b; short c; } s; unsigned char b[7]; };
int f(int n) { union u v; for (int i = 0; i < 7; i++) v.b[i] = n * (i + 3); v.s.b += n;
return v.s.b + v.b[6] + sizeof v + v.s.c; }

// case: aligned
// rules: constants-1 layouts-1
struct s { char a; __attribute__((aligned(8))) char b; short c; } __attribute__((aligned(32)));
typedef int wide __attribute__((aligned(16))); struct t { char a; wide b; _Alignas(8) char c; };
int f(struct s *p, int n) { p->b = n; return sizeof(struct s) * 3 + sizeof(struct t) + _Alignof(wide) +
__builtin_offsetof(struct t, c) + _Alignof(struct s); }

// case: one type with gaps
// rules: layouts-1
struct s { int a; _Alignas(16) int b; }; int f(struct s *p, int n) { p[0].b += n;
return p->a; }

// case: mode
// rules: layouts-1
typedef int wide __attribute__((mode(DI))); typedef unsigned half __attribute__((__mode__(__HI__)));
long f(int n) { wide a = n; half b = n * 7; a = a << 35 | b; return a; }

// case: small enumeration
// rules: layouts-1
enum __attribute__((packed)) e { A = 1, B = 200 }; enum g { C = -1, D = 300 } __attribute__((packed));
struct s { enum e e; enum g g; }; int f(int n) { struct s t = {n & 1 ? A : B, C};
return t.e + t.g + sizeof t; }

// case: pragma operator
// rules: layouts-1
int g(int n); _Pragma("pack(2)")
struct s { char a; int b; long c; };
_Pragma("pack()")
struct t { char a; int b; }; int f(int n) { return n + sizeof(struct s) +
1000 * sizeof(struct t); }

// case: static
// rules: static-objects-1 layouts-1
static struct __attribute__((packed)) { char a; int b; } kept = {3, 0x12345678};
int f(int n) { kept.b += n; return ((unsigned char *)&kept)[n & 3]; }

// case: bits
// rules: forms-1 layouts-1
struct __attribute__((packed)) s { unsigned a : 4, b : 4; unsigned short c : 7; }; struct t { struct s s; char d; };
int f(int n) { struct s v = {n, n >> 3, n * 5}; return v.a + v.b * 3 + v.c + 100 * sizeof(struct t); }
