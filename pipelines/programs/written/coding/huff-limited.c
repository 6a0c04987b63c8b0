/*
 * Length limited canonical prefix code.
 * Moffat-Katajainen in-place lengths on sorted counts, then Kraft repair to MAXLEN,
 * then canonical codes, bit reversed for an LSB first writer. The message is then costed.
 */
#include <stdint.h>
#include <string.h>

#ifndef NSYM
#define NSYM 48
#endif
#ifndef NMSG
#define NMSG 300
#endif
#define MAXLEN 9

static int order[NSYM];
static uint32_t freq[NSYM], A[NSYM];

static void sort_symbols(int n)
{
    for (int i = 1; i < n; i++) {
        int s = order[i], j = i - 1;
        while (j >= 0 && freq[order[j]] > freq[s]) {
            order[j + 1] = order[j];
            j--;
        }
        order[j + 1] = s;
    }
}

static void moffat_katajainen(int n)
{
    int root = 0, leaf = 2, next;

    A[0] += A[1];
    for (next = 1; next < n - 1; next++) {
        if (leaf >= n || A[root] < A[leaf]) {
            A[next] = A[root];
            A[root++] = (uint32_t)next;
        } else
            A[next] = A[leaf++];
        if (leaf >= n || (root < next && A[root] < A[leaf])) {
            A[next] += A[root];
            A[root++] = (uint32_t)next;
        } else
            A[next] += A[leaf++];
    }
    A[n - 2] = 0;
    for (next = n - 3; next >= 0; next--)
        A[next] = A[A[next]] + 1;

    int avail = 1, used = 0, depth = 0;
    root = n - 2;
    next = n - 1;
    while (avail > 0) {
        while (root >= 0 && (int)A[root] == depth) { used++; root--; }
        while (avail > used) { A[next--] = (uint32_t)depth; avail--; }
        avail = 2 * used;
        depth++;
        used = 0;
    }
}

uint32_t huff_build(const uint8_t *msg, uint8_t *len, uint16_t *code)
{
    int n = 0;
    memset(freq, 0, sizeof freq);
    memset(len, 0, NSYM);
    memset(code, 0, NSYM * sizeof *code);
    for (int i = 0; i < NMSG; i++) freq[msg[i]]++;
    for (int s = 0; s < NSYM; s++)
        if (freq[s]) order[n++] = s;
    if (n == 1) { len[order[0]] = 1; return NMSG; }

    sort_symbols(n);
    for (int i = 0; i < n; i++) A[i] = freq[order[i]];
    moffat_katajainen(n);

    /* Kraft sum in units of 2^-MAXLEN; order[] is rare first, so long first */
    uint32_t kraft = 0;
    for (int i = 0; i < n; i++) {
        if (A[i] > MAXLEN) A[i] = MAXLEN;
        kraft += 1u << (MAXLEN - A[i]);
    }
    for (int i = 0; kraft > (1u << MAXLEN); i = (i + 1) % n)
        while (A[i] < MAXLEN && kraft > (1u << MAXLEN))
            kraft -= 1u << (MAXLEN - ++A[i]);
    for (int i = n - 1; i >= 0; i--)
        while (A[i] > 1 && kraft + (1u << (MAXLEN - A[i])) <= (1u << MAXLEN))
            kraft += 1u << (MAXLEN - A[i]--);

    for (int i = 0; i < n; i++) len[order[i]] = (uint8_t)A[i];

    uint32_t c = 0;
    for (int l = 1; l <= MAXLEN; l++, c <<= 1)
        for (int s = 0; s < NSYM; s++)
            if (len[s] == l) {
                uint32_t r = 0, v = c++;
                for (int b = 0; b < l; b++, v >>= 1) r = r << 1 | (v & 1);
                code[s] = (uint16_t)r;
            }

    uint32_t bits = 0;
    for (int i = 0; i < NMSG; i++) bits += len[msg[i]];
    return bits;
}
