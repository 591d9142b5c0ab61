#include <stdint.h>
__attribute__((noinline)) int tak(int x, int y, int z) {
  if (y >= x)
    return z;
  return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y));
}
__attribute__((export_name("run"))) uint32_t run(uint32_t n) {
  uint32_t s = 0;
  for (uint32_t i = 0; i < n; i++)
    s += tak(18 - (i & 1), 12, 6 - (i & 3));
  return s;
}
