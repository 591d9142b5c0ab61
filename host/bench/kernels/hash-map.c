#include <stdint.h>
#include <stdlib.h>
#include <string.h>
typedef struct E {
  struct E *n;
  char *k;
  int v;
} E;
static E *tab[4096];
static uint32_t h(const char *s) {
  uint32_t x = 2166136261u;
  while (*s)
    x = (x ^ (uint8_t)*s++) * 16777619u;
  return x;
}
static E *get(const char *k, int add) {
  uint32_t i = h(k) & 4095;
  for (E *e = tab[i]; e; e = e->n)
    if (!strcmp(e->k, k))
      return e;
  if (!add)
    return 0;
  E *e = malloc(sizeof(E));
  e->k = strdup(k);
  e->v = 0;
  e->n = tab[i];
  tab[i] = e;
  return e;
}
__attribute__((export_name("run"))) uint32_t run(uint32_t n) {
  uint32_t s = 1, c = 0;
  for (uint32_t i = 0; i < n; i++) {
    s = s * 1664525 + 1013904223;
    char b[16];
    uint32_t x = (s >> 8) % 5000;
    int j = 0;
    b[j++] = 'k';
    do {
      b[j++] = 'a' + x % 26;
      x /= 26;
    } while (x);
    b[j] = 0;
    E *e = get(b, 1);
    e->v++;
    c += e->v;
  }
  for (int i = 0; i < 4096; i++) {
    E *e = tab[i];
    while (e) {
      E *t = e->n;
      free(e->k);
      free(e);
      e = t;
    }
    tab[i] = 0;
  }
  return c;
}
