#include <stdint.h>
#define NI __attribute__((noinline))
typedef struct {
  uint32_t *d;
  uint32_t n, cap;
} Vec;
static uint32_t st[4096];
static Vec v = {st, 0, 4096};
NI uint32_t vget(Vec *v, uint32_t i) { return v->d[i]; }
NI void vset(Vec *v, uint32_t i, uint32_t x) { v->d[i] = x; }
NI uint32_t vlen(Vec *v) { return v->n; }
NI void vpush(Vec *v, uint32_t x) {
  if (v->n < v->cap)
    v->d[v->n++] = x;
}
NI uint32_t mix(uint32_t a, uint32_t b) { return (a ^ (b >> 3)) * 0x9E3779B1u; }
__attribute__((export_name("run"))) uint32_t run(uint32_t n) {
  uint32_t h = 0;
  for (uint32_t k = 0; k < n; k++) {
    v.n = 0;
    for (int i = 0; i < 4096; i++)
      vpush(&v, i * k);
    for (uint32_t i = 0; i < vlen(&v); i++) {
      uint32_t x = mix(vget(&v, i), h);
      vset(&v, (x & 4095), x);
      h = mix(h, x);
    }
  }
  return h;
}
