// Iterations that do not depend on each other run in parallel; the others wait.
// draws: 2
// run: parallel L0 4
void f(int n, int A[16][16], int V[32], int K[16]) { BODY }

// case: own rows
// run: read
// expect: dependence L0 = None
// run: parallel L0 4
// expect: report = None
// expect: changed = True
for (int i = 0; i < 16; i++) for (int j = 1; j < 16; j++) A[i][j] += A[i][j - 1];

// case: private variables
// run: read
// expect: dependence L0 = None
// run: parallel L0 4
// expect: report = None
// expect: changed = True
for (int i = 0; i < 16; i++) { int t = V[i] * 2; V[i + 16] = t + n; }

// case: a triangle
// run: read
// expect: dependence L0 = None
// run: parallel L0 4
// expect: report = None
// expect: changed = True
for (int i = 0; i < 16; i++) for (int j = 0; j < i; j++) A[i][j] = A[i][i] + j;

// case: halves
// run: read
// expect: dependence L0 = None
// run: parallel L0 4
// expect: report = None
// expect: changed = True
for (int i = 0; i < 16; i++) V[i] += V[i + 16];

// case: odd and even
// run: read
// expect: dependence L0 = None
// run: parallel L0 4
// expect: report = None
// expect: changed = True
for (int i = 0; i < 15; i++) V[2 * i] = V[2 * i + 1];

// case: pairs
// run: read
// expect: dependence L0 = None
// run: parallel L0 4
// expect: report = None
// expect: changed = True
for (int i = 0; i < 16; i += 2) { V[i] = V[i + 1]; V[i + 1] = n; }

// case: tiles
// run: read
// expect: dependence L0 = None
// run: parallel L0 4
// expect: report = None
// expect: changed = True
for (int t = 0; t < 16; t += 4) for (int i = t; i < t + 4; i++) V[i] = V[i] * 3 + t;

// case: a quotient
// run: read
// expect: dependence L0 = None
// run: parallel L0 4
// expect: report = None
// expect: changed = True
for (int i = 0; i < 32; i++) A[i / 16][i % 16] = V[i];

// case: a sum
// run: read
// expect: dependence L0 = None
// run: parallel L0 4
// expect: report = None
// expect: changed = True
for (int i = 0; i < 16; i++) V[3] += A[i][3];

// case: a maximum
// run: read
// expect: dependence L0 = None
// run: parallel L0 4
// expect: report = None
// expect: changed = True
int m = V[0]; for (int i = 0; i < 16; i++) if (K[i] > m) m = K[i]; V[1] = m;

// case: an element of another row
// run: read
// expect: dependence L0 = None
// run: parallel L0 4
// expect: report = None
// expect: changed = True
for (int i = 0; i < 8; i++) A[2 * i][3] = A[2 * i + 1][3];

// case: inner loops of a row each
// expect: report = None
// expect: inner_loops L0 = 1
for (int i = 0; i < 16; i++) for (int j = 0; j < 16; j++) A[i][j] += i;

// case: inner loops of what is private
// expect: report = None
// expect: inner_loops L0 = 2
for (int i = 0; i < 15; i++) { int s = n; for (int j = 0; j < 16; j++) s = s * 3 + A[i][j]; for (int k = 1; k < 16; k += 2) { int t = s + k; A[i][k] = t * t; } V[i] = s; }

// case: inner loops of loops in loops
// expect: report = None
// expect: inner_loops L0 = 2
for (int i = 0; i < 13; i++) for (int j = 0; j < 4; j++) { for (int k = 0; k < 4; k++) A[i][4 * j + k] = j; K[i] += A[i][j]; }

// case: inner loops of a sum
// expect: report = None
// expect: inner_loops L0 = 1
for (int i = 0; i < 16; i++) for (int j = 0; j < 16; j++) n += A[i][j]; V[0] = n;

// case: inner loops of a triangle
// expect: report = None
// expect: inner_loops L0 = 4
for (int i = 0; i < 16; i++) for (int j = 0; j < i; j++) A[i][j] = j;

// case: inner loops of a way out inside
// expect: report = None
// expect: inner_loops L0 = 4
for (int i = 0; i < 16; i++) for (int j = 0; j < 16; j++) { if (A[i][j] < 0) break; A[i][j] = i; }

// case: inner loops of what is next
// expect: report = None
// expect: inner_loops L0 = 1
for (int i = 0; i < 16; i++) for (int j = 0; j < 16; j++) { if (A[i][j] < 0) continue; A[i][j] = i; }

// case: waits for a recurrence
// expect: report = line 1 writes an element of V that line 1 reads in another iteration of loop L0...
// equals: unroll L0 4
for (int i = 1; i < 16; i++) V[i] = V[i - 1] + 1;

// case: waits for an anti-dependence
// expect: report = line 1 writes an element of V that line 1 reads in another iteration of loop L0...
// equals: unroll L0 4
for (int i = 0; i < 16; i++) V[i] = V[i + 1];

// case: waits for the same element
// expect: report = line 1 writes an element of V that line 1 writes in another iteration of loop L0...
// equals: unroll L0 4
for (int i = 0; i < 16; i++) V[i / 2] = i;

// case: waits for unknown elements
// expect: report = line 1 writes an element of V that line 1 writes in another iteration of loop L0...
// equals: unroll L0 4
for (int i = 0; i < 16; i++) V[K[i] & 31] = i;

// case: waits for a column
// expect: report = line 1 writes an element of A that line 1 reads in another iteration of loop L0...
// equals: unroll L0 4
for (int i = 1; i < 16; i++) for (int j = 0; j < 16; j++) A[i][j] += A[i - 1][j];

// case: waits for a variable
// expect: report = s carries a value from one iteration of loop L0 to another (line 1)...
// equals: unroll L0 4
int s = 0; for (int i = 0; i < 16; i++) { V[i] = s; s = s * 3 + K[i]; }

// case: waits for a variable that may keep its value
// expect: report = s carries a value from one iteration of loop L0 to another (line 1)...
// equals: unroll L0 4
int s = 0; for (int i = 0; i < 16; i++) { if (K[i] > 0) s = i; V[i] = s; }

// case: waits for a condition
// expect: report = loop L0 runs while a condition holds, which each iteration decides for the next...
// equals: unroll L0 4
int i = 0; while (K[i & 15] > i) i++; V[0] = i;

// case: waits for a way out
// expect: report = loop L0 is left early, which decides whether the next iteration runs...
// equals: unroll L0 4
for (int i = 0; i < 16; i++) { if (K[i] == n) break; V[i] = 0; }

// case: waits for a condition that reads ahead
// run: read
// expect: dependence L0 != None
for (int i = 0; i < 16; i++) { int k = i; while (k < 28 && V[k] > n) k++; V[i] = k; }

// case: rejects all iterations of an unknown number
// run: parallel L0 all
// error: the trip count of loop L0 is not constant...
for (int i = 0; i < n; i++) V[i] = 0;
