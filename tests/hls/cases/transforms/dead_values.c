// Assignments that no read sees are removed. Lines count from the function's.
// draws: 0
// run: dead
int f(int n, int A[8]) {
BODY
}

// case: overwritten
// expect: lines = 3
int x = 1;
x = 2;
return x;

// case: overwritten under a condition
// expect: lines = 2 4
int x = 1;
if (n)
x = 2;
return x;

// case: read by the condition of a loop
// expect: lines = 2 4
int x = 1;
while (A[x])
x += 2;
x = 3;
return 1;

// case: read in the next iteration
// expect: lines = 2 5
int x = 1;
while (n) {
A[0] = x;
x = 2;
}
return 1;

// case: overwritten before the loop
// expect: lines = 4
int x = 1;
while (A[0]) {
x = 5;
A[0] = x;
}
return 1;

// case: variable of a loop after it
// expect: lines =
int k;
for (k = 0; k < 8; k++)
A[k] = n;
k = 9;
return 0;
