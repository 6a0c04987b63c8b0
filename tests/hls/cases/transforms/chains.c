// Chains of associative operators become balanced trees.
// draws: 4
// run: balance
int f(int n, int A[24], int C[4]) { BODY }

// case: signs
// expect: changed = True
return A[0] - A[1] + A[2] - (A[3] - A[4]) - n;

// case: negative
// expect: changed = True
int s = n; s -= A[0]; s -= A[1]; s -= A[2] + A[3]; return s;

// case: two variables
// expect: changed = True
int s = n, t = 2; s += A[0]; t += A[1]; s += A[2]; t += A[3]; return s * t * 3 * n;

// case: one reads the other
int s = n, t = 2; s += A[0]; t += s; s += A[2]; t += A[3]; s += t; return s * t;

// case: a store between
// expect: changed = True
int s = n; s += A[0]; A[n & 7] = 3; s += A[1]; s += A[2]; return s;

// case: a condition between
int s = n; s += A[0]; if (n > 2) s *= 2; s += A[1]; s += A[2]; return s;

// case: a way out between
// expect: changed = True
int s = n; for (int i = 0; i < 9; i++) { s += A[0]; if (A[i] > 9) break; s += A[1]; s += A[2]; } return s;

// case: updates wait for one addition
// run: unroll L0 8 ; balance
// expect: assigned L0 = ...s_term_8 s
// expect: depth s add = 4
int s = n; for (int i = 0; i < 16; i++) s += A[i] * 3; return s;
