#include <stdint.h>
__attribute__((noinline)) uint32_t fib(uint32_t n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((export_name("run"))) uint32_t run(uint32_t n) { return fib(n); }
