// Exits of loops become flags and conditions predicates: plain bodies.
// draws: 6
// run: exits L0 ; convert L0 ; simplify

// case: for that is left and continued and returned from
// expect: kinds_set L0 = Assign
int f(int A[16], int x) {
    int i, s = 0;
    for (i = 0; i < 16; i++) {
        if (A[i] == x) continue;
        s += A[i];
        if (s > 40) break;
        if (s == 17) return 1000 + i;
        s = s * 3;
    }
    return s * 100 + i;
}

// case: while and do that are left
// run: exits L0 ; exits L1 ; convert L0 L1 ; simplify
// expect: kinds_set L0 = Assign
// expect: kinds_set L1 = Assign
int f(int A[16], int x) {
    int i = 0, s = 0;
    while (A[i] != x) {
        s += A[i];
        if (i == 15 || s > 60) break;
        i++;
    }
    do {
        s -= 7;
        if (s < -30) break;
    } while (s > x && s < 999);
    return s * 100 + i;
}

// case: switch in a loop
// expect: kinds_set L0 = Assign Store
int f(int A[16], int x) {
    int s = x;
    for (int i = 0; i < 16; i++) {
        switch (A[i] & 7) {
        case 0: s += 3; break;
        case 1: if (s > 9) break; s *= 2;
        case 2: s -= i; continue;
        case 5: A[i] = s; break;
        default: s ^= i;
        }
        A[15 - i] += s;
    }
    return s;
}

// case: loop that is left becomes conditional and keeps name and nest
// run: exits L0
// expect: trips = L0 while
// expect: test_first L0 = False
// expect: nest L0 = i 0 1 16
int f(int A[16], int x) {
    int i, s = 0;
    for (i = 0; i < 16; i++) {
        if (A[i] == x) continue;
        s += A[i];
        if (s > 40) break;
        if (s == 17) return 1000 + i;
        s = s * 3;
    }
    return s * 100 + i;
}

// case: loop that only continues stays counted
// run: exits L0
// expect: trips = L0 8
// expect: kinds lacks Block
// expect: kinds lacks Leave
int f(int A[8]) { int s = 0; for (int i = 0; i < 8; i++) { if (A[i] < 0) continue; s += A[i]; } return s; }

// case: loop without exits stays as it is
// run: exits L0
// expect: changed = False
int f(int n) { while (n > 5) n = n / 2; return n; }

// case: exits in nested conditions guard what follows
// run: exits L1 ; convert L1 ; simplify
int f(int A[64], int x) {
    int s = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 20; j++) {
            if (A[20 * i + j] > 13) {
                if (s & 1) { s += 1000; break; }
                s += 5;
            }
            s += A[20 * i + j] ^ x;
        }
    return s;
}

// case: exits of many copies each guard what follows
// run: unroll L0 24 ; exits L0 ; convert L0 ; simplify
int f(int A[48], int x) {
    int i, s = 0;
    for (i = 0; i < 48; i++) {
        if (A[i] == x) continue;
        s += A[i];
        if (s > 40) break;
        if (s == 17) return 1000 + i;
        s = s * 3;
    }
    return s * 100 + i;
}

// case: condition of a loop that was left reads no element
int f(int A[16]) {
    int i = 0;
    while (A[i] < 14) {
        if (i == 15) { i = 99; break; }
        i++;
    }
    return i;
}

// case: rejects a loop that contains loops
// error: loop L0 contains loop L1; only innermost loops are pipelined...
int f(int n) { for (int i = 0; i < 4; i++) for (int j = 0; j < n; j++) n++; return n; }

// case: unrolled bodies with conditions convert
// run: unroll_inner L0 ; exits L0 ; convert L0 ; simplify
// expect: loops = L0
// expect: kinds_set L0 = Assign Store
void f(int A[8][8], int B[8]) {
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            if (A[i][j] < 0) continue;
            if (A[i][j] > 9) break;
            B[j] += A[i][j];
        }
}
