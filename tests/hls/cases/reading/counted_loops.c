// Which loops are counted, in which type, and directives in the source.
// run: read
int f(int n, unsigned u, int A[64], int B[8])
{
BODY
 return 0;
}

// case: for (unsigned char i = 0; i < 10; i++)
// expect: trips has L0 10
// expect: loop_types L0 = uint8_t
for (unsigned char i = 0; i < 10; i++) A[0] += 1;

// case: for (unsigned i = 2; i <= 10; i += 2)
// expect: trips has L0 5
// expect: loop_types L0 = uint32_t
for (unsigned i = 2; i <= 10; i += 2) A[0] += 1;

// case: for (long i = 10; i > 0; --i)
// expect: trips has L0 10
// expect: loop_types L0 = int64_t
for (long i = 10; i > 0; --i) A[0] += 1;

// case: for (unsigned long i = 0; i < sizeof(int) * 2; i++)
// expect: trips has L0 8
// expect: loop_types L0 = uint64_t
for (unsigned long i = 0; i < sizeof(int) * 2; i++) A[0] += 1;

// case: for (int i = 0; i < sizeof(int); i++)
// expect: trips has L0 4
// expect: loop_types L0 = int32_t
for (int i = 0; i < sizeof(int); i++) A[0] += 1;

// case: for (int i = 0; i < 8u; i = 2 + i)
// expect: trips has L0 4
// expect: loop_types L0 = int32_t
for (int i = 0; i < 8u; i = 2 + i) A[0] += 1;

// case: for (int i = 7; 0 <= i; i -= 1)
// expect: trips has L0 8
// expect: loop_types L0 = int32_t
for (int i = 7; 0 <= i; i -= 1) A[0] += 1;

// case: for (int i = 0; i < u; i++)
// expect: trips has L0 ?
// expect: loop_types L0 = int32_t
for (int i = 0; i < u; i++) A[0] += 1;

// case: for (unsigned i = 0; i < u; i += 4)
// expect: trips has L0 ?
// expect: loop_types L0 = uint32_t
for (unsigned i = 0; i < u; i += 4) A[0] += 1;

// case: for (int i = 0; i < B[2] / 3; i++)
// expect: trips has L0 ?
// expect: loop_types L0 = int32_t
for (int i = 0; i < B[2] / 3; i++) A[0] += 1;

// case: for (unsigned char i = 0; i < (unsigned char)n; i++)
// expect: trips has L0 ?
// expect: loop_types L0 = uint8_t
for (unsigned char i = 0; i < (unsigned char)n; i++) A[0] += 1;

// case: int i, j; for (i = 0, j = 9; i < 5; i++)
// expect: trips has L0 5
// expect: loop_types L0 = int32_t
int i, j; for (i = 0, j = 9; i < 5; i++) A[0] += 1;

// case: int i = 3; n = 4; for (; i < 5; i++)
// expect: trips has L0 2
// expect: loop_types L0 = int32_t
int i = 3; n = 4; for (; i < 5; i++) A[0] += 1;

// case: int i; for (i = 8; i--;)
// expect: trips has L0 8
// expect: loop_types L0 = int32_t
int i; for (i = 8; i--;) A[0] += 1;

// case: unsigned char i = 16; while (i--)
// expect: trips has L0 16
// expect: loop_types L0 = uint8_t
unsigned char i = 16; while (i--) A[0] += 1;

// case: int i = 4; while (i-- > 0)
// expect: trips has L0 4
// expect: loop_types L0 = int32_t
int i = 4; while (i-- > 0) A[0] += 1;

// case: int i = 4; while (--i)
// expect: trips has L0 3
// expect: loop_types L0 = int32_t
int i = 4; while (--i) A[0] += 1;

// case: int i = 1; while (i < 9) { A[1] = i; i += 2; } while (n)
// expect: trips has L0 4
// expect: loop_types L0 = int32_t
int i = 1; while (i < 9) { A[1] = i; i += 2; } while (n) A[0] += 1;

// case: for (unsigned char i = 0; i < 256; i++) A[0]++;
// expect: trips has L0 while
for (unsigned char i = 0; i < 256; i++) A[0]++;

