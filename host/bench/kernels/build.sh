#!/bin/sh
# Builds the committed .wasm of every kernel. Needs Debian 12's clang, lld, wasi-libc and libclang-rt-14-dev-wasm32
# (clang 14, wasi-libc of May 2022), and npm for AssemblyScript, which is not a dependency.
set -eu
cd "$(dirname "$0")"
for source in *.c; do
  case "$source" in
    simd.c) features="-msimd128" ;;
    bulk-memory.c) features="-mbulk-memory" ;;
    *) features="" ;;
  esac
  # shellcheck disable=SC2086
  clang --target=wasm32-wasi -O2 $features -mexec-model=reactor -nostartfiles --sysroot=/usr -L/usr/lib/wasm32-wasi \
    -Wl,--no-entry -Wl,--strip-all "$source" -o "${source%.c}.wasm"
  chmod 644 "${source%.c}.wasm"
done
folder="$(mktemp -d)"
cp assemblyscript.as "$folder/kernel.ts"
npm install --silent --no-save --prefix "$folder" assemblyscript@0.28.20
(cd "$folder" && node_modules/.bin/asc kernel.ts -O3 --runtime incremental --outFile kernel.wasm)
cp "$folder/kernel.wasm" assemblyscript.wasm
rm -r "$folder"
