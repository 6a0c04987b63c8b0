// Floating-point values are reordered only with permission.
// data: whole
float f(int n, float A[24], float C[4]) { BODY }

// case: reductions
// run: reduce L0 s 4
// error: s of loop L0 is a floating-point reduction; reordering it...
// run: reduce L0 s 40
// error: s of loop L0 is a floating-point reduction; reordering it...
// run: interleave L0 s 5
// error: s of loop L0 is a floating-point reduction; reordering it...
// run: reduce L0 s 4 unsafe_math=True
// run: interleave L0 s 4 unsafe_math=True
float s = 1; for (int i = 0; i < 22; i++) s += A[i] * 2; return s;

// case: chains
// run: balance
// expect: changed = False
// run: balance unsafe_math=True
// expect: changed = True
float s = A[0] + A[1] + A[2] + A[3]; s += A[4]; s += A[5]; return s;
