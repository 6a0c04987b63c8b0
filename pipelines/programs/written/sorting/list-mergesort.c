#include <stddef.h>
#include <stdio.h>
#ifndef NODES
#define NODES 150
#endif

struct knoten {
    struct knoten *naechster;
    double schluessel;
    int nummer;
};

static struct knoten speicher[NODES];

/* mischt zwei sortierte Listen; stabil */
static struct knoten *mische(struct knoten *a, struct knoten *b)
{
    struct knoten kopf, *ende = &kopf;
    while (a && b) {
        if (b->schluessel < a->schluessel) { ende->naechster = b; b = b->naechster; }
        else                               { ende->naechster = a; a = a->naechster; }
        ende = ende->naechster;
    }
    ende->naechster = a ? a : b;
    return kopf.naechster;
}

/* Bottom-up: Feld von Listen, Platz i haelt 2^i Knoten oder nichts. */
static struct knoten *sortiere(struct knoten *liste)
{
    struct knoten *faecher[20] = { NULL };
    int i;
    while (liste) {
        struct knoten *lauf = liste;
        liste = liste->naechster;
        lauf->naechster = NULL;
        for (i = 0; faecher[i]; i++) {
            lauf = mische(faecher[i], lauf);
            faecher[i] = NULL;
        }
        faecher[i] = lauf;
    }
    for (i = 0; i < 20; i++)
        liste = faecher[i] ? (liste ? mische(faecher[i], liste) : faecher[i]) : liste;
    return liste;
}

double liste_sortieren(const double *werte, int *reihenfolge)
{
    struct knoten *k;
    double abstand = 0;
    int n = 0;

    for (n = 0; n < NODES; n++) {
        speicher[n].schluessel = werte[n];
        speicher[n].nummer = n;
        speicher[n].naechster = n + 1 < NODES ? &speicher[n + 1] : NULL;
    }
    n = 0;
    for (k = sortiere(&speicher[0]); k; k = k->naechster) {
        reihenfolge[n++] = k->nummer;
        if (k->naechster && k->naechster->schluessel - k->schluessel > abstand)
            abstand = k->naechster->schluessel - k->schluessel;
    }
    return abstand;     /* groesste Luecke zwischen Nachbarn */
}

int main(void)
{
    double w[NODES];
    int r[NODES];
    for (int i = 0; i < NODES; i++)
        w[i] = (i * 7919 % 1009) / 10.0;
    double luecke = liste_sortieren(w, r);
    printf("%g %d\n", luecke, r[0]);
    return 0;
}
