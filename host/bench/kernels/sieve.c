#include <stdint.h>
static uint8_t f[500000];
__attribute__((export_name("run"))) uint32_t run(uint32_t n) {
  uint32_t c = 0;
  for (uint32_t k = 0; k < n; k++) {
    for (int i = 0; i < 500000; i++)
      f[i] = 1;
    for (int i = 2; i * i < 500000; i++)
      if (f[i])
        for (int j = i * i; j < 500000; j += i)
          f[j] = 0;
    for (int i = 2; i < 500000; i++)
      c += f[i];
  }
  return c;
}
