// Accumulated elements are kept in registers across loops.
// data: n = 0 1 7
// run: promote
void f(int n, int A[8][8], int B[8][8], int C[8][8]) { BODY }

// case: a product
// expect: storing C = L0 L1
for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) for (int k = 0; k < 8; k++) C[i][j] += A[i][k] * B[k][j];

// case: out of two loops
// expect: storing C = L0
for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) for (int k = 0; k < 8; k++) C[i][0] += A[j][k];

// case: a triangle
// expect: storing A = L0 L1
for (int i = 0; i < 8; i++) for (int j = 0; j < i; j++) for (int k = 0; k < j; k++) A[i][j] -= A[i][k] * A[j][k];

// case: a loop downwards
// expect: storing A = L0
for (int i = 7; i >= 0; i--) for (int j = 7; j > i; j--) A[i][i] -= A[i][j];

// case: a conditional store
// expect: storing C = L0
for (int i = 0; i < 8; i++) for (int k = 0; k < 8; k++) if (A[i][k] > 0) C[i][3] += A[i][k];

// case: elements at another residue
// expect: storing A = L0
for (int i = 0; i < 8; i++) for (int k = 0; k < 3; k++) A[i][6] += A[i][2 * k + 1];

// case: an unknown number of iterations
// expect: storing C =
for (int k = 0; k < n; k++) C[n][n] += A[k][0];

// case: a loop with a condition
// expect: storing C =
int k = 0; while (k < n) { C[n][n] += A[k][0]; k++; }

// case: not another element that may be the same
// expect: storing C = L0 L1
for (int i = 0; i < 8; i++) for (int k = 0; k < 8; k++) C[i][n & 7] += C[i][k];

// case: not a triangle that meets its diagonal
// expect: storing C = L0 L1
for (int i = 0; i < 8; i++) for (int k = 0; k <= i; k++) C[i][i] += C[i][k];

// case: not a data-dependent element
// expect: storing C = L0 L1
for (int i = 0; i < 8; i++) for (int k = 0; k < 8; k++) C[i][A[i][k] & 7] += 1;

// case: not an element that may be out of bounds
// expect: storing C = L0
for (int k = 0; k < 8; k++) if (n < 8 && n >= 0) C[n][n] += k;

// case: not nothing read
// expect: storing C = L0
for (int k = 0; k < 8; k++) C[n][0] = k;

// case: a loop that does not run touches nothing
// data: n = 3 8 1000
// expect: storing C = L1
for (int k = n; k < 8; k++) C[n][2] += A[k][0]; int k = n; while (k < 8) { C[k][n]++; k = 8; }

// case: a condition that reads the element reads the register
// draws: 8
// expect: storing C =
while (C[1][2] > 3) { C[1][2] -= 2; }

// case: an element written before it is read is not loaded
// expect: accesses A = 1 + 0
// expect: loads C = 0
// expect: loads = 1
for (int k = 0; k < 8; k++) { C[1][2] = A[k][0]; B[k][0] = C[1][2]; }

// case: promotion in one loop leaves the others
// run: promote_in L1 C
// expect: storing C = L0
// expect: report = (...name='C_r'...)
for (int k = 0; k < 8; k++) { C[1][2] += k; } for (int k = 0; k < 8; k++) { C[1][2] += 2 * k; }
