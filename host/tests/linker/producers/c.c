// The core module of a component over plain types, by hand: what wit-bindgen would write, without it.
#include <stddef.h>
#include <stdint.h>

typedef struct { uint8_t *data; uint32_t length; } span;
typedef struct { double x; span name; } point;

static uint8_t heap[1 << 20];
static uint32_t used;

__attribute__((export_name("cabi_realloc"))) void *cabi_realloc(void *old, size_t old_size, size_t align, size_t size) {
  (void)old;
  (void)old_size;
  used = (used + align - 1) & ~(align - 1);
  void *at = heap + used;
  used += size;
  if (used > sizeof heap) __builtin_trap();
  return at;
}

__attribute__((import_module("test:far/far"), import_name("shout"))) void far_shout(uint8_t *data, uint32_t length, span *answer);

__attribute__((export_name("reverse"))) span *reverse(uint8_t *data, uint32_t length) {
  static span answer;
  answer.data = cabi_realloc(0, 0, 1, length);
  answer.length = length;
  for (uint32_t i = 0; i < length; i++) answer.data[i] = data[length - 1 - i];
  return &answer;
}

__attribute__((export_name("cabi_post_reverse"))) void post_reverse(span *answer) { answer->length = 0; }

__attribute__((export_name("shout"))) span *shout(uint8_t *data, uint32_t length) {
  static span answer;
  far_shout(data, length, &answer);
  return &answer;
}

__attribute__((export_name("sum"))) int64_t sum(int32_t *data, uint32_t length) {
  int64_t total = 0;
  for (uint32_t i = 0; i < length; i++) total += data[i];
  return total;
}

__attribute__((export_name("points"))) span *points(point *data, uint32_t length) {
  static span answer;
  for (uint32_t i = 0; i < length; i++) data[i].x *= 2;
  answer.data = (uint8_t *)data;
  answer.length = length;
  return &answer;
}

__attribute__((export_name("divide"))) uint8_t *divide(float a, float b) {
  static union { uint8_t tag; struct { uint32_t tag; float value; } ok; struct { uint32_t tag; span text; } err; } answer;
  if (b != 0) {
    answer.ok.tag = 0;
    answer.ok.value = a / b;
  } else {
    static uint8_t text[] = "by zero";
    answer.err.tag = 1;
    answer.err.text.data = text;
    answer.err.text.length = sizeof text - 1;
  }
  return &answer.tag;
}
