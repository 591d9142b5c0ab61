#include <stdint.h>
__attribute__((export_name("run"))) uint32_t run(uint32_t n) {
  uint32_t s = 0;
  for (uint32_t y = 0; y < n; y++)
    for (uint32_t x = 0; x < n; x++) {
      double cr = 2.0 * x / n - 1.5, ci = 2.0 * y / n - 1.0, zr = 0, zi = 0;
      int i = 0;
      for (; i < 100 && zr * zr + zi * zi < 4; i++) {
        double t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = t;
      }
      s += i;
    }
  return s;
}
