/*---------------------------------------------------------------------------
  Post processing of a one-stage object detector.

  raw  : GRID x GRID cells, ANCHORS boxes per cell, five bytes per box
         (x, y, w, h, objectness), each the output of a sigmoid times 255.
  kept : boxes that survive greedy non-maximum suppression, best first.
 ---------------------------------------------------------------------------*/
#include <stdint.h>

#ifndef GRID
#define GRID 5
#endif

#define ANCHORS    3
#define MAX_BOXES  (GRID * GRID * ANCHORS)
#define STRIDE     16.0f
#define IOU_LIMIT  0.45f

typedef struct { float x0, y0, x1, y1; } Rect;

typedef struct {
  Rect    rect;
  float   area;
  uint8_t score;
  uint8_t dead;
} Candidate;

static const float anchorSize[ANCHORS][2] = {
  { 12.0f, 16.0f }, { 30.0f, 22.0f }, { 24.0f, 48.0f }
};

static Candidate cand[MAX_BOXES];

static inline float fmin2(float a, float b) { return a < b ? a : b; }
static inline float fmax2(float a, float b) { return a > b ? a : b; }

static int overlaps(const Candidate *a, const Candidate *b)
{
  float w = fmin2(a->rect.x1, b->rect.x1) - fmax2(a->rect.x0, b->rect.x0);
  float h = fmin2(a->rect.y1, b->rect.y1) - fmax2(a->rect.y0, b->rect.y0);

  if (w <= 0.0f || h <= 0.0f)
    return 0;
  float inter = w * h;
  /* inter / union > limit, without the division */
  return inter > IOU_LIMIT * (a->area + b->area - inter);
}

static int decode(const uint8_t *raw, uint8_t min_score)
{
  const float unit = 1.0f / 255.0f;
  const float edge = GRID * STRIDE;
  int n = 0;

  for (int gy = 0; gy < GRID; gy++)
    for (int gx = 0; gx < GRID; gx++)
      for (int a = 0; a < ANCHORS; a++, raw += 5) {
        if (raw[4] < min_score)
          continue;

        float cx = (2.0f * raw[0] * unit - 0.5f + gx) * STRIDE;
        float cy = (2.0f * raw[1] * unit - 0.5f + gy) * STRIDE;
        float sw = 2.0f * raw[2] * unit;
        float sh = 2.0f * raw[3] * unit;
        float hw = 0.5f * sw * sw * anchorSize[a][0];
        float hh = 0.5f * sh * sh * anchorSize[a][1];
        Candidate *c = &cand[n];

        c->rect.x0 = fmax2(cx - hw, 0.0f);
        c->rect.y0 = fmax2(cy - hh, 0.0f);
        c->rect.x1 = fmin2(cx + hw, edge);
        c->rect.y1 = fmin2(cy + hh, edge);
        if (c->rect.x1 - c->rect.x0 < 1.0f || c->rect.y1 - c->rect.y0 < 1.0f)
          continue;                                   /* too thin to matter */
        c->area = (c->rect.x1 - c->rect.x0) * (c->rect.y1 - c->rect.y0);
        c->score = raw[4];
        c->dead = 0;
        n++;
      }
  return n;
}

int detect_postprocess(const uint8_t *raw, uint8_t min_score, Rect *kept, uint8_t *kept_score)
{
  int n = decode(raw, min_score);
  int kept_count = 0;

  for (;;) {
    int best = -1;
    for (int i = 0; i < n; i++)
      if (!cand[i].dead && (best < 0 || cand[i].score > cand[best].score))
        best = i;
    if (best < 0)
      break;

    kept[kept_count] = cand[best].rect;
    kept_score[kept_count++] = cand[best].score;
    cand[best].dead = 1;
    for (int i = 0; i < n; i++)
      if (!cand[i].dead && overlaps(&cand[best], &cand[i]))
        cand[i].dead = 1;
  }
  return kept_count;
}
