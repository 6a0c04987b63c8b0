/* Key stream from a shuffled deck of 54 (two jokers), after the card cipher
   for field use.  Cards 0..51 are ordinary, 52 and 53 are jokers A and B. */
#include <string.h>

#ifndef LETTERS
#define LETTERS 60
#endif

#define DECK   54
#define JOKERA 52
#define JOKERB 53

typedef unsigned char card;

static card deck[DECK];

static int find(card c)
{
    int i = 0;
    while (i < DECK - 1 && deck[i] != c)
        ++i;
    return i;
}

static void move_down(card c)
{
    int i = find(c);
    if (i == DECK - 1) {
        /* wraps below the top card */
        memmove(deck + 2, deck + 1, DECK - 2);
        deck[1] = c;
    } else {
        deck[i] = deck[i + 1];
        deck[i + 1] = c;
    }
}

static void triple_cut(void)
{
    card t[DECK];
    int a = find(JOKERA), b = find(JOKERB), n = 0;
    if (a > b) { int x = a; a = b; b = x; }
    for (int i = b + 1; i < DECK; i++) t[n++] = deck[i];
    for (int i = a; i <= b; i++) t[n++] = deck[i];
    for (int i = 0; i < a; i++) t[n++] = deck[i];
    memcpy(deck, t, DECK);
}

static int value(card c) { return c >= JOKERA ? 53 : c + 1; }

static void count_cut(int n)
{
    card t[DECK];
    if (n >= DECK - 1) return;
    memcpy(t, deck + n, (size_t)(DECK - 1 - n));
    memcpy(t + DECK - 1 - n, deck, (size_t)n);
    memcpy(deck, t, DECK - 1);         /* bottom card stays */
}

/* Encipher letters 0..25 in place; the key permutation orders the deck.
   Returns how many times a joker came up as output and was skipped. */
int deck_encipher(const int key[DECK], int msg[LETTERS])
{
    int skipped = 0;

    for (int i = 0; i < DECK; i++) deck[i] = (card)key[i];
    for (int i = 0; i < LETTERS; ) {
        int v;
        move_down(JOKERA);
        move_down(JOKERB);
        move_down(JOKERB);
        triple_cut();
        count_cut(value(deck[DECK - 1]));
        v = deck[value(deck[0])];
        if (v >= JOKERA) { ++skipped; continue; }
        msg[i] = (msg[i] + v + 1) % 26;
        ++i;
    }
    return skipped;
}
