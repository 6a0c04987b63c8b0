// A loop over tiles around a loop over one tile.
// data: n = 0 9 30
int f(int A[32], int n) {
    int s = 0, i = 5;
    for (BODY) {
        if (A[i] == 3) continue;
        if (A[i] == 5) break;
        s = s * 5 + A[i] + i;
    }
    return s * 100 + i;
}

// case: i = 0; i < 32; i += 1
// run: tile L0 4 ; simplify
// run: tile L0 7 ; simplify
// run: tile L0 8
// expect: trips = L0_tile 4 L0 8
// run: tile L0 1
// error: ...at least 2 and less than the trip count of loop L0, 32, got 1...
// run: tile L0 32
// error: ...at least 2 and less than the trip count of loop L0, 32, got 32...
i = 0; i < 32; i += 1

// case: i = 0; i < 30; i += 1
// run: tile L0 4 ; simplify
// run: tile L0 7 ; simplify
// run: tile L0 8
// expect: trips = L0_tile 4 L0 ?
// expect: upper L0 = Select
i = 0; i < 30; i += 1

// case: i = 1; i <= 31; i += 2
// run: tile L0 4 ; simplify
// run: tile L0 7 ; simplify
// run: tile L0 4
// expect: trips = L0_tile 4 L0 4
i = 1; i <= 31; i += 2

// case: i = 31; i >= 0; i += -1
// run: tile L0 4 ; simplify
// run: tile L0 7 ; simplify
i = 31; i >= 0; i += -1

// case: i = 30; i > 1; i += -3
// run: tile L0 4 ; simplify
// run: tile L0 7 ; simplify
i = 30; i > 1; i += -3

// case: i = 0; i != 30; i += 2
// run: tile L0 4 ; simplify
// run: tile L0 7 ; simplify
i = 0; i != 30; i += 2

// case: i = 0; i < n; i += 1
// run: tile L0 4 ; simplify
// run: tile L0 7 ; simplify
// run: tile L0 8
// expect: trips = L0_tile ? L0 8 L0_epilogue ?
i = 0; i < n; i += 1

// case: i = n - 1; i >= 0; i += -2
// run: tile L0 4 ; simplify
// run: tile L0 7 ; simplify
i = n - 1; i >= 0; i += -2

// case: rejects a bound that is not constant after !=
// run: tile L0 4
// error: ...ends on != at a bound that is not constant...
i = 2; i != n; i += 1
