// Accesses in the condition of a loop, which is evaluated again after the loop's changes.
// data: n = -1000 -600 -200 200 600 1000
// run: partition V block 4
// run: partition V cyclic 4
void f(int n, int V[32], int K[16]) { BODY }

// case: reads the bank of the element of now
int m = 0; while (m < 28 && V[m] > n) m++; K[0] = m;

// case: reads the bank in every iteration
// run: partition V block 4
// run: partition V cyclic 4
// run: promote
for (int i = 0; i < 16; i++) { int k = 0; while (k < 28 && V[k] > n) k++; V[0] += k - 9; }

// case: reads the bank ahead of the loop
for (int i = 0; i < 16; i++) { int k = i; while (k < 28 && V[k] > n) k++; V[i] = k; }
