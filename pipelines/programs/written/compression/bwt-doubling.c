#ifndef LEN
#define LEN 256
#endif

/* Burrows-Wheeler transform of one block. Rotations are ranked by prefix
   doubling; each pass is a two-key radix sort with counting. */

static int sa[LEN], rank_[LEN], tmp[LEN], nrank[LEN];
static int cnt[(LEN > 256 ? LEN : 256) + 1];

static void radix_pass(const int *from, int *to, int shift, int classes)
{
    int i;
    for (i = 0; i <= classes; i++) cnt[i] = 0;
    for (i = 0; i < LEN; i++) cnt[rank_[(from[i] + shift) % LEN] + 1]++;
    for (i = 0; i < classes; i++) cnt[i + 1] += cnt[i];
    for (i = 0; i < LEN; i++) {
        int key = rank_[(from[i] + shift) % LEN];
        to[cnt[key]++] = from[i];
    }
}

int bwt_forward(const unsigned char *block, unsigned char *column)
{
    int i, k, classes = 256, primary = 0;

    for (i = 0; i < LEN; i++) {
        sa[i] = i;
        rank_[i] = block[i];
    }
    for (k = 0; ; k = k ? 2 * k : 1) {
        int c = 0;
        if (k >= LEN)
            break;                      /* periodic block: equal rotations stay equal */
        radix_pass(sa, tmp, k, classes);
        radix_pass(tmp, sa, 0, classes);
        nrank[sa[0]] = 0;
        for (i = 1; i < LEN; i++) {
            int a = sa[i - 1], b = sa[i];
            if (rank_[a] != rank_[b] || rank_[(a + k) % LEN] != rank_[(b + k) % LEN])
                c++;
            nrank[b] = c;
        }
        for (i = 0; i < LEN; i++) rank_[i] = nrank[i];
        classes = c + 1;
        if (classes == LEN)
            break;
    }
    for (i = 0; i < LEN; i++) {
        column[i] = block[(sa[i] + LEN - 1) % LEN];
        if (sa[i] == 0) primary = i;
    }
    return primary;
}
