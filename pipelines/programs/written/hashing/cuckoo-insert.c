#include <stddef.h>

#ifndef BUCKETS
#define BUCKETS 128      /* power of two */
#endif
#ifndef KEYS
#define KEYS 160
#endif
#define MAXKICK 40

static unsigned tbl[2][BUCKETS];   /* 0 = empty */

static inline unsigned h1(unsigned k) { return (k * 2654435761u) >> 7; }
static inline unsigned h2(unsigned k) { k ^= k >> 15; k *= 0x2c1b3c6du; return k ^ (k >> 12); }

static unsigned slot_of(int which, unsigned k)
{
  return (which ? h2(k) : h1(k)) & (BUCKETS - 1);
}

static int cuckoo_find(unsigned k)
{
  for (int w = 0; w < 2; ++w)
    if (tbl[w][slot_of(w, k)] == k) return w + 1;
  return 0;
}

/* returns number of displacements, or -1 when the chain got too long;
   in that case *victim receives the homeless key */
static int cuckoo_put(unsigned k, unsigned *victim)
{
  int w = 0, n = 0;
  if (cuckoo_find(k)) return 0;
  while (n < MAXKICK) {
    unsigned s = slot_of(w, k);
    unsigned old = tbl[w][s];
    tbl[w][s] = k;
    if (old == 0) return n;
    k = old;
    w ^= 1;
    n++;
  }
  *victim = k;
  return -1;
}

size_t cuckoo_build(const unsigned keys[KEYS], unsigned stash[8], unsigned char where[KEYS],
                    unsigned *kicks)
{
  size_t nstash = 0, i;
  unsigned total = 0;

  for (i = 0; i < BUCKETS; ++i) tbl[0][i] = tbl[1][i] = 0;
  for (i = 0; i < 8; ++i) stash[i] = 0;

  for (i = 0; i < KEYS; ++i) {
    unsigned v = 0;
    int r = cuckoo_put(keys[i], &v);
    if (r < 0) {
      total += MAXKICK;
      if (nstash == 8) break;            /* a rehash would be due here */
      stash[nstash++] = v;
    } else
      total += (unsigned)r;
  }
  /* verify: 1/2 = table, 3 = stash, 0 = lost */
  for (i = 0; i < KEYS; ++i) {
    int w = cuckoo_find(keys[i]);
    if (!w)
      for (size_t j = 0; j < nstash; ++j)
        if (stash[j] == keys[i]) { w = 3; break; }
    where[i] = (unsigned char)w;
  }
  *kicks = total;
  return nstash;
}
