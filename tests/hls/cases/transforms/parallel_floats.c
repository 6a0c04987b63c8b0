// An order that shows in the result is kept, unless unsafe mathematics are allowed.
// draws: 2
// run: parallel L0 4
void f(float F[8][8], float G[8]) { BODY }

// case: a sum
// expect: report = s is a sum...
float s = 0; for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) s += F[i][j]; F[0][0] = s;

// case: an element
// expect: report = loop L0 adds...
for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) G[3] += F[i][j];

// case: a last value
// expect: report = t has the value...
int t = 0; for (int i = 0; i < 8; i++) { t = i * 2; F[i][0] = t; } G[0] = t;

// case: a sum in any order
// draws: 0
// run: parallel L0 4 unsafe_math=True
// expect: report = None
float s = 0; for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) s += F[i][j]; F[0][0] = s;

// case: an element in any order
// draws: 0
// run: parallel L0 4 unsafe_math=True
// expect: report = None
for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) G[3] += F[i][j];
