#include <stdint.h>
#include <string.h>

#ifndef LEN
#define LEN 300
#endif
#ifndef ASKS
#define ASKS 12
#endif
#ifndef OUTLEN
#define OUTLEN 16
#endif

#define SIGMA 4

typedef struct sa_state {
    int16_t  to[SIGMA];
    int16_t  link;
    uint16_t len;
    uint32_t occ;            /* end positions */
    uint64_t ways;           /* different strings that start here (with the empty one) */
} sa_state;

static sa_state S[2 * LEN + 2];
static int16_t  by_len[2 * LEN + 2];
static int      nst, last;

static void sa_extend(int c)
{
    int cur = nst++, p = last;
    S[cur].len = (uint16_t)(S[last].len + 1);
    S[cur].occ = 1;
    memset(S[cur].to, -1, sizeof S[cur].to);
    for (; p >= 0 && S[p].to[c] < 0; p = S[p].link)
        S[p].to[c] = (int16_t)cur;
    if (p < 0)
        S[cur].link = 0;
    else {
        int q = S[p].to[c];
        if (S[q].len == S[p].len + 1)
            S[cur].link = (int16_t)q;
        else {
            int copy = nst++;
            S[copy] = S[q];
            S[copy].len = (uint16_t)(S[p].len + 1);
            S[copy].occ = 0;
            for (; p >= 0 && S[p].to[c] == q; p = S[p].link)
                S[p].to[c] = (int16_t)copy;
            S[q].link = S[cur].link = (int16_t)copy;
        }
    }
    last = cur;
}

/* Returns the number of different substrings. kth[] asks for substrings in
   lexicographic order; best_repeat: (length, count) with the greatest product. */
uint64_t substring_census(const char *text, const uint32_t *kth, char answer[ASKS][OUTLEN], uint32_t best_repeat[2])
{
    uint16_t bucket[LEN + 2] = {0};
    uint32_t gain = 0;

    nst = 1;
    last = 0;
    S[0].link = -1;
    S[0].len = 0;
    S[0].occ = 0;
    memset(S[0].to, -1, sizeof S[0].to);
    for (int i = 0; i < LEN; i++)
        sa_extend(text[i] & (SIGMA - 1));

    for (int s = 0; s < nst; s++) bucket[S[s].len + 1]++;
    for (int l = 0; l <= LEN; l++) bucket[l + 1] = (uint16_t)(bucket[l + 1] + bucket[l]);
    for (int s = 0; s < nst; s++) by_len[bucket[S[s].len]++] = (int16_t)s;

    best_repeat[0] = best_repeat[1] = 0;
    for (int i = nst - 1; i >= 0; i--) {
        sa_state *s = &S[by_len[i]];
        s->ways = 1;
        for (int c = 0; c < SIGMA; c++)
            if (s->to[c] >= 0) s->ways += S[s->to[c]].ways;
        if (s->link >= 0) S[s->link].occ += s->occ;
        if (s->link >= 0 && s->occ > 1 && s->len * s->occ > gain) {
            gain = s->len * s->occ;
            best_repeat[0] = s->len;
            best_repeat[1] = s->occ;
        }
    }

    uint64_t total = S[0].ways - 1;
    for (int a = 0; a < ASKS; a++) {
        uint64_t k = kth[a] % total + 1;
        int at = 0, n = 0;
        while (k > 0 && n < OUTLEN - 1) {
            for (int c = 0; c < SIGMA; c++) {
                if (S[at].to[c] < 0) continue;
                uint64_t w = S[S[at].to[c]].ways;
                if (k > w) { k -= w; continue; }
                answer[a][n++] = (char)('a' + c);
                at = S[at].to[c];
                k--;
                break;
            }
        }
        answer[a][n] = '\0';
    }
    return total;
}
