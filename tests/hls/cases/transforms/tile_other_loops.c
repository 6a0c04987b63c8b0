// Tiles of loops that are not left early, of unsigned loops, and of loops with directives.

// case: a bound relative to the start
// data: n = 0 9 28
// run: tile L0 4 ; simplify
// run: tile L0 7 ; simplify
int f(int A[32], int n) {
    int s = 0, i = 5;
    for (i = 2; i != n + 2; i += 1) {
        if (A[i] == 3) continue;
        s = s * 5 + A[i] + i;
    }
    return s * 100 + i;
}

// case: unsigned loops that count down
// draws: 4
// run: tile L0 4 ; tile L1 3
int f(int A[32], unsigned n) {
    int s = 0;
    for (unsigned i = n & 31; i > 0; i--) s = s * 3 + A[i];
    for (unsigned j = 31; j > 1; j -= 2) s = s * 5 + A[j];
    return s;
}

// case: directives stay with the loop over one tile
// run: tile L0 4
// expect: directives = L0 pipeline
void f(int A[32]) {
    for (int i = 0; i < 32; i++) {
#pragma HLS pipeline
        A[i] += 1;
    }
}

// case: rejects a conditional loop
// run: tile L0 2
// error: ...only counted loops are tiled...
int f(int x) { while (x > 3) x = x / 2; return x; }
