// CoreMark-like: linked list find/reverse/mergesort, int matrix, state machine, crc16
#include <stdint.h>
#include <stdlib.h>
typedef struct L {
  struct L *n;
  int16_t d, i;
} L;
static uint16_t crcu8(uint8_t d, uint16_t c) {
  for (int i = 0; i < 8; i++) {
    uint8_t x = (d & 1) ^ (c & 1);
    d >>= 1;
    if (x) {
      c ^= 0x4002;
      c >>= 1;
      c |= 0x8000;
    } else {
      c >>= 1;
      c &= 0x7fff;
    }
  }
  return c;
}
__attribute__((noinline)) static uint16_t crc16(uint16_t v, uint16_t c) {
  c = crcu8((uint8_t)v, c);
  return crcu8((uint8_t)(v >> 8), c);
}
static L nodes[512];
static L *rev(L *l) {
  L *r = 0;
  while (l) {
    L *t = l->n;
    l->n = r;
    r = l;
    l = t;
  }
  return r;
}
static L *find(L *l, int v) {
  while (l && l->d != v)
    l = l->n;
  return l;
}
typedef int (*C)(L *, L *);
static int cd(L *a, L *b) { return a->d - b->d; }
static int ci(L *a, L *b) { return a->i - b->i; }
__attribute__((noinline)) static L *msort(L *list, C cmp) {
  int in = 1;
  for (;;) {
    L *p = list, *tail = 0;
    list = 0;
    int nm = 0;
    while (p) {
      nm++;
      L *q = p;
      int ps = 0;
      for (int i = 0; i < in; i++) {
        ps++;
        q = q->n;
        if (!q)
          break;
      }
      int qs = in;
      while (ps > 0 || (qs > 0 && q)) {
        L *e;
        if (ps == 0) {
          e = q;
          q = q->n;
          qs--;
        } else if (qs == 0 || !q) {
          e = p;
          p = p->n;
          ps--;
        } else if (cmp(p, q) <= 0) {
          e = p;
          p = p->n;
          ps--;
        } else {
          e = q;
          q = q->n;
          qs--;
        }
        if (tail)
          tail->n = e;
        else
          list = e;
        tail = e;
      }
      p = q;
    }
    tail->n = 0;
    if (nm <= 1)
      return list;
    in *= 2;
  }
}
static int16_t MA[24 * 24], MB[24 * 24];
static int32_t MC[24 * 24];
__attribute__((noinline)) static int32_t mat(int16_t k) {
  int N = 24;
  for (int i = 0; i < N * N; i++)
    MA[i] += k;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      int32_t s = 0;
      for (int l = 0; l < N; l++)
        s += (int32_t)MA[i * N + l] * MB[l * N + j];
      MC[i * N + j] = s;
    }
  int32_t r = 0;
  for (int i = 0; i < N * N; i++) {
    r += MC[i] > 1000 ? 10 : MC[i] & 3;
  }
  for (int i = 0; i < N * N; i++)
    MA[i] -= k;
  return r;
}
enum { ST, INT, FL, EXP, SCI, INV, S1, S2 };
static const char *num[] = {"5012",     "1234",     "-874",     "+122",     "35.54400", ".1234500",
                            "-110.700", "+0.64400", "5.500e+3", "-.123e-2", "-87e+832", "+0.6e-12",
                            "T0.3e-1F", "-T.T++Tq", "1T3.4e4z", "34.0e-T^"};
__attribute__((noinline)) static int st(const char **s, uint32_t *tc) {
  const char *p = *s;
  int z = ST;
  for (; *p && z != INV; p++) {
    char c = *p;
    if (c == ',') {
      p++;
      break;
    }
    int dg = c >= '0' && c <= '9';
    switch (z) {
    case ST:
      if (dg)
        z = INT;
      else if (c == '+' || c == '-')
        z = S1;
      else if (c == '.')
        z = FL;
      else {
        z = INV;
        tc[INV]++;
      }
      tc[ST]++;
      break;
    case S1:
      if (dg) {
        z = INT;
        tc[S1]++;
      } else if (c == '.') {
        z = FL;
        tc[S1]++;
      } else {
        z = INV;
        tc[S1]++;
      }
      break;
    case INT:
      if (c == '.') {
        z = FL;
        tc[INT]++;
      } else if (!dg) {
        z = INV;
        tc[INT]++;
      }
      break;
    case FL:
      if (c == 'E' || c == 'e') {
        z = S2;
        tc[FL]++;
      } else if (!dg) {
        z = INV;
        tc[FL]++;
      }
      break;
    case S2:
      if (c == '+' || c == '-') {
        z = EXP;
        tc[S2]++;
      } else {
        z = INV;
        tc[S2]++;
      }
      break;
    case EXP:
      if (dg) {
        z = SCI;
        tc[EXP]++;
      } else {
        z = INV;
        tc[EXP]++;
      }
      break;
    case SCI:
      if (!dg) {
        z = INV;
        tc[INV]++;
      }
      break;
    }
  }
  *s = p;
  return z;
}
static char sb[4096];
__attribute__((export_name("run"))) uint32_t run(uint32_t n) {
  for (int i = 0; i < 24 * 24; i++) {
    MA[i] = (i * 7) % 97;
    MB[i] = (i * 13) % 89;
  }
  char *q = sb;
  for (int i = 0; i < 300; i++) {
    for (const char *s = num[(i * 5) & 15]; *s;)
      *q++ = *s++;
    *q++ = ',';
  }
  *q = 0;
  uint16_t c = 0;
  for (uint32_t k = 0; k < n; k++) {
    for (int i = 0; i < 512; i++) {
      nodes[i].n = i < 511 ? &nodes[i + 1] : 0;
      nodes[i].d = (int16_t)((i * 7919 + k) & 0x7ff);
      nodes[i].i = i;
    }
    L *l = nodes;
    for (int f = 0; f < 20; f++) {
      L *x = find(l, f * 40);
      if (x)
        c = crc16(x->i, c);
      l = rev(l);
    }
    l = msort(l, cd);
    c = crc16(l->d, c);
    l = msort(l, ci);
    c = crc16(l->n->d, c);
    c = crc16(mat((int16_t)k), c);
    uint32_t tc[8] = {0};
    uint32_t fs[8] = {0};
    const char *s = sb;
    while (*s) {
      fs[st(&s, tc)]++;
    }
    for (int i = 0; i < 8; i++) {
      c = crc16(tc[i], c);
      c = crc16(fs[i], c);
    }
  }
  return c;
}
