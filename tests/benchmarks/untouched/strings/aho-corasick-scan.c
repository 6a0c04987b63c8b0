#include <stdint.h>
#include <string.h>

#ifndef TEXT
#define TEXT 600
#endif
#ifndef PATTERNS
#define PATTERNS 8
#endif
#ifndef MAXLEN
#define MAXLEN 5
#endif

#define SIGMA  4                            // a, c, g, t
#define STATES (PATTERNS * MAXLEN + 1)
#define NONE   (-1)

struct state {
  int16_t go[SIGMA];
  int16_t fail;
  int16_t report;       // nearest state on the fail chain that ends a pattern
  int16_t ends;         // a pattern that ends here, NONE if none does
};

static struct state automaton[STATES];
static int16_t same_end[PATTERNS];          // next pattern with the same text

static int code(char base) {
  switch (base) {
    case 'a': return 0;
    case 'c': return 1;
    case 'g': return 2;
    case 't': return 3;
    default:  return NONE;
  }
}

static int16_t new_state(int16_t *count) {
  struct state *s = &automaton[*count];
  memset(s->go, 0xff, sizeof s->go);
  s->fail = 0;
  s->report = NONE;
  s->ends = NONE;
  return (*count)++;
}

static void build(const char primer[PATTERNS][MAXLEN], const uint8_t *length) {
  int16_t queue[STATES];
  int16_t count = 0, head = 0, tail = 0;

  new_state(&count);
  for (int16_t p = 0; p < PATTERNS; ++p) {
    int16_t s = 0;
    for (int i = 0; i < length[p]; ++i) {
      const int c = code(primer[p][i]);
      if (automaton[s].go[c] == NONE) {
        const int16_t fresh = new_state(&count);
        automaton[s].go[c] = fresh;
      }
      s = automaton[s].go[c];
    }
    same_end[p] = automaton[s].ends;
    automaton[s].ends = p;
  }

  // breadth first: fail links, and missing transitions filled in
  for (int c = 0; c < SIGMA; ++c) {
    const int16_t s = automaton[0].go[c];
    if (s == NONE) automaton[0].go[c] = 0;
    else           queue[tail++] = s;
  }
  while (head < tail) {
    const int16_t s = queue[head++];
    for (int c = 0; c < SIGMA; ++c) {
      const int16_t child = automaton[s].go[c];
      const int16_t other = automaton[automaton[s].fail].go[c];
      if (child == NONE) {
        automaton[s].go[c] = other;
        continue;
      }
      automaton[child].fail = other;
      automaton[child].report = automaton[other].ends != NONE ? other : automaton[other].report;
      queue[tail++] = child;
    }
  }
}

/* The sequencer delivers bases as 0..3 and 4 for "unreadable".
   hits[p] counts occurrences of primer p, first[p] is the offset behind the
   first one (0 if there is none). Returns the number of hits in all. */
uint32_t scan_primers(const uint8_t *bases, const uint8_t *primer_codes, const uint8_t *length,
                      uint32_t *hits, uint32_t *first) {
  static const char letter[] = "acgtn";
  char primer[PATTERNS][MAXLEN];
  uint32_t total = 0;
  int16_t s = 0;

  for (int p = 0; p < PATTERNS; ++p) {
    for (int i = 0; i < MAXLEN; ++i)
      primer[p][i] = letter[primer_codes[p * MAXLEN + i] & 3];
    hits[p] = first[p] = 0;
  }
  build((const char (*)[MAXLEN])primer, length);

  for (uint32_t i = 0; i < TEXT; ++i) {
    const int c = code(letter[bases[i] < 5 ? bases[i] : 4]);
    if (c == NONE) {
      s = 0;
      continue;
    }
    s = automaton[s].go[c];
    for (int16_t r = automaton[s].ends != NONE ? s : automaton[s].report; r != NONE;
         r = automaton[r].report)
      for (int16_t p = automaton[r].ends; p != NONE; p = same_end[p]) {
        if (hits[p]++ == 0) first[p] = i + 1;
        ++total;
      }
  }
  return total;
}
