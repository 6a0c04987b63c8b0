// Folding and removal.
// run: simplify

// case: constants and copies pass through assignments
// expect: kinds = Return
// expect: text has 70
int f(int x) { int a = 3, b = a + 4, c = x, d = c; return b * 10 + (d - c) + d; }

// case: a copy ends when its source changes
// expect: plain_text has a *
int f(int x, int y) { int a = x; if (y > 0) x = a + 1; return a * 100 + x; }

// case: both branches set the same value
// expect: plain_text has * 4
int f(int x, int y) { int a = 1, b; if (x > y) { a = 4; b = y; } else { a = 4; b = y; } return a * b; }

// case: a constant condition leaves one branch
// expect: kinds = Assign Return
int f(int x) { int k = 2; if (k * 2 == 4) x += k; else x = 0; return x; }

// case: what a loop changes is not known in it
// expect: plain_text has a +
// expect: assigned lacks b
int f(int n) { int a = 1, b = 2; for (int i = 0; i < 4; i++) { a += b; } return a * b; }

// case: a bound is not replaced by a variable that the loop changes
int f(int n) { int m = n & 7, k = m, s = 0; for (int i = 0; i < k; i++) { m = s; s += i; } return s + m; }

// case: loops of one and of no iteration are gone
// expect: loops =
int f(int x) {
    int s = x, i, j;
    for (i = 3; i < 4; i++) s += i;
    for (j = 5; j < 5; j++) s *= 2;
    do { s += 1; } while (0);
    while (x != x) s = 0;
    return s * 100 + i * 10 + j;
}

// case: comparisons of loop variables are decided by their range
// expect: conditions = 0
// expect: selections = 0
int f(int A[16], int n) {
    int s = 0;
    for (int i = 0; i < 8; i++)
        for (int j = i; j < 10; j++) {
            if (i + 7 < j * 2 + 100) s += A[j];
            if (i * 2 >= 16) s = -1;
            s += j < 12 ? A[i] : n;
        }
    return s;
}

// case: indices of unrolled copies are sums in one order
// run: unroll L0 4 ; simplify
// expect: indices B = 3*i+1 3*i+10 3*i+4 3*i+7
void f(int A[32], int B[64]) { for (int i = 0; i < 16; i++) A[i] = B[2 * (i + 1) - 1 + i]; }

// case: an element that is certainly there is fetched without a condition
// expect: guarded = A A if B if
int f(int A[16], int B[16], int x) {
    int s = 0;
    for (int i = 0; i < 15; i++)
        s += (x > i && A[i + 1] > 3) + (x > i && B[i + 2] > 3) + (i > 0 && A[i - 1] < x);
    return s;
}

// case: ranges of a flattened nest hold until its variables step
// run: flatten L1 ; convert L1 ; simplify
// expect: guarded = A
int f(int A[4][6], int x) {
    int s = 0;
    for (int i = 0; i < 4; i++) {
        if (x & 1) s += A[i][0];
        for (int j = 0; j < 6; j++)
            s = s * 3 + (x > j && A[i][j] > 2);
    }
    return s;
}

// case: a minimum within reach is decided
// expect: selections = 1
int f(int A[32]) {
    int s = 0;
    for (int t = 0; t < 32; t += 8)
        for (int i = t; i < (t + 8 < 32 ? t + 8 : 32); i++) s += A[i] * i;
    for (int t = 0; t < 24; t += 8)
        for (int i = t; i < (t + 8 < 32 ? t + 8 : 32); i++) s += A[i] * i;
    return s;
}

// case: dead variables go even when they feed themselves
// expect: loads = 0
int f(int A[8]) { int dead = 0, s = 0; for (int i = 0; i < 8; i++) { dead += A[i] * dead; s += i; } return s; }

// case: a local array that nothing loads is gone
// expect: arrays =
// expect: kinds = Return
int f(int x) { int T[4]; for (int i = 0; i < 4; i++) T[i] = x; return x; }

// case: a table at a constant index is a constant
// expect: arrays =
// expect: text has 4
int f(int x) { const int T[4] = {3, 1, 4, 1}; int s = x; s += T[2]; return s; }

// case: blocks that nobody leaves are gone
// expect: kinds lacks Block
// expect: kinds lacks Leave
int f(int x) { switch (x & 1) { case 0: x += 3; break; default: x -= 3; break; } return x; }

// case: code after a sure exit is gone
// draws: 4
// expect: text lacks 100
int f(int x) { while (1) { x -= 3; if (x < 4) break; continue; x = 100; } return x; }

// case: floating arithmetic stays as written
// expect: binaries >= 5
float f(float x) { float y = x * 1.0f + 0.0f; float z = x - x; return y + z + 0.1f * 3.0f; }

// case: an operand that takes the place of an operator is not taken for it
// expect: text has y > y
int f(int x, float y) { int zero = 0; return (zero | (y > y)) + (zero ^ (x - x)); }

// case: a second time changes nothing in a loop that is left
// run: simplify
// equals: simplify ; simplify
int f(int A[8]) { int s = 0; for (int i = 0; i < 8; i++) { if (A[i]) break; s += i; } return s; }

// case: a second time changes nothing in a nest
// run: simplify
// equals: simplify ; simplify
void f(int A[8][8]) { for (int i = 0; i < 8; i++) for (int j = 0; j < i; j++) A[j][i] = A[i][j]; }
