// Class I: control flow is the same on all data. Class II: it depends on data.

// case: transposition
// class: I
void f(int A[4][6], int B[6][4])
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 6; j++)
            B[j][i] = A[i][j];
}

// case: triangle
// class: I
int f(int A[8])
{
    int s = 0;
    for (int i = 0; i < 8; i++)
        for (int j = i; j < 8; j++)
            if ((i + j) % 3 == 0)
                s += A[j];
    return s;
}

// case: gather
// class: I
int f(int A[8], int at[4])
{
    int s = 0;
    for (int i = 0; i < 4; i++) s += A[at[i] & 7];
    return s;
}

// case: division
// class: I
int f(int A[8], int n)
{
    int s = 0;
    for (int i = 0; i < 8; i++) s += A[i] / (n | 1);
    return s;
}

// case: table of constants
// class: I
int f(int A[8])
{
    static const int last[3] = {2, 5, 7};
    int s = 0;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < last[k]; i++) s += A[i];
    return s;
}

// case: sorting
// class: II
void f(int A[8])
{
    for (int i = 1; i < 8; i++) {
        int v = A[i], j = i;
        while (j > 0 && A[j - 1] > v) {
            A[j] = A[j - 1];
            j--;
        }
        A[j] = v;
    }
}

// case: bound by a scalar
// class: II
int f(int A[8], int n)
{
    int s = 0;
    for (int i = 0; i < (n & 7); i++) s += A[i];
    return s;
}

// case: bound by an element
// class: II
int f(int A[8], int rows[3])
{
    int s = 0;
    for (int i = rows[0] & 7; i < 8; i++) s += A[i];
    return s;
}

// case: branch
// class: II
int f(int A[8])
{
    int s = 0;
    for (int i = 0; i < 8; i++) if (A[i] > 0) s += A[i];
    return s;
}

// case: early exit
// class: II
int f(int A[8], int key)
{
    for (int i = 0; i < 8; i++)
        if (A[i] == key) return i;
    return -1;
}

// case: through a local array
// class: II
int f(int A[8])
{
    int count[4] = {0};
    int s = 0;
    for (int i = 0; i < 8; i++) count[A[i] & 3]++;
    for (int i = 0; i < count[1]; i++) s += i;
    return s;
}

// case: through a called function
// class: II
static int big(int v)
{
    if (v > 9) return 1;
    return 0;
}
int f(int A[4])
{
    return big(A[2]);
}
