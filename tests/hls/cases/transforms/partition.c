// An access goes to the banks that it may mean.
int f(int n, int A[12], int M[6][10]) { BODY }

// case: a step of the factor
// run: partition A cyclic 4 1
// expect: accesses = A__0 1 A__1 1 A__3 1
for (int i = 0; i < 12; i += 4) { A[i] = i; A[i + 1] = 2; A[i + 3] = 5; } return 0;

// case: a step of three
// run: partition A cyclic 3 1
// expect: accesses = A__1 1 A__2 2
for (int i = 1; i < 10; i += 3) { A[i] = i; A[i + 1] += 2; } return 0;

// case: a multiple
// run: partition A cyclic 2 1
// expect: accesses = A__0 1 A__1 2
for (int i = 0; i < 6; i++) A[2 * i + 1] += A[2 * i]; return 0;

// case: blocks by range
// run: partition A block 2 1
// expect: accesses = A__0 2 A__1 1
for (int i = 0; i < 6; i++) A[i] += A[i + 6]; return 0;

// case: constants
// run: partition A complete all 1
// expect: accesses = A__3 1 A__5 1
A[3] = n; return A[5];

// case: another dimension
// run: partition M cyclic 2 2
// expect: accesses = M__0 1 M__1 1
for (int i = 0; i < 6; i++) for (int j = 0; j < 10; j += 2) M[i][j + 1] = M[i][j]; return 0;

// case: a triangle
// run: partition M cyclic 2 2
// expect: accesses = M__0 2
for (int i = 0; i < 6; i++) for (int j = 2 * i; j < 10; j += 2) M[i][j] += 3; return 0;

// case: some of the banks
// run: partition A cyclic 4 1
// expect: accesses = A__0 1 A__2 1
for (int i = 0; i < 12; i += 2) A[i] = i; return 0;

// case: some of the blocks
// run: partition A block 3 1
// expect: accesses = A__0 1 A__1 1
for (int i = 0; i < 6; i++) A[i + 2] = i; return 0;

// case: a direct access needs no division
// run: partition A cyclic 4
// expect: operators = add shr
for (int i = 0; i < 8; i += 4) for (int j = 0; j < 2; j++) A[4 * j + i + 3] = 1;
return 0;

// case: one of three banks needs no division
// run: partition A cyclic 3
// expect: operators = add mul sub
int i; for (i = 10; i > 1; i -= 3) { A[i] = i; A[i - 1] += 2; } return i;

// case: an unknown bank is selected
// run: partition A cyclic 2
// expect: accesses = A__0 3 A__1 3
// expect: guarded = A__0 if A__1 if
A[n & 7] += 5; return A[(n * n) & 3];

// case: several dimensions compose
// run: partition M block 2 1 ; partition M cyclic 3 2
// equals: partition M block 2 dimension=1 ; partition M cyclic 3 dimension=2
// expect: banks M = M__0__0 M__0__1 M__0__2 M__1__0 M__1__1 M__1__2
// expect: bank M__1__2 = (6, 10) read; block 2 1 3; cyclic 3 2 4
int s = 0; for (int i = 0; i < 6; i++) for (int j = 0; j < 10; j++) s += M[i][j] * j; return s;

// case: a local array partitioned completely is kept in registers
// run: partition T complete all 0
// expect: registers = T
// expect: stored_registers = True
int T[2][3]; for (int i = 0; i < 6; i++) T[i / 3][i % 3] = i; return T[1][n & 1];

// case: rejects wrong arguments
// run: partition Z cyclic 2 1
// error: no array is named Z; there are A, M
// run: partition A cyclic 2 2
// error: A has dimensions 1 to 1 (0 for all), got 2
// run: partition A round 2 1
// error: the style of a partition must be one of cyclic, block, complete, got 'round'
// run: partition A cyclic None 1
// error: a cyclic partition must have a factor of at least 1, got None
// run: partition A block 0 1
// error: a block partition must have a factor of at least 1, got 0
// run: partition A cyclic 2 ; partition A block 2
// error: dimension 1 of A is partitioned already
return A[0] + M[0][0];

// case: rejects too many banks
// run: partition B complete all 0
// error: B would have 4096 banks; at most 1024 are made
int B[64][64]; B[n & 63][0] = n; return B[1][0];

// case: a table is dealt with its values
// data: n = 0 1 2 3 4 5 6
// run: partition T cyclic 3
// expect: initial = 0 9 18, 3 12 0, 6 15 0
// run: partition T block 3
// expect: initial = 0 3 6, 9 12 15, 18 0 0
static const int T[7] = {0, 3, 6, 9, 12, 15, 18}; return T[n & 3];
