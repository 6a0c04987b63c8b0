// A nest becomes one loop over all iterations.
// draws: 4

// case: an imperfect nest
// run: flatten L2 ; exits L2 ; convert L2 ; simplify
// run: flatten L2 ; simplify ; exits L2 ; convert L2 ; simplify
// run: flatten L2
// expect: trips = L2 60
// expect: nest L2 = i 0 1 4, j 0 1 3, k 0 1 5
void f(int A[4][5], int B[5][3], int C[4][3]) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++) {
            int s = C[i][j];
            for (int k = 0; k < 5; k++)
                s += A[i][k] * B[k][j];
            C[i][j] = s;
        }
}

// case: an if-converted body is one block
// run: flatten L2 ; exits L2 ; convert L2 ; simplify
// expect: kinds_set L2 = Assign Store
// expect: stores = 1
// expect: step_operators i j k lacks mul
// expect: step_operators i j k lacks div
// expect: step_operators i j k lacks rem
// expect: step k = Select
// run: flatten L2 outermost=L1
// expect: loops = L0 L2
// run: flatten L2 perfect_only=True
// error: loop L1 has other statements beside loop L2...
void f(int A[4][5], int B[5][3], int C[4][3]) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++) {
            int s = C[i][j];
            for (int k = 0; k < 5; k++)
                s += A[i][k] * B[k][j];
            C[i][j] = s;
        }
}

// case: a perfect nest
// run: flatten L1 perfect_only=True
// expect: nest L1 = i 0 1 4, j 0 1 5
void f(int A[4][5]) { for (int i=0;i<4;i++) for (int j=0;j<5;j++) A[i][j]++; }

// case: every direction and step
// run: flatten L2 ; exits L2 ; convert L2 ; simplify
// run: flatten L2 ; simplify ; exits L2 ; convert L2 ; simplify
// run: flatten L2
// expect: nest L2 = i 15 -4 4, j 1 2 3, k 2 3 4
int f(int A[16][16], int x) {
    int s = x, i, j, k;
    for (i = 15; i >= 3; i -= 4) {
        s = s * 3 + i;
        for (j = 1; j != 7; j += 2)
            for (k = 2; k <= 11; k += 3) {
                A[i][k + j / 2] += s;
                s = s ^ (A[j][k] + i);
            }
        if (s & 1) A[i][j] = k;
    }
    return s * 1000 + i * 100 + j * 10 + k;
}

// case: a nest that is left early
// run: flatten L1 ; exits L1 ; convert L1 ; simplify
// run: flatten L1 ; simplify ; exits L1 ; convert L1 ; simplify
// run: flatten L1
// expect: nest L1 = i 0 1 8, j 0 1 8
int f(int A[8][8], int x) {
    int i, j = 0, c = 0;
    for (i = 0; i < 8; i++)
        for (j = 0; j < 8; j++) {
            if (A[i][j] == x) continue;
            if (A[i][j] > 13) return i * 100 + j;
            c++;
        }
    return c + 10000;
}

// case: rejects a loop that contains one
// run: flatten L0
// error: loop L0 contains a loop; a nest is flattened into its innermost loop...
int f(int A[8][8], int n) { int s = 0, j = 0; for (int i = 0; i < 8; i++) { for (j = 0; j < 4; j++) s += A[i][j]; } return s; }

// case: rejects a count from data
// run: flatten L1
// error: the trip count of loop L1 is not constant...
int f(int A[8][8], int n) { int s = 0, j = 0; for (int i = 0; i < 8; i++) { for (j = 0; j < n & 7; j++) s += A[i][j]; } return s; }

// case: rejects a triangle
// run: flatten L1
// error: the trip count of loop L1 is not constant...
int f(int A[8][8], int n) { int s = 0, j = 0; for (int i = 0; i < 8; i++) { for (j = 0; j < i; j++) s += A[i][j]; } return s; }

// case: rejects an outer count from data
// run: flatten L1
// error: the trip count of loop L0 is not constant...
int f(int A[8][8], int n) { int s = 0, j = 0; for (int i = 0; i < (n & 7); i++) { for (j = 0; j < 4; j++) s += A[i][j]; } return s; }

// case: rejects a loop that never runs
// run: flatten L1
// error: loop L1 never runs...
int f(int A[8][8], int n) { int s = 0, j = 0; for (int i = 0; i < 8; i++) { for (j = 0; j < 0; j++) s += A[i][j]; } return s; }

// case: rejects a variable used beside the loop
// run: flatten L1
// error: j of loop L1 is used beside it, in loop L0...
int f(int A[8][8], int n) { int s = 0, j = 0; for (int i = 0; i < 8; i++) { s += j; for (j = 0; j < 4; j++) s += A[i][j]; } return s; }

// case: rejects a loop beside the loop
// run: flatten L2
// error: loop L0 contains loop L1 beside L2...
int f(int A[8][8], int n) { int s = 0, j = 0; for (int i = 0; i < 8; i++) { while (s > 9) s -= 9; for (j = 0; j < 4; j++) s += A[i][j]; } return s; }

// case: rejects an exit beside the loop
// run: flatten L1
// error: loop L0 is left beside loop L1...
int f(int A[8][8], int n) { int s = 0, j = 0; for (int i = 0; i < 8; i++) { if (s > 50) break; for (j = 0; j < 4; j++) s += A[i][j]; } return s; }

// case: rejects a conditional loop around
// run: flatten L1
// error: the trip count of loop L0 is not constant...
int f(int n) { int s = 0; while (n > 0) { for (int i = 0; i < 3; i++) s += n; n--; } return s; }

// case: rejects a condition around
// run: flatten L1
// error: loop L1 is inside a condition (line 1)...
int f(int n) { for (int i = 0; i < 4; i++) if (n) for (int j = 0; j < 3; j++) n += j; return n; }

// case: rejects no loop around
// run: flatten L0
// error: no loop is around loop L0...
int f(int n) { for (int j = 0; j < 3; j++) n += j; return n; }
