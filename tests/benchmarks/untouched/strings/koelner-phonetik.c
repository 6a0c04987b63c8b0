/* Groups names that sound alike in German (Cologne phonetics). */
#include <stdint.h>

#ifndef NAMEN
#define NAMEN 80
#endif
#ifndef BREITE
#define BREITE 6        /* longest name */
#endif
#ifndef TABELLE
#define TABELLE 128     /* power of two, more than NAMEN */
#endif

#define MAX_CODE (2 * BREITE)

typedef struct {
    uint8_t laenge;
    char    ziffer[MAX_CODE];
} Lautcode;

static Lautcode gruppen_code[NAMEN];

/* is z one of the letters in liste? z may be 0 = no letter */
static int ist_in(char z, const char *liste)
{
    if (!z)
        return 0;
    while (*liste)
        if (*liste++ == z)
            return 1;
    return 0;
}

/* letter -> digits; the neighbours decide in some cases */
static const char *laut(char davor, char z, char danach)
{
    switch (z) {
    case 'a': case 'e': case 'i': case 'j': case 'o': case 'u': case 'y':
        return "0";
    case 'b':
        return "1";
    case 'p':
        return danach == 'h' ? "3" : "1";
    case 'd': case 't':
        return ist_in(danach, "csz") ? "8" : "2";
    case 'f': case 'v': case 'w':
        return "3";
    case 'g': case 'k': case 'q':
        return "4";
    case 'c':
        if (davor == 0)
            return ist_in(danach, "ahkloqrux") ? "4" : "8";
        if (ist_in(davor, "sz"))
            return "8";
        return ist_in(danach, "ahkoqux") ? "4" : "8";
    case 'x':
        return ist_in(davor, "ckq") ? "8" : "48";
    case 'l':
        return "5";
    case 'm': case 'n':
        return "6";
    case 'r':
        return "7";
    case 's': case 'z':
        return "8";
    default:
        return "";      /* h is silent */
    }
}

static Lautcode verschluesseln(const char *name, int laenge)
{
    Lautcode c = { 0, { 0 } };
    char letzte = 0;
    int  i;

    for (i = 0; i < laenge; i++) {
        const char *z = laut(i > 0 ? name[i - 1] : 0, name[i],
                             i + 1 < laenge ? name[i + 1] : 0);
        for (; *z; z++) {
            /* doubles are dropped first, then every 0 but one in front */
            if (*z != letzte && (*z != '0' || c.laenge == 0))
                c.ziffer[c.laenge++] = *z;
            letzte = *z;
        }
    }
    return c;
}

static uint32_t streuwert(const Lautcode *c)
{
    uint32_t h = 2166136261u;
    for (int i = 0; i < c->laenge; i++)
        h = (h ^ (uint8_t)c->ziffer[i]) * 16777619u;
    return h ^ h >> 15;
}

static int gleich(const Lautcode *a, const Lautcode *b)
{
    if (a->laenge != b->laenge)
        return 0;
    for (int i = 0; i < a->laenge; i++)
        if (a->ziffer[i] != b->ziffer[i])
            return 0;
    return 1;
}

/* gruppe[i]: number of the group of name i; groesse[g]: its members.
   Returns the number of groups. */
int namen_gruppieren(const char namen[NAMEN][BREITE], const uint8_t laenge[NAMEN],
                     uint8_t gruppe[NAMEN], uint8_t groesse[NAMEN])
{
    int16_t platz[TABELLE];
    int     gruppen = 0;

    for (int i = 0; i < TABELLE; i++)
        platz[i] = -1;
    for (int i = 0; i < NAMEN; i++)
        groesse[i] = 0;

    for (int i = 0; i < NAMEN; i++) {
        Lautcode c = verschluesseln(namen[i], laenge[i]);
        uint32_t p = streuwert(&c) & (TABELLE - 1);

        while (platz[p] >= 0 && !gleich(&gruppen_code[platz[p]], &c))
            p = (p + 1) & (TABELLE - 1);
        if (platz[p] < 0) {
            gruppen_code[gruppen] = c;
            platz[p] = (int16_t)gruppen++;
        }
        gruppe[i] = (uint8_t)platz[p];
        groesse[platz[p]]++;
    }
    return gruppen;
}
