#include <stdint.h>
#ifndef NEQ
#define NEQ 80
#endif
#ifndef NZ
#define NZ 360
#endif

// Lower triangular sparse solve with level scheduling. Input is any square CSR pattern: entries on or
// above the diagonal are ignored, the diagonal is separate and is kept away from zero.

typedef uint32_t idx;

static idx level[NEQ], lvl_start[NEQ + 1], sched[NEQ];

idx sptrsv_levels(const idx *ptr, const idx *ind, const float *val, const float *diag,
                  const float *b, float *x) {
  idx nlev = 0;

  for (idx i = 0; i < NEQ; i++) {
    idx l = 0;
    for (idx k = ptr[i]; k < ptr[i + 1]; k++)
      if (ind[k] < i && level[ind[k]] >= l) l = level[ind[k]] + 1;
    level[i] = l;
    if (l >= nlev) nlev = l + 1;
  }

  // counting sort by level
  for (idx l = 0; l <= nlev; l++) lvl_start[l] = 0;
  for (idx i = 0; i < NEQ; i++) lvl_start[level[i] + 1]++;
  for (idx l = 0; l < nlev; l++) lvl_start[l + 1] += lvl_start[l];
  for (idx i = 0; i < NEQ; i++) sched[lvl_start[level[i]]++] = i;
  for (idx l = nlev; l > 0; l--) lvl_start[l] = lvl_start[l - 1];
  lvl_start[0] = 0;

  for (idx l = 0; l < nlev; l++) {
    for (idx s = lvl_start[l]; s < lvl_start[l + 1]; s++) {   // all independent
      idx i = sched[s];
      float t = b[i];
      for (idx k = ptr[i]; k < ptr[i + 1]; k++)
        if (ind[k] < i) t -= val[k] * x[ind[k]];
      float d = diag[i];
      x[i] = t / (d < 0.0f ? d - 2.0f : d + 2.0f);
    }
  }
  return nlev;
}
