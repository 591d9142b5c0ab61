#include <stdint.h>
#include <stdlib.h>
#include <string.h>
typedef struct V {
  int t;
  double n;
  char *s;
  struct V **c;
  char **k;
  int nc, cap;
} V;
static const char *p;
static void ws() {
  while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')
    p++;
}
static V *val();
static V *mk(int t) {
  V *v = calloc(1, sizeof(V));
  v->t = t;
  return v;
}
static char *str() {
  p++;
  const char *s = p;
  size_t n = 0;
  while (*p != '"') {
    if (*p == '\\')
      p++;
    p++;
    n++;
  }
  char *r = malloc(n + 1);
  char *q = r;
  const char *z = s;
  while (z < p) {
    if (*z == '\\') {
      z++;
      *q++ = *z == 'n' ? '\n' : *z;
      z++;
    } else
      *q++ = *z++;
  }
  *q = 0;
  p++;
  return r;
}
static void push(V *v, char *k, V *c) {
  if (v->nc == v->cap) {
    v->cap = v->cap ? v->cap * 2 : 4;
    v->c = realloc(v->c, v->cap * sizeof(V *));
    v->k = realloc(v->k, v->cap * sizeof(char *));
  }
  v->k[v->nc] = k;
  v->c[v->nc++] = c;
}
static double num() {
  double r = 0, sc = 1;
  int neg = 0;
  if (*p == '-') {
    neg = 1;
    p++;
  }
  while (*p >= '0' && *p <= '9')
    r = r * 10 + (*p++ - '0');
  if (*p == '.') {
    p++;
    while (*p >= '0' && *p <= '9') {
      sc *= 0.1;
      r += (*p++ - '0') * sc;
    }
  }
  return neg ? -r : r;
}
static V *val() {
  ws();
  V *v;
  switch (*p) {
  case '{':
    v = mk(5);
    p++;
    ws();
    while (*p != '}') {
      ws();
      char *k = str();
      ws();
      p++;
      V *c = val();
      push(v, k, c);
      ws();
      if (*p == ',')
        p++;
      ws();
    }
    p++;
    return v;
  case '[':
    v = mk(4);
    p++;
    ws();
    while (*p != ']') {
      V *c = val();
      push(v, 0, c);
      ws();
      if (*p == ',')
        p++;
      ws();
    }
    p++;
    return v;
  case '"':
    v = mk(3);
    v->s = str();
    return v;
  case 't':
    p += 4;
    return mk(1);
  case 'f':
    p += 5;
    return mk(2);
  case 'n':
    p += 4;
    return mk(0);
  default:
    v = mk(6);
    v->n = num();
    return v;
  }
}
static void fr(V *v) {
  for (int i = 0; i < v->nc; i++) {
    fr(v->c[i]);
    free(v->k[i]);
  }
  free(v->c);
  free(v->k);
  free(v->s);
  free(v);
}
static uint32_t hash(V *v) {
  uint32_t h = v->t * 31;
  if (v->s)
    for (char *s = v->s; *s; s++)
      h = h * 33 ^ (uint8_t)*s;
  h += (int)v->n;
  for (int i = 0; i < v->nc; i++) {
    if (v->k[i])
      h += strlen(v->k[i]);
    h = h * 17 + hash(v->c[i]);
  }
  return h;
}
static char buf[200000];
static char *app(char *q, const char *s) {
  while (*s)
    *q++ = *s++;
  return q;
}
static char *appn(char *q, uint32_t n) {
  char t[12];
  int i = 0;
  do {
    t[i++] = '0' + n % 10;
    n /= 10;
  } while (n);
  while (i)
    *q++ = t[--i];
  return q;
}
__attribute__((export_name("run"))) uint32_t run(uint32_t n) {
  char *q = buf;
  *q++ = '[';
  for (int i = 0; i < 600; i++) {
    if (i)
      *q++ = ',';
    q = app(q, "{\"id\": ");
    q = appn(q, i * 7919);
    q = app(q, ", \"name\": \"user \\\"");
    q = appn(q, i);
    q = app(q, "\\\" abc\", \"tags\": [\"red\", \"green\", true, null, -12.5, 3.14159], \"nested\": {\"a\": {\"b\": "
               "[1,2,3,[4,5]]}, \"ok\": false}}");
  }
  *q++ = ']';
  *q = 0;
  uint32_t h = 0;
  for (uint32_t k = 0; k < n; k++) {
    p = buf;
    V *v = val();
    h = h * 31 + hash(v);
    fr(v);
  }
  return h;
}
