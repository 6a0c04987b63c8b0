// Copies of a loop accumulate in variables of their own: the same values in another order.
// draws: 4
int f(int n, int A[24], int C[4]) { BODY }

// case: a sum
// run: reduce L0 s 4
// expect: changed = True
// run: reduce L0 s 40
// expect: changed = True
// run: interleave L0 s 5
// expect: changed = True
int s = n; for (int i = 0; i < 23; i++) s += A[i] * 3; return s;

// case: a difference
// run: reduce L0 s 4
// expect: changed = True
// run: reduce L0 s 40
// expect: changed = True
// run: interleave L0 s 5
// expect: changed = True
int s = n; for (int i = 0; i < 24; i++) s = s - A[i] + 1; return s;

// case: a product
// run: reduce L0 s 4
// expect: changed = True
// run: reduce L0 s 40
// expect: changed = True
// run: interleave L0 s 5
// expect: changed = True
int s = 3; for (int i = 0; i < 7; i++) s *= A[i] | 1; return s;

// case: and
// run: reduce L0 s 4
// expect: changed = True
// run: reduce L0 s 40
// expect: changed = True
// run: interleave L0 s 5
// expect: changed = True
int s = -1; for (int i = 0; i < 24; i++) s &= A[i] | i; return s;

// case: or under a condition
// run: reduce L0 s 4
// expect: changed = True
// run: reduce L0 s 40
// expect: changed = True
// run: interleave L0 s 5
// expect: changed = True
int s = 0; for (int i = 0; i < 24; i++) { if (A[i] > 3) s |= A[i]; else s |= i; } return s;

// case: exclusive or
// run: reduce L0 s 4
// expect: changed = True
// run: reduce L0 s 40
// expect: changed = True
// run: interleave L0 s 5
// expect: changed = True
int s = n; for (int i = 23; i > 0; i -= 2) s ^= A[i]; return s;

// case: a minimum
// run: reduce L0 s 4
// expect: changed = True
// run: reduce L0 s 40
// expect: changed = True
// run: interleave L0 s 5
// expect: changed = True
int s = n; for (int i = 0; i < 24; i++) if (A[i] < s) s = A[i]; return s;

// case: a maximum
// run: reduce L0 s 4
// expect: changed = True
// run: reduce L0 s 40
// expect: changed = True
// run: interleave L0 s 5
// expect: changed = True
int s = n; for (int i = 0; i < 24; i++) s = s > A[i] ? s : A[i]; return s;

// case: a narrow sum
// run: reduce L0 s 4
// expect: changed = True
// run: reduce L0 s 40
// expect: changed = True
// run: interleave L0 s 5
// expect: changed = True
signed char s = 1; for (int i = 0; i < 24; i++) s += A[i]; return s;

// case: an element
// run: reduce L0 C 4
// expect: changed = True
// run: reduce L0 C 40
// expect: changed = True
// run: interleave L0 C 5
// expect: changed = True
for (int i = 0; i < 24; i++) C[n & 3] += A[i]; return C[1];

// case: an inner loop
// run: reduce L0 s 4
// expect: changed = True
// run: reduce L0 s 40
// expect: changed = True
// run: interleave L0 s 5
// expect: changed = True
int s = 0; for (int i = 0; i < 6; i++) for (int j = 0; j < i; j++) s += A[4 * j] * i; return s;

// case: an unknown count
// run: reduce L0 s 4
// expect: changed = True
// run: reduce L0 s 40
// expect: changed = True
// run: interleave L0 s 5
// expect: changed = True
int s = 0; for (int i = 0; i < (n & 15); i++) s += A[i]; return s;

// case: all at once
// run: reduce L0 none 4
// expect: changed = True
// run: reduce L0 none 40
// expect: changed = True
// run: interleave L0 none 5
// expect: changed = True
int s = 0; int t = 1; for (int i = 0; i < 9; i++) { s += A[i]; t *= A[i]; s -= 2; } return s ^ t;

// case: copies accumulate in variables of their own
// run: reduce L0 s 4
// expect: accumulators L0 = s s_part s_part_2 s_part_3
int s = 0; for (int i = 0; i < 24; i++) s += A[i]; return s;

// case: iterations take turns
// run: interleave L0 s 3
// expect: moves L0 = s_turn<-s s<-s_part s_part<-s_part_2 s_part_2<-s_turn
int s = 0; for (int i = 0; i < 24; i++) s += A[i]; return s;

// case: rejects read elsewhere
// run: reduce L0 s 4
// error: s is no reduction of loop L0: an accumulator is combined by...
int s = 0; for (int i = 0; i < 9; i++) { s += A[i]; A[i] = s; } return s;

// case: rejects two operators
// run: reduce L0 s 4
// error: s is no reduction of loop L0: an accumulator is combined by...
int s = 0; for (int i = 0; i < 9; i++) { s += A[i]; s *= 3; } return s;

// case: rejects subtracted from
// run: reduce L0 s 4
// error: s is no reduction of loop L0: an accumulator is combined by...
int s = 0; for (int i = 0; i < 9; i++) s = A[i] - s; return s;

// case: rejects itself in the term
// run: reduce L0 s 4
// error: s is no reduction of loop L0: an accumulator is combined by...
int s = 0; for (int i = 0; i < 9; i++) s += A[s & 7]; return s;

// case: rejects a condition on it
// run: reduce L0 s 4
// error: s is no reduction of loop L0: an accumulator is combined by...
int s = 0; for (int i = 0; i < 9; i++) if (s > i) s += A[i]; return s;

// case: rejects a narrower sum on the way
// run: reduce L0 s 4
// error: s is no reduction of loop L0: an accumulator is combined by...
int s = 0; for (int i = 0; i < 9; i++) s = (short)s + A[i]; return s;

// case: rejects a loop that is left
// run: reduce L0 s 4
// error: loop L0 is left early; its accumulations cannot be...
int s = 0; for (int i = 0; i < 9; i++) { if (A[i] == 3) break; s += A[i]; } return s;

// case: rejects an unknown count
// run: reduce L0 s all
// error: the trip count of loop L0 is not constant
// run: interleave L0 s 1
// error: a reduction must have 2 to 1024 copies, got 1
int s = 0; for (int i = 0; i < (n & 7); i++) s += A[i]; return s;