// case: for (unsigned char i = 250; i <= 255; i++) A[0]++;
// expect: trips has L0 while
for (unsigned char i = 250; i <= 255; i++) A[0]++;

// case: for (unsigned i = 5; i != 0; i++) A[0]++;
// expect: trips has L0 while
for (unsigned i = 5; i != 0; i++) A[0]++;

// case: for (int i = 0; i < u; i++) if (A[i & 63]) break;
// expect: trips has L0 while
for (int i = 0; i < u; i++) if (A[i & 63]) break;

// case: for (float x = 0; x < 3; x++) A[0]++;
// expect: trips has L0 while
for (float x = 0; x < 3; x++) A[0]++;

// case: for (int i = 1; i < 64; i *= 2) A[i]++;
// expect: trips has L0 while
for (int i = 1; i < 64; i *= 2) A[i]++;

// case: for (int i = 0; i < n && A[i & 63]; i++) A[0]++;
// expect: trips has L0 while
for (int i = 0; i < n && A[i & 63]; i++) A[0]++;

// case: for (int i = 0; i < n; i += u) A[0]++;
// expect: trips has L0 while
for (int i = 0; i < n; i += u) A[0]++;

// case: while (n--) A[0]++;
// expect: trips has L0 while
while (n--) A[0]++;

// case: int i = 5; while (i--) i -= A[i & 3];
// expect: trips has L0 while
int i = 5; while (i--) i -= A[i & 3];

// case: int *p = A; for (; *p; p++) *p = 1;
// expect: trips has L0 while
int *p = A; for (; *p; p++) *p = 1;

// case: a bound from memory is read once before the loop
// expect: kinds has Assign For
// expect: upper_variable L0 = first
for (int i = A[0]; i < A[1]; i++) n += A[i & 63];

// case: names count loops of the text even those never run
// expect: loops = L1 x L3
if (0) { for (;;) n++; } for (int i = 0; i < 3; i++) { x: while (n) n--; } do n++; while (n < 0);

// case: pragma omp parallel
// expect: directives_of x = parallel 2
{ int C; C = n; A[1] = C; } int C[4]; C[0] = n; A[2] = C[n & 3];#pragma omp parallel for num_threads(2)
x: for (int i = 0; i < 4; i++) A[i] = 0;

// case: pragma ACCEL pipeline flatten
// expect: directives_of x = pipeline flatten
{ int C; C = n; A[1] = C; } int C[4]; C[0] = n; A[2] = C[n & 3];x:
#pragma ACCEL pipeline flatten
for (int i = 0; i < 4; i++) A[i] = 0;

// case: pragma ACCEL cache and tile
// expect: directives_of L0 = cache C_1, tile 4
{ int C; C = n; A[1] = C; } int C[4]; C[0] = n; A[2] = C[n & 3];#pragma ACCEL cache variable=C
#pragma ACCEL tile factor=4
for (int i = 0; i < 4; i++) n++;

// case: pragma ACCEL reduction
// expect: directives_of L0 = reduction n
{ int C; C = n; A[1] = C; } int C[4]; C[0] = n; A[2] = C[n & 3];#pragma ACCEL parallel reduction=n
for (int i = 0; i < 4; i++) n += A[i];

// case: pragma two in a loop
// expect: directives_of L0 = pipeline 3, unroll 2
{ int C; C = n; A[1] = C; } int C[4]; C[0] = n; A[2] = C[n & 3];while (n > 0) {
#pragma HLS unroll factor=2
#pragma HLS PIPELINE II=3
n -= A[0];}

// case: pragma HLS unroll between header and body
// expect: directives_of L0 = unroll
{ int C; C = n; A[1] = C; } int C[4]; C[0] = n; A[2] = C[n & 3];for (int i = 0; i < 4; i++)
#pragma HLS unroll
 A[i] = 0;

// case: unknown pragmas are kept with their lines
// expect: ignored_pragmas = scop 3, HLS pipeline II=x 5, endscop 7
#pragma scop
n = 1;
#pragma HLS pipeline II=x
for (;;) break;
#pragma endscop
