#include <stdint.h>
#include <stdlib.h>
static uint32_t a[20000];
static int cmp(const void *x, const void *y) {
  uint32_t p = *(uint32_t *)x, q = *(uint32_t *)y;
  return (p > q) - (p < q);
}
__attribute__((export_name("run"))) uint32_t run(uint32_t n) {
  uint32_t h = 0;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t s = k + 1;
    for (int i = 0; i < 20000; i++) {
      s = s * 1664525 + 1013904223;
      a[i] = s;
    }
    qsort(a, 20000, 4, cmp);
    h = h * 31 + a[k % 20000] + a[10000];
  }
  return h;
}
