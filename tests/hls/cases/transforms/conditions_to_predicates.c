// Conditions become predicates and selections.
// draws: 6
// run: convert L0 ; simplify

// case: nested conditions become predicates
// expect: kinds_set L0 = Assign Store
int f(int A[16], int B[16]) {
    int x = 1, y = 2, s = 0;
    for (int i = 0; i < 16; i++) {
        int t = 0;
        if (A[i] > 3) {
            x = 5; t = x + s;
            if (A[i] > 6) { y = x; x = y + 7; B[i] = x; }
            else if (i > 0 && A[i - 1] < 2) { y = A[i - 1] / (A[i] - 5); }
            s += x;
        } else {
            s -= y;
            if (i & 1) x = t - B[i];
        }
        B[15 - i] += s + t;
    }
    return s + x * 10 + y * 100;
}

// case: branches of floats and wide integers are selected
float f(float F[16], long long W[4], unsigned char u) {
    float m = F[0]; double d = 1.0;
    for (int i = 0; i < 16; i++) {
        if (F[i] > m) { m = F[i]; d = d / (F[i] + 1.0f); }
        else if (F[i] < 0) { W[i & 3] += (long long)F[i] << (u & 7); d = d * 0.5; }
        if ((unsigned char)(u + i) < 100) u = (unsigned char)(u * 3);
    }
    return m + (float)d + u;
}

// case: a selection takes both branches at once
// expect: selections = 1
int f(int x) { int y; if (x > 3) y = x + 1; else y = x - 1; return y; }

// case: a variable that nobody reads later needs no selection
// expect: selections = 0
void f(int A[8]) {
    int t = 0;
    for (int i = 0; i < 8; i++)
        if (A[i] > 3) { t = A[i] * 2; A[i] = t; }
}

// case: a value that only the next iteration reads is selected
int f(int A[16]) {
    int s = 0, t = 1;
    for (int i = 0; i < 16; i++) {
        s = s * 3 + t;
        if (A[i] > 3) t = A[i] * 2;
    }
    return s;
}

// case: the element of the condition is loaded once
// expect: loads A = 1
// expect: guarded = A
int f(int A[16], int B[16]) {
    int m = -99, w = 0;
    for (int i = 0; i < 16; i++)
        if (A[i] > m) { m = A[i]; w = i; B[i] = A[i] * m; } else w += A[i];
    return m * 100 + w;
}

// case: an element that both branches load is loaded once without the condition
// expect: loads A = 1
// expect: loads B = 1
// expect: guarded = A B if
// expect: predicates B = Read
int f(int A[16], int B[16], int x) {
    int s = 0;
    for (int i = 0; i < 16; i++) {
        int k = A[i] & 31;
        if (k < 16) { if (s & 1) s += B[k] * 3; else s -= B[k]; }
        if (s & 2) s += A[i]; else s ^= A[i];
    }
    return s;
}

// case: accesses of opposite branches share a port
// draws: 12
// expect: stores B = 1
// expect: stores C = 1
// expect: guarded_stores has C if
// expect: loads A <= 4
int f(int A[32], int B[16], int C[16]) {
    int i = 0, j = 0;
    for (int k = 0; k < 16; k++) {
        if (j > 9 || (i < 9 && A[i] <= A[16 + j])) { B[k] = A[i] * 3; i++; }
        else if (A[k] > 4) { B[15 - k] = A[16 + j]; j++; C[k] = i; }
        else { B[j] = j; C[k] -= 1; }
    }
    return i;
}

// case: stores that are read between stay apart
// expect: stores A = 4
int f(int A[16], int x) {
    int s = 0;
    for (int k = 1; k < 16; k++) {
        int p = (A[k] & 3) > 1;
        if (p) A[k] = s;
        s += A[k - 1] + A[x & 15];
        if (!p) A[k] = -s;
        if (p) A[k - 1] = 3; else A[k] = 4;
        x = x * 3 + 1;
    }
    return s;
}

// case: loads that may differ stay apart
// expect: loads B = 3
// expect: loads A >= 4
int f(int A[16], int B[16], int x) {
    int s = 0;
    for (int i = 1; i < 16; i++) {
        if (A[i] > 3) { s += B[A[i] & 15]; A[i] = s & 7; s ^= B[A[i] & 15]; }
        if (x & 1) s += A[i]; else if (x & 2) s -= A[i];
        A[i - 1] = s;
        if (s & 1) s += A[i];
        x = x * 5 + 1;
        A[B[i] & 15] = x;
        if (s & 1) s += A[i];
    }
    return s;
}

// case: forty nested conditions
// draws: 2
// expect: kinds_set L0 = Assign
int f(int A[8]) {
    int s = 0;
    for (int i = 0; i < 4; i++) {
        if (A[0] > 0) { s += A[0]; if (A[1] > 1) { s += A[1]; if (A[2] > 2) { s += A[2]; if (A[3] >
        3) { s += A[3]; if (A[4] > 4) { s += A[4]; if (A[5] > 5) { s += A[5]; if (A[6] > 6) { s +=
        A[6]; if (A[7] > 7) { s += A[7]; if (A[0] > 8) { s += A[0]; if (A[1] > 9) { s += A[1]; if
        (A[2] > 10) { s += A[2]; if (A[3] > 11) { s += A[3]; if (A[4] > 12) { s += A[4]; if (A[5] >
        13) { s += A[5]; if (A[6] > 14) { s += A[6]; if (A[7] > 15) { s += A[7]; if (A[0] > 16) { s
        += A[0]; if (A[1] > 17) { s += A[1]; if (A[2] > 18) { s += A[2]; if (A[3] > 19) { s += A[3];
        if (A[4] > 20) { s += A[4]; if (A[5] > 21) { s += A[5]; if (A[6] > 22) { s += A[6]; if (A[7]
        > 23) { s += A[7]; if (A[0] > 24) { s += A[0]; if (A[1] > 25) { s += A[1]; if (A[2] > 26) {
        s += A[2]; if (A[3] > 27) { s += A[3]; if (A[4] > 28) { s += A[4]; if (A[5] > 29) { s +=
        A[5]; if (A[6] > 30) { s += A[6]; if (A[7] > 31) { s += A[7]; if (A[0] > 32) { s += A[0]; if
        (A[1] > 33) { s += A[1]; if (A[2] > 34) { s += A[2]; if (A[3] > 35) { s += A[3]; if (A[4] >
        36) { s += A[4]; if (A[5] > 37) { s += A[5]; if (A[6] > 38) { s += A[6]; if (A[7] > 39) { s
        += A[7]; }}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}
    }
    return s;
}
