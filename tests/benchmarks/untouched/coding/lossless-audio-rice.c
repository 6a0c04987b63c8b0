/* Verlustfreie Kodierung eines Stereoblocks: L/R oder Mitte/Seite, lineare
 * Praediktion, Rest mit Rice-Code. Passt der Kode nicht: woertlich. */
#include <stdint.h>
#include <stdlib.h>
#include <math.h>

#ifndef LAENGE
#define LAENGE 128
#endif
#ifndef ORDNUNG
#define ORDNUNG 6
#endif
#define STUECK 32
#define PLATZ (2 * LAENGE)              /* Worte zu 32 Bit */
#define FLUCHT 20

typedef struct { uint32_t *wort; long bits; int voll; } Bitstrom;

static void schreibe(Bitstrom *s, uint32_t wert, int anzahl)
{
  while (anzahl-- > 0) {
    if (s->bits >= 32L * PLATZ) { s->voll = 1; return; }
    if ((wert >> anzahl) & 1u)
      s->wort[s->bits >> 5] |= 0x80000000u >> (s->bits & 31);
    s->bits++;
  }
}

static uint32_t falte(long v)           /* 0,-1,1,-2,2 ... -> 0,1,2,3,4 ... */
{
  return v < 0 ? (uint32_t)(-2 * v - 1) : (uint32_t)(2 * v);
}

static double welch(int i)
{
  double t = (2.0 * i - (LAENGE - 1)) / (LAENGE + 1);
  return 1.0 - t * t;
}

/* Liefert die benutzte Ordnung; ganzzahlige Koeffizienten mit *schiebe Nachkommabits */
static int praediktor(const long *x, int *koeff, int *schiebe)
{
  double r[ORDNUNG + 1], a[ORDNUNG + 1] = {0}, fehler, groesster = 0.0;
  int m, i, benutzt = 0;

  for (m = 0; m <= ORDNUNG; m++) {
    r[m] = 0.0;
    for (i = m; i < LAENGE; i++)
      r[m] += x[i] * welch(i) * x[i - m] * welch(i - m);
  }
  if (r[0] <= 0.0) return 0;                           /* Stille */
  fehler = r[0] * (1.0 + 1e-9);
  for (m = 1; m <= ORDNUNG; m++) {
    double k = r[m], neu[ORDNUNG + 1];
    for (i = 1; i < m; i++) k -= a[i] * r[m - i];
    k /= fehler;
    for (i = 1; i < m; i++) neu[i] = a[i] - k * a[m - i];
    for (i = 1; i < m; i++) a[i] = neu[i];
    a[m] = k;
    benutzt = m;
    fehler *= 1.0 - k * k;
    if (fehler <= 1e-6 * r[0]) break;
  }
  for (i = 1; i <= benutzt; i++)
    groesster = fmax(groesster, fabs(a[i]));
  *schiebe = 10;
  while (*schiebe > 0 && groesster * (1 << *schiebe) > 2047.0)
    --*schiebe;
  for (i = 1; i <= benutzt; i++) {
    double w = fmax(-2047.0, fmin(2047.0, a[i] * (1 << *schiebe)));
    koeff[i - 1] = (int)floor(w + 0.5);
  }
  return benutzt;
}

static void kodiere_kanal(const long *x, Bitstrom *s)
{
  int koeff[ORDNUNG], schiebe = 0, ordnung, i, j, k;
  long rest[LAENGE];

  ordnung = praediktor(x, koeff, &schiebe);
  for (i = 0; i < LAENGE; i++) {
    long long p = 0;
    if (i >= ordnung)
      for (j = 0; j < ordnung; j++)
        p += (long long)koeff[j] * x[i - 1 - j];
    rest[i] = x[i] - (long)(p >> schiebe);
  }
  schreibe(s, (uint32_t)ordnung, 4);
  schreibe(s, (uint32_t)schiebe, 4);
  for (j = 0; j < ordnung; j++)
    schreibe(s, (uint32_t)koeff[j] & 0xFFFu, 12);

  for (i = 0; i < LAENGE; i += STUECK) {
    int ende = i + STUECK < LAENGE ? i + STUECK : LAENGE;
    long best = -1;
    int bestes_k = 0;
    for (k = 0; k < 18; k++) {
      long summe = 0;
      for (j = i; j < ende; j++) {
        uint32_t q = falte(rest[j]) >> k;
        summe += q < FLUCHT ? (long)q + 1 + k : FLUCHT + 24;
      }
      if (best >= 0 && summe > best)
        break;                          /* hinter dem Minimum */
      best = summe;
      bestes_k = k;
    }
    schreibe(s, (uint32_t)bestes_k, 5);
    for (j = i; j < ende && !s->voll; j++) {
      uint32_t u = falte(rest[j]), q = u >> bestes_k;
      if (q >= FLUCHT) {
        schreibe(s, (1u << FLUCHT) - 1u, FLUCHT);
        schreibe(s, u, 24);
      } else {
        schreibe(s, ((1u << q) - 1u) << 1, (int)q + 1);
        schreibe(s, u, bestes_k);
      }
    }
  }
}

long kodiere_stereo(const int16_t links[LAENGE], const int16_t rechts[LAENGE], uint32_t kode[PLATZ])
{
  long a[LAENGE], b[LAENGE], betrag_lr = 0, betrag_ms = 0;
  Bitstrom s = { kode, 0, 0 };
  int i, mitte_seite;

  for (i = 0; i < PLATZ; i++) kode[i] = 0;
  for (i = 1; i < LAENGE; i++) {
    long dl = links[i] - links[i - 1], dr = rechts[i] - rechts[i - 1];
    betrag_lr += labs(dl) + labs(dr);
    betrag_ms += labs((dl + dr) >> 1) + labs(dl - dr);
  }
  mitte_seite = betrag_ms < betrag_lr;
  for (i = 0; i < LAENGE; i++) {
    a[i] = mitte_seite ? (links[i] + rechts[i]) >> 1 : links[i];
    b[i] = mitte_seite ? links[i] - rechts[i] : rechts[i];
  }
  schreibe(&s, (uint32_t)mitte_seite, 1);
  kodiere_kanal(a, &s);
  kodiere_kanal(b, &s);
  if (!s.voll && s.bits < 32L * LAENGE)
    return s.bits;

  for (i = 0; i < LAENGE; i++)
    kode[i] = (uint32_t)(uint16_t)links[i] << 16 | (uint16_t)rechts[i];
  for (; i < PLATZ; i++) kode[i] = 0;
  return -32L * LAENGE;
}
