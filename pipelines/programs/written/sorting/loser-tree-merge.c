#include <stdint.h>
#include <stdio.h>
#ifndef WAYS
#define WAYS 8
#endif
#ifndef RUNLEN
#define RUNLEN 40
#endif

/* K-way merge with a tournament of losers. Runs are sorted and end by length. */
typedef struct
{
    const int32_t *cur;
    const int32_t *end;
} LT_Stream;

static LT_Stream lt_stream[WAYS];
static int lt_node[WAYS];       /* [0] winner, others losers */

static int lt_beats(int a, int b)
{
    const LT_Stream *sa = &lt_stream[a], *sb = &lt_stream[b];
    if (sa->cur == sa->end) return 0;
    if (sb->cur == sb->end) return 1;
    if (*sa->cur != *sb->cur) return *sa->cur < *sb->cur;
    return a < b;               /* stable over runs */
}

static void lt_replay(int s)
{
    int winner = s;
    for (int n = (s + WAYS) / 2; n > 0; n /= 2)
        if (lt_node[n] < 0)
        {
            lt_node[n] = winner;          /* still building: wait for the partner */
            return;
        }
        else if (lt_beats(lt_node[n], winner))
        {
            int t = winner;
            winner = lt_node[n];
            lt_node[n] = t;
        }
    lt_node[0] = winner;
}

int lt_merge(const int32_t runs[WAYS][RUNLEN], const int32_t used[WAYS], int32_t *out, uint8_t *source)
{
    int produced = 0;

    for (int i = 0; i < WAYS; i++)
    {
        lt_stream[i].cur = runs[i];
        lt_stream[i].end = runs[i] + used[i];
        lt_node[i] = -1;
    }
    for (int i = 0; i < WAYS; i++)
        lt_replay(i);

    for (;;)
    {
        int w = lt_node[0];
        if (lt_stream[w].cur == lt_stream[w].end)
            break;
        out[produced] = *lt_stream[w].cur++;
        source[produced++] = (uint8_t)w;
        lt_replay(w);
    }
    return produced;
}

int main(void)
{
    static int32_t runs[WAYS][RUNLEN], used[WAYS], out[WAYS * RUNLEN];
    static uint8_t src[WAYS * RUNLEN];
    for (int i = 0; i < WAYS; i++) {
        used[i] = RUNLEN - i;
        for (int j = 0; j < RUNLEN; j++) runs[i][j] = j * (i + 3);
    }
    int n = lt_merge(runs, used, out, src);
    printf("%d merged, last %d of run %d\n", n, out[n - 1], src[n - 1]);
    return 0;
}
