// Small local arrays are kept in registers.
// draws: 4
int f(int n, int A[8]) { BODY }

// case: constant indices become variables
// run: registers 4
// expect: arrays =
// expect: selections = 0
int T[4]; T[0] = n; T[3] = T[0] * 2; if (n > 3) T[3] += 1; return T[3];

// case: an index that varies leaves a memory
// run: registers 4
// expect: changed = False
int T[4]; T[0] = n; T[n & 3] = 4; return T[3];

// case: an array above the threshold stays a memory
// run: registers 3
// expect: changed = False
int T[4]; T[0] = n; return T[0];

// case: initial values are assigned first
// data: n = 0 1 2 3
// run: partition T complete all 0 ; registers
// expect: arrays =
int T[4] = {5, 6, 7, 8}; T[2] = 9; return T[n & 3];

// case: rejects a marked array that is too large
// run: mark T ; registers
// error: T has 2000 elements; at most 1024 are kept in registers
int T[2000]; T[n & 7] = 4; return T[3];

// case: a marked array is selected from
// draws: 8
// run: partition T complete all 0 ; registers 0
// expect: arrays =
int T[3][5]; for (int i = 0; i < 3; i++) for (int j = 0; j < 5; j++) T[i][j] = A[i] + j;
int s = 0; int i = 0; while (i < 15 && T[i / 5][i % 5] != n) i++;
if (n > 0) T[n & 1][(n >> 1) & 3] = 7; return i + T[2][n & 3] * 3 + T[1][T[0][0] & 3];
