#include <string.h>

#ifndef TXTLEN
#define TXTLEN 256
#endif

/* Rotor machine with three moving wheels, plugboard and reflector.
   Wheels I..V of the service set; notch letter is where the next wheel is taken along. */
static const char *const WHEEL[5] = {
    "EKMFLGDQVZNTOWYHXUSPAIBRCJ",
    "AJDKSIRUXBLHWTMCQGZNPYFVOE",
    "BDFHJLCPRTXVZNYEIWGAKMUSQO",
    "ESOVPZJAYQUIRHXLNFTGKDCMWB",
    "VZBRGITYUPSDNHLXAWMJQOFECK",
};
static const char NOTCH[] = "QEVJZ";
static const char UKW_B[] = "YRUHQSLDPXNGOKMIEBFZCWVJAT";

struct Walze {
    signed char vor[26];
    signed char zurueck[26];
    int stellung;
    int ring;
    int kerbe;
};

static int mod26(int x)
{
    x %= 26;
    return x < 0 ? x + 26 : x;
}

static void walze_einsetzen(struct Walze *w, int nr, int ring, int stellung)
{
    int i;
    for (i = 0; i < 26; i++) {
        int c = WHEEL[nr][i] - 'A';
        w->vor[i] = (signed char)c;
        w->zurueck[c] = (signed char)i;
    }
    w->ring = ring;
    w->stellung = stellung;
    w->kerbe = NOTCH[nr] - 'A';
}

static int durch(const struct Walze *w, int c, int rueck)
{
    int versatz = w->stellung - w->ring;
    c = mod26(c + versatz);
    c = rueck ? w->zurueck[c] : w->vor[c];
    return mod26(c - versatz);
}

/* order: wheel numbers (0..4); letters outside a..z pass unchanged and do not step.
   Returns the number of steps of the slowest wheel. */
int rotor_encipher(const char *text, char *out, const unsigned char order[3],
                   const unsigned char rings[3], const unsigned char start[3],
                   const unsigned char plugs[26])
{
    struct Walze w[3];
    signed char stecker[26];
    int i, langsam = 0;

    for (i = 0; i < 3; i++)
        walze_einsetzen(&w[i], order[i] % 5, rings[i] % 26, start[i] % 26);

    /* pair up neighbours of the given permutation: six cables */
    for (i = 0; i < 26; i++)
        stecker[i] = (signed char)i;
    for (i = 0; i < 12; i += 2) {
        stecker[plugs[i]] = (signed char)plugs[i + 1];
        stecker[plugs[i + 1]] = (signed char)plugs[i];
    }

    memset(out, 0, TXTLEN);
    for (i = 0; i < TXTLEN && text[i]; i++) {
        int c = text[i] - 'a', k;

        if (c < 0 || c > 25) {
            out[i] = text[i];
            continue;
        }
        /* double step of the middle wheel */
        if (w[1].stellung == w[1].kerbe) {
            w[0].stellung = mod26(w[0].stellung + 1);
            w[1].stellung = mod26(w[1].stellung + 1);
            langsam++;
        } else if (w[2].stellung == w[2].kerbe)
            w[1].stellung = mod26(w[1].stellung + 1);
        w[2].stellung = mod26(w[2].stellung + 1);

        c = stecker[c];
        for (k = 2; k >= 0; k--) c = durch(&w[k], c, 0);
        c = UKW_B[c] - 'A';
        for (k = 0; k < 3; k++) c = durch(&w[k], c, 1);
        out[i] = (char)('A' + stecker[c]);
    }
    return langsam;
}
