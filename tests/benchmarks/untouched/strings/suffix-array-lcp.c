#include <stdint.h>
#include <stdbool.h>

#ifndef TEXT_LEN
#define TEXT_LEN 160
#endif

#if TEXT_LEN > 256
#define KEYS TEXT_LEN
#else
#define KEYS 256
#endif

/* work space: two rank arrays that change places, the order by second half */
static int32_t  rankA[TEXT_LEN], rankB[TEXT_LEN];
static int32_t  bySecond[TEXT_LEN];
static uint32_t bucket[KEYS + 1];

/* stable counting sort of bySecond by rank, into sa */
static void sortByFirst(const int32_t *rank, int32_t keys, int32_t *sa)
{
    for (int32_t k = 0; k <= keys; ++k)
        bucket[k] = 0;
    for (int32_t i = 0; i < TEXT_LEN; ++i)
        bucket[rank[i] + 1]++;
    for (int32_t k = 0; k < keys; ++k)
        bucket[k + 1] += bucket[k];
    for (int32_t i = 0; i < TEXT_LEN; ++i)
        sa[bucket[rank[bySecond[i]]]++] = bySecond[i];
}

static inline bool samePair(const int32_t *rank, int32_t a, int32_t b, int32_t half)
{
    const int32_t a2 = a + half < TEXT_LEN ? rank[a + half] : -1;
    const int32_t b2 = b + half < TEXT_LEN ? rank[b + half] : -1;
    return rank[a] == rank[b] && a2 == b2;
}

static void buildSuffixArray(const uint8_t *text, int32_t *sa)
{
    int32_t *rank = rankA, *fresh = rankB;
    int32_t keys = 256;

    for (int32_t i = 0; i < TEXT_LEN; ++i) {
        rank[i] = text[i];
        bySecond[i] = i;
    }
    sortByFirst(rank, keys, sa);

    for (int32_t half = 1; half < TEXT_LEN; half *= 2) {
        /* suffixes without a second half come first */
        int32_t n = 0;
        for (int32_t i = TEXT_LEN - half; i < TEXT_LEN; ++i)
            bySecond[n++] = i;
        for (int32_t i = 0; i < TEXT_LEN; ++i)
            if (sa[i] >= half)
                bySecond[n++] = sa[i] - half;
        sortByFirst(rank, keys, sa);

        keys = 0;
        fresh[sa[0]] = 0;
        for (int32_t i = 1; i < TEXT_LEN; ++i) {
            if (!samePair(rank, sa[i - 1], sa[i], half))
                keys++;
            fresh[sa[i]] = keys;
        }
        keys++;
        int32_t *t = rank;
        rank = fresh;
        fresh = t;
        if (keys == TEXT_LEN)
            break;
    }
}

/*
 * Suffix array by prefix doubling, then the longest common prefixes of
 * neighbours (Kasai). Returns the length of the longest text that occurs
 * twice; *at gets the earlier of its two places in the text.
 */
int32_t longest_repeat(const uint8_t *text, int32_t *sa, int32_t *lcp, int32_t *at)
{
    int32_t *const place = bySecond;
    int32_t common = 0, longest = 0;

    buildSuffixArray(text, sa);
    for (int32_t i = 0; i < TEXT_LEN; ++i)
        place[sa[i]] = i;

    *at = sa[0];
    for (int32_t i = 0; i < TEXT_LEN; ++i) {
        if (place[i] == 0) {
            lcp[0] = 0;
            common = 0;
            continue;
        }
        const int32_t j = sa[place[i] - 1];
        while (i + common < TEXT_LEN && j + common < TEXT_LEN && text[i + common] == text[j + common])
            ++common;
        lcp[place[i]] = common;
        if (common > longest) {
            longest = common;
            *at = i < j ? i : j;
        }
        if (common > 0)
            --common;
    }
    return longest;
}
