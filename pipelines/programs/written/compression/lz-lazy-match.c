#include <string.h>
#ifndef SRC
#define SRC 1024
#endif
#ifndef WIN
#define WIN 512
#endif
#define HBITS 9
#define HSIZE (1 << HBITS)
#define MINM 3
#define MAXM 66
#define DEPTH 12

typedef unsigned char u8;
typedef unsigned short u16;

static short head[HSIZE];
static short prev_[SRC];

#define HASH3(p) ((((p)[0] << 6) ^ ((p)[1] << 3) ^ (p)[2]) & (HSIZE - 1))

static int longest(const u8 *src, int pos, int *dist)
{
   int best = MINM - 1, d = 0, tries = DEPTH;
   int limit = SRC - pos < MAXM ? SRC - pos : MAXM;
   int cand;
   if (limit < MINM) return 0;
   for (cand = head[HASH3(src + pos)]; cand >= 0 && tries-- > 0; cand = prev_[cand]) {
      int l = 0;
      if (pos - cand > WIN) break;
      if (best < limit && src[cand + best] != src[pos + best]) continue;   /* cannot improve */
      while (l < limit && src[cand + l] == src[pos + l]) l++;
      if (l > best) { best = l; d = pos - cand; if (l == limit) break; }
   }
   *dist = d;
   return d ? best : 0;
}

static void enter(const u8 *src, int pos)
{
   int h;
   if (pos + MINM > SRC) return;
   h = HASH3(src + pos);
   prev_[pos] = head[h];
   head[h] = (short)pos;
}

/*
 * Parse src into literals and matches. Tokens: a literal is its value; a match is
 * 0x8000 | length, followed by the distance. Returns the number of 16 bit words.
 */
int lz_parse(const u8 *src, u16 *tok)
{
   int pos = 0, n = 0, plen = 0, pdist = 0;      /* pending match of pos - 1 */

   memset(head, 0xff, sizeof head);
   while (pos < SRC) {
      int dist = 0, len = longest(src, pos, &dist);
      enter(src, pos);
      if (plen >= MINM && plen >= len) {
         int k;
         tok[n++] = (u16)(0x8000 | plen);
         tok[n++] = (u16)pdist;
         for (k = 1; k < plen - 1; k++) enter(src, pos + k);
         pos += plen - 1;
         plen = 0;
         continue;
      }
      if (plen) tok[n++] = src[pos - 1];         /* the later match is longer */
      if (len >= MINM) { plen = len; pdist = dist; }
      else { plen = 0; tok[n++] = src[pos]; }
      pos++;
   }
   if (plen) tok[n++] = src[SRC - 1];
   return n;
}
