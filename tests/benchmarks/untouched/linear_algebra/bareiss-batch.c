/* exact determinants of many small integer matrices (fraction free, every
   division comes out even); rank too. entries -5..5 keep it inside 64 bit up
   to 9x9 by hadamard */
#ifndef N
#define N 7
#endif
#ifndef BATCH
#define BATCH 10
#endif

#define AT(m,r,c) ((m)[(r)*N+(c)])

typedef long long ll;

static ll m[N*N];

static void swaprows(int a, int b)
{
    ll *p = m+a*N, *q = m+b*N, *e = p+N;
    do { ll t = *p; *p++ = *q; *q++ = t; } while (p < e);
}

static int eliminate(ll *det)
{
    ll prev = 1;
    int row = 0, col, i, j, sign = 1;

    for (col = 0; col < N && row < N; col++) {
        for (i = row; i < N && AT(m,i,col) == 0; i++)
            ;
        if (i == N) continue;           /* nothing here, rank drops */
        if (i != row) { swaprows(i, row); sign = -sign; }

        ll piv = AT(m,row,col);
        for (i = row+1; i < N; i++) {
            ll f = AT(m,i,col);
            for (j = col+1; j < N; j++)
                AT(m,i,j) = (piv*AT(m,i,j) - f*AT(m,row,j)) / prev;
            AT(m,i,col) = 0;
        }
        prev = piv;
        row++;
    }
    *det = row == N ? sign*prev : 0;
    return row;
}

int determinants(const signed char *mats, ll *det, unsigned char *rank)
{
    int singular = 0, b, k;

    for (b = 0; b < BATCH; b++) {
        for (k = 0; k < N*N; k++)
            m[k] = *mats++;
        rank[b] = (unsigned char)eliminate(&det[b]);
        if (rank[b] < N)
            singular++;
    }
    return singular;
}
