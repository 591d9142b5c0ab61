#include <stdint.h>
#define N 160
static double A[N][N], B[N][N], C[N][N];
__attribute__((export_name("run"))) uint32_t run(uint32_t n) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      A[i][j] = i * 0.5 + j;
      B[i][j] = i - j * 0.25;
    }
  for (uint32_t k = 0; k < n; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        double s = 0;
        for (int l = 0; l < N; l++)
          s += A[i][l] * B[l][j];
        C[i][j] = s;
      }
  return (uint32_t)(int64_t)(C[3][5] + C[N - 1][N - 1]);
}
