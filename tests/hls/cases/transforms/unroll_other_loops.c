// Conditional loops, loops inside, and bounds at the ends of a type.

// case: conditional loops test before each copy
// draws: 4
// run: unroll L0 3 ; simplify
// run: unroll L0 all
// error: ...runs while a condition holds; a full unroll needs a number...
int f(int x, int A[16]) {
    int i = 0, s = x;
    while (i < 16 && A[i] < 9) { int d = A[i] - i; s += d * i; i++; }
    return s * 17 + i;
}

// case: bounds at the ends of their type start no group too many
// data: lo = -2147483648 2147483628 -2147483648 -3
// data: hi = -2147483643 2147483647 -2147483648 17
// run: unroll L0 8
int f(int lo, int hi) {
    int s = 0;
    if (hi - lo < 100)
        for (int i = lo; i < hi; i++) s = s * 3 + i;
    return s;
}

// case: copies of inner loops have names and directives
// run: unroll L0 3
// expect: loops = L0 L1 L1_u1 L1_u2 L0_epilogue L1_e
// expect: directives = ...L1 pipeline L1_u1 pipeline L1_u2 pipeline...
// expect: directive_loops = L0 L1
void f(int A[8][8]) {
    for (int i = 0; i < 8; i++) {
#pragma HLS unroll factor=2
        for (int j = 0; j < 8; j++) {
#pragma HLS pipeline
            A[i][j] += j;
        }
    }
}

// case: loops inside a pipelined one are unrolled outer first
// draws: 2
// run: unroll_inner L0
// expect: loops = L0
// expect: stores = 18
void f(int A[6][6], int B[6]) {
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 4; j++)
            for (int k = j; k < 6; k++)
                if (A[i][k] > j) B[k] += A[j][k] * i;
}

// case: rejects an inner loop of unknown count
// run: unroll_inner L0
// error: loop L0 contains loop L1, whose trip count is not constant...
void f(int A[8], int n) { for (int i = 0; i < 8; i++) { for (int j = 0; j < n; j++) A[j] += i; } }

// case: rejects an inner loop with a condition
// run: unroll_inner L0
// error: loop L0 contains loop L1, which runs while a condition holds...
void f(int A[8], int n) { for (int i = 0; i < 8; i++) { while (A[i] > 0) A[i] -= 3; } }

// case: rejects too many statements
// run: unroll L0 all
// error: ...more than 20000 statements...
int f(int A[65536]) { for (int i = 0; i < 65536; i++) A[i] = i; return 0; }
