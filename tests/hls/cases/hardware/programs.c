// Programs whose hardware computes what native C computes.
// pipeline: no yes

// case: gemm pipelined takes the cycles that the schedule says
// top: gemm
// intervals: L2 1
// cycles: 4097 7525
// faster: 2
void gemm(int A[16][16], int B[16][16], int C[16][16])
{
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
            int s = C[i][j];
            for (int k = 0; k < 16; k++)
                s += A[i][k] * B[k][j];
            C[i][j] = s;
        }
}

// case: division and remainder truncate toward zero
// data: A = 7 -7 2147483647 -2147483648 0 -1 100 -100
// data: B = 2 -2 -3 7 5 1 -1 2147483647
void f(int A[8], int B[8], int Q[8], int R[8], int C[8])
{
    for (int i = 0; i < 8; i++) {
        Q[i] = A[i] / B[i];
        R[i] = A[i] % B[i];
        C[i] = A[i] / -7 + A[i] % 10;
    }
}

// case: local array and result value
int f(int A[8])
{
    int t[8];
    for (int i = 0; i < 8; i++) t[7 - i] = A[i] * A[i];
    int sum = 0;
    for (int i = 0; i < 8; i++) sum = sum * 3 + t[i];
    return sum;
}

// case: a guarded element outside the array is not fetched
void f(int A[5], int B[5])
{
    for (int i = 0; i < 5; i++)
        B[i] = (i > 0 && A[i - 1] > 2 ? A[i - 1] : 0) + (i < 4 ? A[i + 1] : 7);
}

// case: nested conditions that set one variable
int f(int A[16], int B[16])
{
    int x = 1, s = 0;
    for (int i = 0; i < 16; i++) {
        if (A[i] > 3) {
            x = 5;
            if (A[i] > 6)
                x = 7;
        }
        s += x;
        B[i] = s;
    }
    return s;
}

// case: a lower bound that is the loop's own variable
// data: n = 3
// data: p__1 = 9
int f(int n, int p__1)
{
    int i = 1, s = 0;
    for (i = i + 1; i < n; i++) {
        if (p__1 > i)
            s += i;
    }
    return s + i * 100;
}

// case: the last store is visible when done
// delay: 15
void f(int A[4]) { for (int i = 0; i < 4; i++) A[i] = i; }

// case: names that Verilog keeps for itself
// top: module
// pipeline: no
int module(int reg, int wire[4], int state[4]) { state[1] = wire[2]; return reg + 1; }

// case: a variable is read in the cycle in which the previous iteration writes it, of floats
// pipeline: yes
// intervals: L 2
// forwards: yes
void f(float A[40], float B[40])
{
    float s = 1, t = 2;
    L: for (int i = 0; i < 40; i++) { if (A[i] > 0.25f) s += A[i]; t = t * B[i]; }
    A[0] = s; B[0] = t;
}

// case: a variable is read in the cycle in which the previous iteration writes it, of doubles
// pipeline: yes
// intervals: L 4
// forwards: yes
void f(double A[40], double B[40])
{
    double s = 1, t = 2;
    L: for (int i = 0; i < 40; i++) { s = s * A[i] + t; t = t + s; }
    A[0] = s; B[0] = t;
}

// case: a variable is read in the cycle in which the previous iteration writes it, through a memory
// pipeline: yes
// intervals: L 2
// forwards: yes
void f(int A[40], int B[40])
{
    int s = 1, t = 2;
    L: for (int i = 0; i < 40; i++) { s = A[s & 31] + i; t ^= s; }
    A[0] = s; B[0] = t;
}
