#include <stdint.h>
/* XTEA im CBC-Modus mit Auffuellung nach PKCS#7 */
#ifndef LAENGE
#define LAENGE 123
#endif
#define RUNDEN 32
#define DELTA  0x9E3779B9u

typedef struct
{
    uint32_t links;
    uint32_t rechts;
} Block;

static uint32_t rundenSchluessel[2 * RUNDEN];

static void SchluesselAufbereiten(const uint32_t *schluessel)
{
    uint32_t summe = 0;
    int i;

    for (i = 0; i < RUNDEN; i++)
    {
        rundenSchluessel[2 * i] = summe + schluessel[summe & 3];
        summe += DELTA;
        rundenSchluessel[2 * i + 1] = summe + schluessel[(summe >> 11) & 3];
    }
}

static Block Verschluesseln(Block b)
{
    const uint32_t *rs = rundenSchluessel;
    int runde = RUNDEN;

    do
    {
        b.links  += (((b.rechts << 4) ^ (b.rechts >> 5)) + b.rechts) ^ *rs++;
        b.rechts += (((b.links << 4) ^ (b.links >> 5)) + b.links) ^ *rs++;
    } while (--runde);
    return b;
}

static uint32_t Wort(const uint8_t *p)
{
    return ((uint32_t)p[0] << 24) | ((uint32_t)p[1] << 16) | ((uint32_t)p[2] << 8) | p[3];
}

static uint8_t *Ablegen(uint8_t *ziel, uint32_t w)
{
    *ziel++ = (uint8_t)(w >> 24);
    *ziel++ = (uint8_t)(w >> 16);
    *ziel++ = (uint8_t)(w >> 8);
    *ziel++ = (uint8_t)w;
    return ziel;
}

/* liefert die Zahl der geschriebenen Bytes, -1 bei falscher Laenge */
int XteaCbc(const uint8_t *klartext, int anzahl, const uint32_t schluessel[4],
            const uint8_t startwert[8], uint8_t *chiffrat)
{
    uint8_t  rest[8];
    uint8_t *ziel = chiffrat;
    Block    kette;
    int      i, offen;

    if (anzahl < 0 || anzahl > LAENGE)
        return -1;

    SchluesselAufbereiten(schluessel);
    kette.links  = Wort(startwert);
    kette.rechts = Wort(startwert + 4);

    for (offen = anzahl; offen >= 8; offen -= 8, klartext += 8)
    {
        kette.links  ^= Wort(klartext);
        kette.rechts ^= Wort(klartext + 4);
        kette = Verschluesseln(kette);
        ziel  = Ablegen(ziel, kette.links);
        ziel  = Ablegen(ziel, kette.rechts);
    }

    /* letzter Block: Rest und Fuellbytes, auch wenn der Rest leer ist */
    for (i = 0; i < 8; i++)
        rest[i] = (i < offen) ? klartext[i] : (uint8_t)(8 - offen);
    kette.links  ^= Wort(rest);
    kette.rechts ^= Wort(rest + 4);
    kette = Verschluesseln(kette);
    ziel  = Ablegen(ziel, kette.links);
    ziel  = Ablegen(ziel, kette.rechts);

    return (int)(ziel - chiffrat);
}
