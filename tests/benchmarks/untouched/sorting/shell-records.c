/* Lagerliste: sorts stock records by one of three orders.
 * The caller passes columns and gets back the permutation. */
#include <stdint.h>

#ifndef ANZAHL
#define ANZAHL 128
#endif

typedef struct Artikel {
    int32_t  nummer;
    int16_t  bestand;
    uint16_t preis;      /* cents */
    uint8_t  regal;
} Artikel;

typedef int (*Vergleich)(const Artikel *, const Artikel *);

static int nach_nummer(const Artikel *a, const Artikel *b)
{
    return (a->nummer > b->nummer) - (a->nummer < b->nummer);
}

/* shelf first, within a shelf the largest stock on top */
static int nach_regal(const Artikel *a, const Artikel *b)
{
    if (a->regal != b->regal)
        return (int)a->regal - (int)b->regal;
    if (a->bestand != b->bestand)
        return (int)b->bestand - (int)a->bestand;
    return nach_nummer(a, b);
}

/* money tied up, dearest first */
static int nach_wert(const Artikel *a, const Artikel *b)
{
    int64_t wa = (int64_t)a->bestand * a->preis;
    int64_t wb = (int64_t)b->bestand * b->preis;
    if (wa != wb)
        return wa < wb ? 1 : -1;
    return nach_nummer(a, b);
}

static const Vergleich vergleiche[] = { nach_nummer, nach_regal, nach_wert };

/* gap sequence of Ciura */
static const int luecken[] = { 701, 301, 132, 57, 23, 10, 4, 1 };

static Artikel lager[ANZAHL];

int32_t sortiere_lager(const int32_t *nummer, const int16_t *bestand,
                       const uint16_t *preis, const uint8_t *regal,
                       unsigned ordnung, uint16_t *reihenfolge)
{
    uint16_t platz[ANZAHL];
    int32_t  schritte = 0;
    Vergleich vergleich;

    if (ordnung >= sizeof vergleiche / sizeof vergleiche[0])
        return -1;
    vergleich = vergleiche[ordnung];

    for (int i = 0; i < ANZAHL; i++) {
        Artikel *a = &lager[i];
        a->nummer  = nummer[i];
        a->bestand = bestand[i];
        a->preis   = preis[i];
        a->regal   = regal[i];
        platz[i]   = (uint16_t)i;
    }

    for (unsigned g = 0; g < sizeof luecken / sizeof luecken[0]; g++) {
        const int luecke = luecken[g];
        for (int i = luecke; i < ANZAHL; i++) {
            const Artikel  neu = lager[i];
            const uint16_t p   = platz[i];
            int j = i;
            while (j >= luecke && vergleich(&lager[j - luecke], &neu) > 0) {
                lager[j] = lager[j - luecke];
                platz[j] = platz[j - luecke];
                j -= luecke;
                schritte++;
            }
            lager[j] = neu;
            platz[j] = p;
        }
    }

    for (int i = 0; i < ANZAHL; i++)
        reihenfolge[i] = platz[i];
    return schritte;
}
