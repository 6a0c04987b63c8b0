// Several iterations in one.
// data: n = 0 1 7 32
int f(int A[32], int n) {
    int s = 0, i;
    for (BODY) {
        int t = A[i] * 3;
        s = s * 5 + t;
    }
    return s * 100 + i;
}

// case: i = 0; i < 32; i += 1
// run: unroll L0 2 ; simplify
// run: unroll L0 5 ; simplify
// run: unroll L0 4
// expect: trips = L0 8
// expect: loop_step L0 = 4
// run: unroll L0 5
// expect: loops = L0 L0_epilogue
// run: unroll L0 32
// expect: loops =
// run: unroll L0 3
// expect: assigned L0 = t s t_u1 s t_u2 s
i = 0; i < 32; i += 1

// case: i = 1; i <= 30; i += 1
// run: unroll L0 2 ; simplify
// run: unroll L0 5 ; simplify
i = 1; i <= 30; i += 1

// case: i = 0; i < 31; i += 3
// run: unroll L0 2 ; simplify
// run: unroll L0 5 ; simplify
i = 0; i < 31; i += 3

// case: i = 31; i >= 0; i += -1
// run: unroll L0 2 ; simplify
// run: unroll L0 5 ; simplify
i = 31; i >= 0; i += -1

// case: i = 30; i > 2; i += -4
// run: unroll L0 2 ; simplify
// run: unroll L0 5 ; simplify
i = 30; i > 2; i += -4

// case: i = 0; i != 30; i += 2
// run: unroll L0 2 ; simplify
// run: unroll L0 5 ; simplify
i = 0; i != 30; i += 2

// case: i = 0; i < n; i += 1
// run: unroll L0 2 ; simplify
// run: unroll L0 5 ; simplify
// run: unroll L0 all
// error: ...trip count of loop L0 is not constant...
// run: unroll L9 2
// error: no loop is named L9; there are L0...
// run: unroll L0 0
// error: ...factor must be at least 1, got 0...
// run: unroll L0 1
// expect: changed = False
i = 0; i < n; i += 1

// case: i = 0; i < n; i += 3
// run: unroll L0 2 ; simplify
// run: unroll L0 5 ; simplify
i = 0; i < n; i += 3

// case: i = n - 1; i >= 0; i += -1
// run: unroll L0 2 ; simplify
// run: unroll L0 5 ; simplify
i = n - 1; i >= 0; i += -1

// case: i = 31; i > 31 - n; i += -1
// run: unroll L0 2 ; simplify
// run: unroll L0 5 ; simplify
i = 31; i > 31 - n; i += -1

// case: i = 0; i != n; i += 1
// run: unroll L0 2 ; simplify
// run: unroll L0 5 ; simplify
i = 0; i != n; i += 1

// case: i = n / 2; i < n; i += 1
// run: unroll L0 2 ; simplify
// run: unroll L0 5 ; simplify
i = n / 2; i < n; i += 1
