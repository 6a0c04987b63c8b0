// Loops that are left early.
// data: n = 0 1 7 32
// run: unroll L0 2 ; simplify
// run: unroll L0 4 ; simplify
int f(int A[16], int n) {
    int i, found = -1, c = 0;
    for (i = 0; i < BODY; i++) {
        if (A[i] == 7) continue;
        if (A[i] > 4) { found = i; break; }
        c += i;
    }
    return found * 1000 + i * 50 + c;
}

// case: 16 iterations
// run: unroll L0 2 ; simplify
// run: unroll L0 4 ; simplify
// run: unroll L0 all ; simplify
16

// case: 15 iterations
15

// case: a count from data
(n & 15)
