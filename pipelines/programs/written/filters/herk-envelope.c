#ifndef M
#define M 300
#endif
#ifndef W
#define W 15      // odd
#endif

// flat structuring element, 3 comparisons per sample (van Herk / Gil-Werman).
// opening and closing averaged: baseline of an ECG strip.

static int pre[M + 2 * W], suf[M + 2 * W], tmpA[M], tmpB[M];

static inline int mx(int a, int b) { return a > b ? a : b; }
static inline int mn(int a, int b) { return a < b ? a : b; }

static void sweep(const int *src, int *dst, int (*op)(int, int), int neutral) {
  const int r = W / 2, total = M + 2 * r;
  for (int i = 0; i < total; i++) {
    int v = (i < r || i >= r + M) ? neutral : src[i - r];
    pre[i] = i % W ? op(pre[i - 1], v) : v;
  }
  for (int i = total - 1; i >= 0; i--) {
    int v = (i < r || i >= r + M) ? neutral : src[i - r];
    suf[i] = (i % W == W - 1 || i == total - 1) ? v : op(suf[i + 1], v);
  }
  for (int i = 0; i < M; i++) dst[i] = op(suf[i], pre[i + W - 1]);
}

void ecg_baseline(const int *ecg, int *flat) {
  const int lo = -(1 << 30), hi = 1 << 30;
  sweep(ecg, tmpA, mn, hi);
  sweep(tmpA, tmpA, mx, lo);
  sweep(ecg, tmpB, mx, lo);
  sweep(tmpB, tmpB, mn, hi);
  for (int i = 0; i < M; i++) flat[i] = ecg[i] - (tmpA[i] + tmpB[i]) / 2;
}
