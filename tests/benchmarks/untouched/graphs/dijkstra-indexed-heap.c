// Shortest paths with a binary heap that knows where every node sits, so a
// shorter distance moves the node up instead of adding it twice.
#include <stdint.h>

#ifndef V
#define V 64
#endif
#ifndef E
#define E 320
#endif

#define FAR UINT32_MAX

typedef struct { uint16_t to; uint16_t cost; int32_t next; } Arc;

typedef struct {
  uint16_t node[V];
  int      place[V];        // index in node[], -1 when not in the heap
  int      size;
  const uint32_t *key;
} Heap;

static void heapSet(Heap *h, int at, uint16_t v) {
  h->node[at] = v;
  h->place[v] = at;
}

static void heapUp(Heap *h, uint16_t v) {
  int at = h->place[v];
  while (at > 0) {
    const int parent = (at - 1) >> 1;
    const uint16_t p = h->node[parent];
    if (h->key[p] <= h->key[v]) break;
    heapSet(h, at, p);
    at = parent;
  }
  heapSet(h, at, v);
}

static uint16_t heapPop(Heap *h) {
  const uint16_t top = h->node[0];
  const uint16_t v = h->node[--h->size];
  int at = 0;

  h->place[top] = -1;
  if (h->size == 0) return top;
  for (;;) {
    int child = 2 * at + 1;
    if (child >= h->size) break;
    if (child + 1 < h->size && h->key[h->node[child + 1]] < h->key[h->node[child]]) child++;
    if (h->key[h->node[child]] >= h->key[v]) break;
    heapSet(h, at, h->node[child]);
    at = child;
  }
  heapSet(h, at, v);
  return top;
}

// distance[v] = cost of the cheapest way from source, FAR if there is none.
// previous[v] = node before v on it (v itself at the source and out of reach).
// Returns the number of nodes that can be reached.
int shortest_paths(const uint16_t *from, const uint16_t *to, const uint16_t *cost,
                   uint16_t source, uint32_t *distance, uint16_t *previous) {
  static Arc arc[E];
  static int32_t first[V];
  static Heap heap;
  int reached = 0;

  for (int v = 0; v < V; v++) {
    first[v] = -1;
    distance[v] = FAR;
    previous[v] = (uint16_t)v;
    heap.place[v] = -1;
  }
  for (int e = E - 1; e >= 0; e--) {
    arc[e] = (Arc){ .to = to[e], .cost = cost[e], .next = first[from[e]] };
    first[from[e]] = e;
  }

  heap.key = distance;
  heap.size = 1;
  distance[source] = 0;
  heapSet(&heap, 0, source);

  while (heap.size > 0) {
    const uint16_t v = heapPop(&heap);
    reached++;
    for (int32_t e = first[v]; e >= 0; e = arc[e].next) {
      const uint16_t w = arc[e].to;
      const uint32_t d = distance[v] + arc[e].cost;
      if (d >= distance[w]) continue;
      if (heap.place[w] < 0) {
        heap.place[w] = heap.size++;
      }
      distance[w] = d;
      previous[w] = v;
      heapUp(&heap, w);
    }
  }
  return reached;
}
