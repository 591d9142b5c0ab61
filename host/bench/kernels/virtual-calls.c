#include <stdint.h>
typedef struct S S;
struct S {
  uint32_t (*area)(S *, uint32_t);
  uint32_t a, b;
};
static uint32_t sq(S *s, uint32_t x) { return s->a * s->a + x; }
static uint32_t rc(S *s, uint32_t x) { return s->a * s->b ^ x; }
static uint32_t tr(S *s, uint32_t x) { return (s->a * s->b >> 1) + x; }
static uint32_t ci(S *s, uint32_t x) {
  uint32_t r = x;
  for (uint32_t i = 0; i < (s->a & 3); i++)
    r = r * 3 + s->b;
  return r;
}
static S o[256];
__attribute__((export_name("run"))) uint32_t run(uint32_t n) {
  uint32_t (*f[4])(S *, uint32_t) = {sq, rc, tr, ci};
  for (int i = 0; i < 256; i++) {
    o[i].area = f[(i * 7) & 3];
    o[i].a = i;
    o[i].b = i * 3;
  }
  uint32_t h = 0;
  for (uint32_t k = 0; k < n; k++)
    for (int i = 0; i < 256; i++)
      h = o[i].area(&o[i], h);
  return h;
}
