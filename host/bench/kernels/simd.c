#include <stdint.h>
#include <wasm_simd128.h>
static float x[8192], y[8192];
__attribute__((export_name("run"))) uint32_t run(uint32_t n) {
  for (int i = 0; i < 8192; i++) {
    x[i] = i * 0.5f;
    y[i] = i;
  }
  for (uint32_t k = 0; k < n; k++) {
    v128_t a = wasm_f32x4_splat(0.999f);
    for (int i = 0; i < 8192; i += 4) {
      v128_t p = wasm_v128_load(x + i), q = wasm_v128_load(y + i);
      wasm_v128_store(y + i, wasm_f32x4_add(wasm_f32x4_mul(a, q), p));
    }
  }
  return (uint32_t)y[77];
}
