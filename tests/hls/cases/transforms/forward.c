// Values that a body stored or loaded are used again.
// draws: 4
// run: forward
void f(int n, int A[8], int B[8]) { BODY }

// case: a stored value
// expect: accesses A = 0 + 1
A[n & 7] = B[0] * 3; B[1] = A[n & 7];

// case: an accumulation
// expect: accesses A = 1 + 1
for (int i = 0; i < 8; i++) { A[i] += B[0]; A[i] += B[1]; A[i] += B[2]; }

// case: an overwritten store
// expect: accesses A = 0 + 2
A[2] = n; A[3] = 4; A[2] = 5;

// case: a store that is read
// expect: accesses A = 1 + 2
A[2] = n; B[0] = A[n & 7]; A[2] = 5;

// case: a store that is read under a condition
// expect: accesses A = 1 + 2
A[2] = n; if (n > 2) B[0] = A[n & 7]; A[2] = 5;

// case: a loaded value
// expect: accesses A = 1 + 1
B[0] = A[1]; A[2] = 3; B[1] = A[1];

// case: an unknown store between
// expect: accesses A = 1 + 2
A[1] = n; A[n & 7] = 3; B[1] = A[1];

// case: a changed index
// expect: accesses A = 2 + 1
int i = n & 3; A[i] = 5; i = i + 1; B[0] = A[i]; B[1] = A[i - 1];

// case: a loop between
// expect: accesses A = 2 + 2
A[1] = n; for (int i = 0; i < 8; i++) A[i] += 1; B[1] = A[1];

// case: a condition between
// expect: accesses A = 1 + 3
A[1] = n; if (n > 2) A[1] = 3; A[1] += 1;
