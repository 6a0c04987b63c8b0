/*
 * Burrows-Wheeler transform of a text, move-to-front over the alphabet and
 * bijective run coding of the zeros (the front half of a block compressor).
 *
 * Rotations are sorted by doubling: after round h they are ordered by their
 * first 2^h letters.
 */
#ifndef BLOCK
#define BLOCK 200
#endif

#define LETTERS 26
#define CLASSES (BLOCK > LETTERS ? BLOCK : LETTERS)
enum { RUN_A = 0, RUN_B = 1, FIRST_RANK = 2 };

static int order[BLOCK], rank_[BLOCK], shifted[BLOCK], next_rank[BLOCK];
static int start[CLASSES + 1];

static void counting_sort(const int *src, int *dst, int n, int classes)
{
    int i;

    for (i = 0; i <= classes; i++)
        start[i] = 0;
    for (i = 0; i < n; i++)
        start[rank_[src[i]] + 1]++;
    for (i = 0; i < classes; i++)
        start[i + 1] += start[i];
    for (i = 0; i < n; i++)
        dst[start[rank_[src[i]]]++] = src[i];
}

static void sort_rotations(const char *text, int n)
{
    int i, k, classes = LETTERS;

    for (i = 0; i < n; i++) {
        rank_[i] = text[i] - 'a';
        shifted[i] = i;
    }
    counting_sort(shifted, order, n, classes);

    for (k = 1; k < n; k *= 2) {
        for (i = 0; i < n; i++)
            shifted[i] = order[i] >= k ? order[i] - k : order[i] - k + n;
        counting_sort(shifted, order, n, classes);
        classes = 1;
        next_rank[order[0]] = 0;
        for (i = 1; i < n; i++) {
            int a = order[i - 1], b = order[i];
            if (rank_[a] != rank_[b] || rank_[(a + k) % n] != rank_[(b + k) % n])
                classes++;
            next_rank[b] = classes - 1;
        }
        for (i = 0; i < n; i++)
            rank_[i] = next_rank[i];
        if (classes == n)
            break;
    }
}

static int put_run(short *out, int at, int run)
{
    while (run > 0) {
        out[at++] = run & 1 ? RUN_A : RUN_B;
        run = (run - 1) / 2;
    }
    return at;
}

/* returns the number of symbols written; *primary is the row of the original */
int bwt_mtf_zeros(const char text[BLOCK], short out[BLOCK], int *primary)
{
    unsigned char front[LETTERS];
    int n = 0, at = 0, run = 0, i, j;

    *primary = -1;
    while (n < BLOCK && text[n])
        n++;
    if (n == 0)
        return 0;
    sort_rotations(text, n);

    for (j = 0; j < LETTERS; j++)
        front[j] = (unsigned char)('a' + j);
    for (i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[order[i] ? order[i] - 1 : n - 1];

        if (order[i] == 0)
            *primary = i;
        if (front[0] == c) {
            run++;
            continue;
        }
        at = put_run(out, at, run);
        run = 0;
        for (j = 1; front[j] != c; j++)
            ;
        out[at++] = (short)(FIRST_RANK + j - 1);
        for (; j > 0; j--)
            front[j] = front[j - 1];
        front[0] = c;
    }
    return put_run(out, at, run);
}
