#include <stdint.h>
static uint32_t a[50000];
static void qs(uint32_t *v, int lo, int hi) {
  while (lo < hi) {
    if (hi - lo < 16) {
      for (int i = lo + 1; i <= hi; i++) {
        uint32_t x = v[i];
        int j = i - 1;
        while (j >= lo && v[j] > x) {
          v[j + 1] = v[j];
          j--;
        }
        v[j + 1] = x;
      }
      return;
    }
    uint32_t p = v[(lo + hi) >> 1];
    int i = lo, j = hi;
    while (i <= j) {
      while (v[i] < p)
        i++;
      while (v[j] > p)
        j--;
      if (i <= j) {
        uint32_t t = v[i];
        v[i] = v[j];
        v[j] = t;
        i++;
        j--;
      }
    }
    if (j - lo < hi - i) {
      qs(v, lo, j);
      lo = i;
    } else {
      qs(v, i, hi);
      hi = j;
    }
  }
}
__attribute__((export_name("run"))) uint32_t run(uint32_t n) {
  uint32_t h = 0;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t s = k + 1;
    for (int i = 0; i < 50000; i++) {
      s = s * 1664525 + 1013904223;
      a[i] = s;
    }
    qs(a, 0, 49999);
    h = h * 31 + a[k % 50000] + a[25000];
  }
  return h;
}
