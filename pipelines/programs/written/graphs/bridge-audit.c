#include <stdint.h>
#include <stdbool.h>
#ifndef SITES
#define SITES 80
#endif
#ifndef CABLES
#define CABLES 110
#endif

// Network audit: which cables and which sites are single points of failure?
// Half edges: cable c gives half edges 2c (a->b) and 2c+1 (b->a).

static int16_t first_half[SITES], next_half[2 * CABLES];
static uint16_t tip[2 * CABLES];

static void wire(const uint16_t *a, const uint16_t *b) {
  for (int s = 0; s < SITES; ++s) first_half[s] = -1;
  for (int c = 0; c < CABLES; ++c) {
    tip[2 * c] = b[c];
    tip[2 * c + 1] = a[c];
    next_half[2 * c] = first_half[a[c]];
    first_half[a[c]] = (int16_t)(2 * c);
    next_half[2 * c + 1] = first_half[b[c]];
    first_half[b[c]] = (int16_t)(2 * c + 1);
  }
}

int audit_failures(const uint16_t a[CABLES], const uint16_t b[CABLES], bool cable_critical[CABLES], bool site_critical[SITES]) {
  static uint16_t tin[SITES], low[SITES];
  static int16_t at[SITES], via[SITES];     // half edge to try next, half edge we came by
  static uint16_t stack[SITES];
  uint16_t clock = 0;
  int found = 0;

  wire(a, b);
  for (int s = 0; s < SITES; ++s) { tin[s] = 0; site_critical[s] = false; }
  for (int c = 0; c < CABLES; ++c) cable_critical[c] = false;

  for (uint16_t root = 0; root < SITES; ++root) {
    if (tin[root]) continue;
    int sp = 0, kids = 0;
    stack[sp++] = root;
    tin[root] = low[root] = ++clock;
    at[root] = first_half[root];
    via[root] = -1;
    while (sp) {
      uint16_t v = stack[sp - 1];
      int h = at[v];
      if (h >= 0) {
        at[v] = next_half[h];
        if (via[v] >= 0 && h == (via[v] ^ 1)) continue;   // back over the same cable
        uint16_t w = tip[h];
        if (tin[w]) {
          if (tin[w] < low[v]) low[v] = tin[w];
        } else {
          tin[w] = low[w] = ++clock;
          at[w] = first_half[w];
          via[w] = (int16_t)h;
          stack[sp++] = w;
        }
        continue;
      }
      --sp;
      if (!sp) break;
      uint16_t p = stack[sp - 1];
      if (low[v] < low[p]) low[p] = low[v];
      if (low[v] > tin[p]) { cable_critical[via[v] >> 1] = true; ++found; }
      if (p == root) ++kids;
      else if (low[v] >= tin[p]) site_critical[p] = true;
    }
    site_critical[root] = kids > 1;
  }
  for (int s = 0; s < SITES; ++s) found += site_critical[s] ? 1000 : 0;
  return found;
}
