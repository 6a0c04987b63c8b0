// A loop computes the same values on a copy of the part of an array that it touches.
// draws: 2
int f(int n, int A[32][32], int B[20][24], int V[100]) { BODY }

// case: a whole array
// run: cache_partitioned A L0
// run: cache A L0
// expect: report.buffer_elements = 1024
// expect: report.bytes_in = 4096
// expect: report.bytes_out = 0
// expect: touched L0 lacks A
int s = 0; for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) s += A[i][j]; return s;

// case: a row
// run: cache_partitioned A L1
// run: cache A L1
// expect: report.buffer_elements = 32
// expect: report.bytes_in = 4096
// expect: report.bytes_out = 0
// expect: touched L1 lacks A
int s = 0; for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) s += A[i][j] * j; return s;

// case: a row that no word begins with
// run: cache_partitioned B L1
// run: cache B L1
// expect: report.buffer_elements = 48
// expect: report.bytes_in = 1920
// expect: report.bytes_out = 0
// expect: touched L1 lacks B
int s = 0; for (int i = 0; i < 20; i++) for (int j = 0; j < 24; j++) s += B[i][j] * j; return s;

// case: a column
// run: cache_partitioned A L1
// run: cache A L1
// expect: report.buffer_elements = 512
// expect: report.bytes_in = 4096
// expect: report.bytes_out = 0
// expect: touched L1 lacks A
int s = 0; for (int j = 0; j < 32; j++) for (int i = 0; i < 32; i++) s += A[i][j] * j; return s;

// case: a window
// run: cache_partitioned V L1
// run: cache V L1
// expect: report.buffer_elements = 32
// expect: report.bytes_in = 400
// expect: report.bytes_out = 0
// expect: touched L1 lacks V
int s = 0; for (int i = 0; i < 20; i++) for (int k = 0; k < 5; k++) s += V[4 * i + k]; return s;

// case: a window backwards
// run: cache_partitioned V L1
// run: cache V L1
// expect: report.buffer_elements = 32
// expect: report.bytes_in = 400
// expect: report.bytes_out = 0
// expect: touched L1 lacks V
int s = 0; for (int i = 0; i < 20; i++) for (int k = 0; k < 5; k++) s += V[4 * i + 6 - k]; return s;

// case: a row before the first
// run: cache_partitioned B L1
// run: cache B L1
// expect: report.buffer_elements = 48
// expect: report.bytes_in = 1748
// expect: report.bytes_out = 1748
// expect: touched L1 lacks B
for (int i = 0; i < 20; i++) for (int j = 1; j < 24; j++) if (i > 0) B[i - 1][j] += A[i][j]; return 0;

// case: a row after the last
// run: cache_partitioned B L1
// run: cache B L1
// expect: report.buffer_elements = 48
// expect: report.bytes_in = 1748
// expect: report.bytes_out = 1748
// expect: touched L1 lacks B
for (int i = 0; i < 20; i++) for (int j = 1; j < 24; j++) if (i < 19) B[i + 1][j] += A[i][j]; return 0;

// case: a part that is read and written
// run: cache_partitioned V L0
// run: cache V L0
// expect: report.buffer_elements = 32
// expect: report.bytes_in = 116
// expect: report.bytes_out = 116
// expect: touched L0 lacks V
for (int i = 2; i < 30; i++) V[i] += V[i + 1] * 3; return 0;

// case: what is overwritten
// run: cache_partitioned A L0
// run: cache A L0
// expect: report.buffer_elements = 1024
// expect: report.bytes_in = 0
// expect: report.bytes_out = 4096
// expect: touched L0 lacks A
for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) A[i][j] = i * j; return A[1][2];

// case: what is overwritten in part
// run: cache_partitioned A L0
// run: cache A L0
// expect: report.buffer_elements = 1024
// expect: report.bytes_in = 3968
// expect: report.bytes_out = 3968
// expect: touched L0 lacks A
for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j += 2) A[i][j] = i * j; return A[1][2];

// case: unknown indices
// run: cache_partitioned A L0
// run: cache A L0
// expect: report.buffer_elements = 1024
// expect: report.bytes_in = 4096
// expect: report.bytes_out = 4096
// expect: touched L0 lacks A
for (int i = 0; i < 32; i++) A[i & 3][(n + i) & 31] += A[i][3]; return 0;

// case: a loop of unknown length
// run: cache_partitioned V L0
// run: cache V L0
// expect: report.buffer_elements = 112
// expect: report.bytes_in = 400
// expect: report.bytes_out = 400
// expect: touched L0 lacks V
int i = 0; while (i < 99 && V[i] != n) { V[i + 1] -= V[i]; i++; } return i;

// case: a bound from data
// run: cache_partitioned V L0
// run: cache V L0
// expect: report.buffer_elements = 48
// expect: report.bytes_in = 124
// expect: report.bytes_out = 0
// expect: touched L0 lacks V
int s = 0; for (int i = 0; i < (n & 31); i++) { s += V[i + 2]; } return s;

// case: a word is moved in one iteration through one port per lane
// run: cache_partitioned A L0
// expect: trips has L0_fill_A 64
// expect: directives_of L0_fill_A = pipeline 1
// expect: stored L0_fill_A = A_cache__0 A_cache__1 A_cache__10 A_cache__11 A_cache__12 A_cache__13 A_cache__14 A_cache__15 A_cache__2 A_cache__3 A_cache__4 A_cache__5 A_cache__6 A_cache__7 A_cache__8 A_cache__9
// expect: guarded lacks A_cache if
int s = 0; for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) s += A[i][j]; return s;

// case: a tile has a copy of its own
// run: tile L0 4 ; tile L1 8 ; cache A L1
// expect: report.buffer_elements <= 64
// run: tile L0 7 ; tile L1 5 ; cache A L1
// expect: report.buffer_elements <= 1023
// run: tile L0 4 ; tile L1 8 ; cache_partitioned A L1 ; cache_partitioned B L2
// run: tile L0 7 ; tile L1 5 ; cache_partitioned A L1 ; cache_partitioned B L2
for (int i = 0; i < 20; i++) for (int j = 0; j < 24; j++) for (int k = 0; k < 20; k++)
    A[i][j] += B[i][k] * B[k][j];
return 0;

// case: rejects what is no external array or not accessed
// run: cache T L0
// error: a cache must be of an external array, got T; there are A, B,...
// run: cache A L0
// error: loop L0 does not access A
// run: partition V cyclic 2 ; cache V L0
// error: V is partitioned; a cache deals its array...
// run: cache V L7
// error: no loop is named L7; there are L0
int T[4]; for (int i = 0; i < 4; i++) { T[i] = V[i]; } return T[n & 3];
