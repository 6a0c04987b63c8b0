// Loops as the front end reads them: trips (? = not constant), names, directives.
// run: read
int f(int n, int A[8])
{
BODY
 return 0;
}

// case: for (int i = 0; i < 8; i++)
// expect: trips = L0 8
for (int i = 0; i < 8; i++) A[0] = 1;

// case: for (int i = 0; i <= 8; i += 2)
// expect: trips = L0 5
for (int i = 0; i <= 8; i += 2) A[0] = 1;

// case: for (int i = 7; i >= 0; i--)
// expect: trips = L0 8
for (int i = 7; i >= 0; i--) A[0] = 1;

// case: for (int i = 7; 0 < i; --i)
// expect: trips = L0 7
for (int i = 7; 0 < i; --i) A[0] = 1;

// case: for (int i = 0; i != 9; i += 3)
// expect: trips = L0 3
for (int i = 0; i != 9; i += 3) A[0] = 1;

// case: for (int i = 5; i < 5; i++)
// expect: trips = L0 0
for (int i = 5; i < 5; i++) A[0] = 1;

// case: for (int i = 0; i < n; i++)
// expect: trips = L0 ?
for (int i = 0; i < n; i++) A[0] = 1;

// case: for (int i = 0; i < 8; i++) i = i + 1;
// expect: trips has while
for (int i = 0; i < 8; i++) i = i + 1;

// case: for (int i = 0; i < n; i++) n = n - 1;
// expect: trips has while
for (int i = 0; i < n; i++) n = n - 1;

// case: for (int i = 0; i < A[0]; i++) A[0] = 3;
// expect: trips has while
for (int i = 0; i < A[0]; i++) A[0] = 3;

// case: for (int i = 0; i > -5; i++) A[0] = 3;
// expect: trips has while
for (int i = 0; i > -5; i++) A[0] = 3;

// case: loops are named by label or position
// expect: loops = outer L1
outer: for (int i = 0; i < 8; i++) { for (int j = 0; j < 8; j++) A[j] = i; }

// case: shadowed variables stay apart
// expect: assigned = x x_1
int x = 1; { int x = 2; A[0] = x; } A[1] = x;

// case: #pragma HLS pipeline
// expect: directives_of L0 = pipeline
#pragma HLS pipeline
for (int i = 0; i < 8; i++) A[i] = i;

// case: #pragma HLS PIPELINE II=3
// expect: directives_of L0 = pipeline 3
#pragma HLS PIPELINE II=3
for (int i = 0; i < 8; i++) A[i] = i;

// case: #pragma ACCEL pipeline
// expect: directives_of L0 = pipeline
#pragma ACCEL pipeline
for (int i = 0; i < 8; i++) A[i] = i;

// case: #pragma HLS unroll factor=4
// expect: directives_of L0 = unroll 4
#pragma HLS unroll factor=4
for (int i = 0; i < 8; i++) A[i] = i;

// case: #pragma clang loop unroll(full)
// expect: directives_of L0 = unroll
#pragma clang loop unroll(full)
for (int i = 0; i < 8; i++) A[i] = i;

// case: a pragma inside a loop belongs to that loop
// expect: directives_of L0 = pipeline 2
for (int i = 0; i < 8; i++) {
#pragma HLS pipeline II=2
 A[i] = i; }
